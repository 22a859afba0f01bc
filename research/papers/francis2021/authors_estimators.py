"""Francis et al. 2021 scored as its authors scored it, with their networks from a checkout of their
repository.

The program of their comparison (CompareHERatings.java, HandEstimationEvaluation.java) scores both players
after each turn, the knocking turn too. It scores what the networks put out, also for cards whose place the
player knows; only Bayes has known cards at 0 and 1. Its "mean squared difference" is the root of the sum of
squares, divided by 52. A turn's number counts the passes of the opening offer.
`research.papers.francis2021.authors_files` reads their networks.

Their networks learned from all 52 cards, with squared errors. For this comparison ours are trained on as many
games as Bayes (`GAMES_WATCHED`), on all cards. Left out: the turn that uses up the stock. `bayes` stands for
their Bayes as ``bayes:likelihood=paper``, which reads their formula.
"""

from __future__ import annotations

import tomllib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import product
from pathlib import Path
from statistics import NormalDist
from typing import Any

import numpy as np

from gin_env import agents, estimators
from gin_env.batch import Games
from gin_env.estimators.base import Estimator, Memoryless, advance_slots
from gin_env.estimators.neural import NnEstimator
from gin_env.estimators.public_history import first_hands, known_cards
from gin_env.estimators.shankar import UNKNOWN, shankar_images
from gin_env.game.actions import PASS
from gin_env.game.cards import NUM_CARDS, card_columns
from gin_env.observations.views import PlayerView
from gin_env.training.estimators.metrics import METRICS, measure
from gin_env.training.estimators.positions import HANDS_PER_BATCH, Positions, after_turns
from research.papers.francis2021 import authors_files
from research.reproduce.experiment import Run
from research.reproduce.tables import Row, markdown
from research.reproduce.verdicts import marked

BAYES = ("bayes:likelihood=paper", "bayes")
GAMES_WATCHED = 10_000
"""Number of games of Simple that the paper's Bayes watched."""
HANDS_WATCHED = 103_000
"""About the number of hands in these games."""
HANDS = 50_000
"""Number of hands in the comparison, as in the paper."""
SCORED = ("squared_difference", "integrity_loss", "minimum_top_largest", "top_cards", "drift_area")
EVEN = 0.05
"""Largest relative difference of two estimators that are nearly even."""
SAMPLES = 100
"""Number of samples that a turn must have, so that it counts."""
PAIRS = (("network", "bayes"), ("network", "cnn"), ("bayes", "cnn"))
SIGNS = {"network": "N", "cnn": "C", "bayes": "B"}
"""The signs of the estimators in `strips`."""


# --- Estimators without the known cards put in -----------------------------------------------------------


class RawDense(NnEstimator):
    """The outputs of a dense network for all cards; before the first turn 10/42 outside the own hand."""

    def __init__(self, name: str, network: Any) -> None:
        self.name, self.network = name, network

    def advance(self, view: PlayerView, memory: np.ndarray) -> np.ndarray:
        """Return the outputs after the opponents' last turns, float32 (n, 52)."""
        super().advance(view, memory)
        start = np.where(card_columns(first_hands(view)), 0, 10 / 42)
        return np.where(memory["turns"][:, None] > 0, memory["estimate"], start).astype(np.float32)


class RawCnn(Memoryless):
    """The outputs of a CNN over Shankar images for all cards.

    With `authors` the card that the player has just discarded is unknown, as in ShankarArray.java.
    """

    def __init__(self, name: str, network: Any, authors: bool = False) -> None:
        self.name, self.network, self.authors = name, network, authors

    def estimate(self, view: PlayerView) -> np.ndarray:
        """Return the outputs, float32 (n, 52)."""
        from gin_env.estimators.networks import predict

        images = shankar_images(view)
        if self.authors:
            public = view.array["public"]
            own = np.flatnonzero((public["to_move"] != view.array["player"]) & (public["upcard"] >= 0))
            suits = np.array([0, 1, 2, 3, 0, 1, 2, 0, 3, 1, 2, 0, 1, 3, 2, 0, 1])
            rows, ranks = np.divmod(public["upcard"][own].astype(np.int64), 13)
            for row, suit in enumerate(suits):
                here = own[rows == suit]
                images[here, 0, row, ranks[rows == suit]] = UNKNOWN
        return predict(lambda batch: self.network(batch).sigmoid(), images)


