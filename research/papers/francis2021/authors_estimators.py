"""Paper 003 scored as its authors scored it, with their networks from a checkout of their repository.

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

import math
import tomllib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
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
from gin_env.game.state import DRAW
from gin_env.observations.views import PlayerView
from gin_env.training.estimators.metrics import METRICS, measure
from gin_env.training.estimators.positions import HANDS_PER_BATCH, Positions
from research.papers.francis2021.authors_files import (
    CNN,
    DENSE,
    REPOSITORY_003,
    AuthorsDense,
    authors_cnn,
    read_keras,
)
from research.reproduce.experiment import Run, ratio_row
from research.reproduce.tables import Over, Row
from research.reproduce.verdicts import marked

GAMES_WATCHED = 10_000
"""Number of games of Simple that the paper's Bayes watched."""
HANDS_WATCHED = 103_000
"""About the number of hands in these games."""
HANDS = 50_000
"""Number of hands in the comparison, as in the paper."""
SCORED = ("squared_difference", "integrity_loss", "minimum_top_largest", "top_cards", "drift_area")
RANGES = ((1, 3), (4, 9), (10, 12), (13, 16), (17, 24), (25, 28), (29, 99))
"""First and last turn of the stages that the paper's sentences name."""
EVEN = 0.05
"""Largest relative difference of two estimators that are nearly even."""


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
            public = view.records["public"]
            own = np.flatnonzero((public["to_move"] != view.records["player"]) & (public["upcard"] >= 0))
            suits = np.array([0, 1, 2, 3, 0, 1, 2, 0, 3, 1, 2, 0, 1, 3, 2, 0, 1])
            rows, ranks = np.divmod(public["upcard"][own].astype(np.int64), 13)
            for row, suit in enumerate(suits):
                here = own[rows == suit]
                images[here, 0, row, ranks[rows == suit]] = UNKNOWN
        return predict(lambda batch: self.network(batch).sigmoid(), images)


def with_known(estimates: np.ndarray, view: PlayerView) -> np.ndarray:
    """Return estimates with the cards whose place is known at 0 and 1."""
    held, unseen, _ = known_cards(view)
    return np.where(unseen, estimates, held).astype(np.float32)


# --- The comparison --------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Scoring:
    """Three estimators that are compared with each other, by their names among the measured ones."""

    title: str
    network: str
    bayes: str
    cnn: str


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
SCORINGS = tuple(Scoring(**one) for one in _DATA["scorings"])


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
        games.start(
            games.everyone, np.full(size, seed, np.uint64), np.arange(first, first + size, dtype=np.uint64)
        )
        running = games.everyone
        while len(running):
            actions = np.asarray(bot.act(games.views(running)), np.int64)
            knocks = (actions >= NUM_CARDS) & (actions < 2 * NUM_CARDS)
            discards = actions < 2 * NUM_CARDS
            games.play(running, np.where(knocks, actions - NUM_CARDS, actions))
            public = games.state["public"][running]
            scored = discards & ~games.done[running] & (public["phase"] == DRAW) & (public["turn"] > 0)
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
        course = replace(
            COURSES[name],
            rounds=rounds,
            hands=watched // rounds,
            validation_hands=run.size(1000, 50),
            share=share,
            all_cards=True,
        )
        network = train_network(name, seed=run.seed + 1, course=course)
        run.say(str(network))
        network.save(path)
    return load(name, path)[0]