# --- The comparison --------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Sentence:
    """A sentence of the paper about a figure: which estimators are ahead of which, in some turns.

    `pairs` are (better, worse) of ``network``, ``bayes`` and ``cnn``; with `even` they are nearly even.
    """

    figure: int
    text: str
    metric: str
    turns: Sequence[int]
    pairs: Sequence[Sequence[str]]
    even: bool = False


_DATA = tomllib.loads(Path(__file__).with_name("sentences.toml").read_text(encoding="utf-8"))
SENTENCES = tuple(Sentence(**one) for one in _DATA["sentences"])
SCORINGS: dict[str, dict[str, str]] = _DATA["scorings"]
"""Title -> names of the estimators to compare, by ``network``, ``bayes`` and ``cnn``."""
THEIR_SCORING, *_, OUR_SCORING = SCORINGS
"""How the authors scored, and how we do."""
COMPARED = tuple(product(SCORINGS, PAIRS))
"""The title of each scoring with each pair of its estimators."""


def completed_turns(hands: int, seed: int) -> Iterator[tuple[Positions, np.ndarray, np.ndarray]]:
    """Play hands of ``simple`` against itself and yield both players' positions after each turn.

    A knock is played as a plain discard, and the hand ends there: the position after the knocking turn.

    Yields
    ------
    positions : Positions of one player.
    numbers : int64 (n,), the number of each position's hand.
    turns : int64 (n,), the number of the turn, with the passes of the opening offer counted.
    """
    bot = agents.make("simple")
    for first in range(0, hands, HANDS_PER_BATCH):
        size = min(HANDS_PER_BATCH, hands - first)
        games = Games(size, episode="hand")
        games.start(seed=seed, episodes=np.arange(first, first + size, dtype=np.uint64))
        running = games.everyone
        while len(running):
            actions = np.asarray(bot.act(games.views(running)), np.int64)
            knocks = (actions >= NUM_CARDS) & (actions < 2 * NUM_CARDS)
            discards = actions < 2 * NUM_CARDS
            games.play(running, np.where(knocks, actions - NUM_CARDS, actions))
            scored = discards & ~games.done[running] & after_turns(games, running)
            now = running[scored]
            passes = (games.state["public"]["history"][now, :2] == PASS).sum(axis=1)
            turns = games.state["public"]["turn"][now].astype(np.int64) + passes
            for player in range(2):
                if len(now):
                    hands_of = games.state["private"]["hand"][now, 1 - player]
                    yield Positions(games.views(now, player), hands_of), first + now, turns
            running = running[~games.done[running] & ~knocks & (scored | ~discards)]