def measure_scoring(run: Run) -> list[Row]:
    """Measure means by turn, and the differences that the sentences are about, for each scoring."""
    folder = run.checkout(REPOSITORY_003, DENSE)
    networks: list[Estimator] = [
        RawDense("their nn", AuthorsDense(read_keras(folder / DENSE))),
        RawCnn("their cnn", authors_cnn(read_keras(folder / CNN)), authors=True),
        RawDense("our nn", trained(run, "nn", 0.3)),
        RawCnn("our cnn", trained(run, "shankar-cnn", 0.1)),
    ]
    bayes = ["bayes:likelihood=paper", "bayes"]
    run.estimators += bayes
    run.used("simple")
    members = [*networks, *(estimators.make(name) for name in bayes)]
    names = [*(one.name for one in members), *(f"{one.name}, known" for one in networks)]
    hands = run.size(HANDS, 200)
    sums = np.zeros((hands, len(RANGES), len(names), len(SCORED)), np.float32)
    counts = np.zeros((hands, len(RANGES)))
    by_turn = np.zeros((64, len(names), len(SCORED)))
    samples = np.zeros(64, np.int64)
    columns = [list(METRICS).index(metric) for metric in SCORED]
    memories = [member.new_memory(2 * HANDS_PER_BATCH) for member in members]
    starts = np.array([first for first, _ in RANGES])
    for positions, numbers, turns in completed_turns(hands, run.seed):
        slots = 2 * (numbers % HANDS_PER_BATCH) + positions.view.records["player"]
        each = [
            advance_slots(member, positions.view, positions.hands, memory, slots)
            for member, memory in zip(members, memories, strict=True)
        ]
        each += [with_known(estimates, positions.view) for estimates in each[: len(networks)]]
        stages = np.searchsorted(starts, turns, side="right") - 1
        np.add.at(counts, (numbers, stages), 1)
        np.add.at(samples, turns, 1)
        for number, estimates in enumerate(each):
            values = measure(estimates, positions)[:, columns]
            values[:, 0] = np.sqrt(NUM_CARDS * values[:, 0]) / NUM_CARDS  # as HandEstimationEvaluation.java
            np.add.at(sums[:, :, number], (numbers, stages), values)
            np.add.at(by_turn[:, number], turns, values)
    rows: list[Row] = [
        {"of": "turns", "estimator": name, "turn": turn, "samples": int(samples[turn])}
        | dict(zip(SCORED, (by_turn[turn, number] / samples[turn]).round(5).tolist(), strict=True))
        for number, name in enumerate(names)
        for turn in np.flatnonzero(samples).tolist()
    ]
    for scoring in SCORINGS:
        for sentence in SENTENCES:
            inside = [
                stage
                for stage, (first, last) in enumerate(RANGES)
                if sentence.turns[0] <= first and last <= sentence.turns[1]
            ]
            mine = sums[..., SCORED.index(sentence.metric)][:, inside].sum(axis=1, dtype=float)
            number = counts[:, inside].sum(axis=1)
            if not number.any():
                continue  # a quick run has no long hands
            for better, worse in sentence.pairs:
                places = [names.index(getattr(scoring, one)) for one in (better, worse)]
                shares = mine[:, places[0]] - mine[:, places[1]]
                means = [float(mine[:, place].sum() / number.sum()) for place in places]
                rows.append(
                    {
                        "of": "differences", "scoring": scoring.title, "figure": sentence.figure,
                        "sentence": sentence.text, "better": better, "worse": worse,
                        "samples": int(number.sum()), "means": [round(mean, 5) for mean in means],
                    }
                    | ratio_row(shares, number, 5)
                    | ({"quick": True} if run.quick else {})
                )  # fmt: skip
    return rows


def by_turn(rows: Sequence[Row]) -> list[Row]:
    """Return the means after turns with 1,000 samples or more, as the authors scored them and as we do."""
    return [
        row
        | {"scoring": scoring.title, "role": {"network": "dense network", "cnn": "CNN"}.get(role, "Bayes")}
        for scoring in (SCORINGS[0], SCORINGS[-1])
        for role in ("network", "bayes", "cnn")
        for row in rows
        if row.get("estimator") == getattr(scoring, role) and row["samples"] >= 1000
    ]


def verdict(sentence: Sentence, rows: Sequence[Row]) -> str:
    """Return whether the differences of a sentence's pairs agree with it, by their 95 % intervals."""
    if any(row.get("quick") for row in rows):
        return ""
    verdicts = set()
    for row in rows:
        low, high = row["low"], row["high"]
        if sentence.metric == "top_cards":  # the more, the better
            low, high = -high, -low
        margin = EVEN * abs(row["means"][1])
        least, most = (-margin, margin) if sentence.even else (-math.inf, 0)
        agrees, differs = least < low and high < most, high < least or low > most
        verdicts.add("agrees" if agrees else "differs" if differs else "undecided")
    return next(word for word in ("differs", "undecided", "agrees") if word in verdicts)


def _verdict_of_pairs(pairs: list[Row]) -> str:
    sentences = {(one.figure, one.text): one for one in SENTENCES}
    return marked(verdict(sentences[pairs[0]["figure"], pairs[0]["sentence"]], pairs))


verdict_of_pairs = Over(_verdict_of_pairs)