def trained(run: Run, name: str, share: float) -> Any:
    """Return the network of an estimator trained on `HANDS_WATCHED` hands, from the run's folder or new."""
    from gin_env.estimators.networks import load
    from research.recipes.estimators.network_trainer import COURSES, train_network

    path = run.folder / f"{name}.safetensors"
    if not path.exists():
        watched, rounds = run.size(HANDS_WATCHED, 400), run.size(30, 5)
        run.say(f"training {name} on {watched:,} hands")
        course = replace(COURSES[name], rounds=rounds, hands=watched // rounds, share=share, all_cards=True)
        course = replace(course, validation_hands=run.size(1000, 50))
        network = train_network(name, seed=run.seed + 1, course=course)
        run.say(str(network))
        network.save(path)
    return load(name, path)[0]


def measure_scoring(run: Run) -> list[Row]:
    """Measure the means by turn, and the differences of the estimators that the sentences compare."""
    theirs = authors_files
    folder = run.checkout(theirs.REPOSITORY_003, theirs.DENSE)
    networks: list[Estimator] = [
        RawDense("their nn", theirs.AuthorsDense(theirs.read_keras(folder / theirs.DENSE))),
        RawCnn("their cnn", theirs.authors_cnn(theirs.read_keras(folder / theirs.CNN)), authors=True),
        RawDense("our nn", trained(run, "nn", 0.3)),
        RawCnn("our cnn", trained(run, "shankar-cnn", 0.1)),
    ]
    run.estimators += BAYES
    run.used("simple")
    members = [*networks, *(estimators.make(name) for name in BAYES)]
    names = [*(one.name for one in members), *(f"{one.name}, known" for one in networks)]
    compared = np.array([[names.index(SCORINGS[title][role]) for role in pair] for title, pair in COMPARED])
    sums, squares = (np.zeros((64, count, len(SCORED))) for count in (len(names), len(compared)))
    hands = np.zeros(64, np.int64)
    memories = [member.new_memory(2 * HANDS_PER_BATCH) for member in members]
    positions = completed_turns(run.size(HANDS, 200), run.seed)
    for first, second in zip(positions, positions, strict=True):
        # Both players of a turn make one observation, because their hands are of one deal.
        values = (scores(members, memories, *first[:2]) + scores(members, memories, *second[:2])) / 2
        apart = values[compared[:, 0]] - values[compared[:, 1]]
        turns = first[2]
        np.add.at(hands, turns, 1)
        np.add.at(sums, turns, values.swapaxes(0, 1))
        np.add.at(squares, turns, apart.swapaxes(0, 1) ** 2)
    played = np.flatnonzero(hands)
    rows: list[Row] = [
        {"of": "turns", "estimator": name, "turn": int(turn), "samples": 2 * int(hands[turn])}
        | dict(zip(SCORED, (sums[turn, number] / hands[turn]).round(5).tolist(), strict=True))
        for number, name in enumerate(names)
        for turn in played
    ]
    last = int((2 * hands >= (1 if run.quick else SAMPLES)).nonzero()[0].max())
    counted = slice(1, last + 1)
    count = hands[counted, None, None]
    firsts, seconds = (sums[counted][:, each] / count for each in compared.T)
    means = firsts - seconds
    errors = np.sqrt((squares[counted] / count - means**2).clip(0) / (count - 1).clip(1))
    for number, (scoring, pair) in enumerate(COMPARED):
        for column, metric in enumerate(SCORED):
            row: Row = {"of": "differences", "scoring": scoring, "metric": metric}
            row |= {"pair": list(pair), "turns": last} | ({"quick": True} if run.quick else {})
            row["means"] = seconds[:, number, column].round(5).tolist()
            row["differences"] = means[:, number, column].round(6).tolist()
            row["standard_errors"] = errors[:, number, column].round(7).tolist()
            rows.append(row)
    return rows


def scores(
    members: Sequence[Estimator], memories: Sequence[np.ndarray], positions: Positions, numbers: np.ndarray
) -> np.ndarray:
    """Return the metrics of the members, and of the networks with known cards put in, (estimators, n, 5)."""
    slots = 2 * (numbers % HANDS_PER_BATCH) + positions.view.array["player"]
    each = [
        advance_slots(member, positions.view, positions.hands, memory, slots)
        for member, memory in zip(members, memories, strict=True)
    ]
    held, unseen, _ = known_cards(positions.view)
    of_networks = each[: len(each) - len(BAYES)]
    each += [np.where(unseen, estimates, held).astype(np.float32) for estimates in of_networks]
    columns = [list(METRICS).index(metric) for metric in SCORED]
    values = np.stack([measure(estimates, positions)[:, columns] for estimates in each]).astype(float)
    values[..., 0] = np.sqrt(NUM_CARDS * values[..., 0]) / NUM_CARDS  # as HandEstimationEvaluation.java
    return values


# --- Means by turn ----------------------------------------------------------------------------------------


def means_by_turn(rows: Sequence[Row]) -> list[Row]:
    """Return the means after turns with 1,000 samples or more, as the authors scored them and as we do."""
    roles = {"network": "dense network", "bayes": "Bayes", "cnn": "CNN"}
    return [
        row | {"scoring": title, "role": text}
        for title in (THEIR_SCORING, OUR_SCORING)
        for role, text in roles.items()
        for row in rows
        if row.get("estimator") == SCORINGS[title][role] and row["samples"] >= 1000
    ]


# --- Verdicts by turn ------------------------------------------------------------------------------------


def leads(rows: Sequence[Row], scoring: str, metric: str, one: str, other: str) -> tuple[np.ndarray, ...]:
    """Return (least, most, scale): by how much `one` is behind `other` in each turn, and the mean of `other`.

    The intervals hold for all turns and pairs of the metric together (Bonferroni, 95 %).
    """
    for row in rows:
        if row.get("scoring") == scoring and row["metric"] == metric and set(row["pair"]) == {one, other}:
            behind, errors = np.array(row["differences"]), np.array(row["standard_errors"])
            sign = (1 if row["pair"][0] == one else -1) * (-1 if metric == "top_cards" else 1)
            half = NormalDist().inv_cdf(1 - 0.025 / (len(PAIRS) * len(errors))) * errors
            return sign * behind - half, sign * behind + half, np.abs(row["means"])
    raise ValueError(f"no row compares {one} with {other} in {metric}, {scoring}")


def by_turn(sentence: Sentence, rows: Sequence[Row], scoring: str) -> tuple[int, int, int]:
    """Return in how many turns a sentence holds, in how many it is contradicted, and the number of turns."""
    holds, fails = [], []
    for better, worse in sentence.pairs:
        least, most, scale = leads(rows, scoring, sentence.metric, better, worse)
        margin = EVEN * scale
        holds.append((most < margin) & (least > -margin) if sentence.even else most < 0)
        fails.append((least > margin) | (most < -margin) if sentence.even else least > 0)
    inside = slice(sentence.turns[0] - 1, sentence.turns[1])
    held, failed = np.all(holds, axis=0)[inside], np.any(fails, axis=0)[inside]
    return int(held.sum()), int(failed.sum()), len(held)


def verdict(sentence: Sentence, rows: Sequence[Row], scoring: str) -> str:
    """Return the verdict and the share of turns: a sentence agrees or differs if most of them do."""
    if any(row.get("quick") for row in rows):
        return ""
    held, failed, turns = by_turn(sentence, rows, scoring)
    word = "agrees" if 2 * held > turns else "differs" if 2 * failed > turns else "undecided"
    return f"{marked(word)} ({held} of {turns})"


def strip(rows: Sequence[Row], scoring: str, metric: str) -> str:
    """Return a sign for each turn: that of the estimator ahead of both others, ``·`` if none surely is."""
    ahead = [
        np.all([leads(rows, scoring, metric, one, other)[1] < 0 for other in SIGNS if other != one], axis=0)
        for one in SIGNS
    ]
    return "".join(np.select(ahead, list(SIGNS.values()), "·"))


def verdicts_table(rows: Sequence[Row]) -> str:
    """Return the tables of the verdicts on all sentences by scoring, and of the leaders by turn."""
    found = [row for row in rows if row["of"] == "differences"]
    lines = [[one.figure, one.text, *(verdict(one, found, title) for title in SCORINGS)] for one in SENTENCES]
    leaders = [
        [figure, metric.replace("_", " "), f"`{strip(found, THEIR_SCORING, metric)}`"]
        for figure, metric in enumerate(SCORED, 2)
    ]
    table_of_leaders = markdown(
        ["figure", "leads", f"{THEIR_SCORING}, turn 1 to {found[0]['turns']}"], leaders
    )
    return f"{table_of_leaders}\n\n{markdown(['figure', 'the paper says', *SCORINGS], lines)}"
