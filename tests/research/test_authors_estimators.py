"""Francis et al. 2021's own scoring."""

from __future__ import annotations

import numpy as np
import pytest

from gin_env import agents
from gin_env.agents.turns import play_bot
from gin_env.batch import Games
from gin_env.game.actions import PASS
from gin_env.game.cards import count_cards
from research.papers.francis2021 import authors_estimators as authors
from research.reproduce.experiment import Run


def test_every_completed_turn_is_scored_for_both_players():
    hands, seed = 40, 5
    scored = np.zeros((hands, 2), np.int64)
    for positions, numbers, turns in authors.completed_turns(hands, seed):
        assert all(count_cards(int(hand)) == 10 for hand in positions.hands)
        places = numbers, positions.view.array["player"]
        scored[places] += 1
        passes = (positions.view.array["public"]["history"][:, :2] == PASS).sum(axis=1)
        assert np.array_equal(turns, scored[places] + passes)
    games = Games(hands, episode="hand")
    games.start(games.everyone, np.full(hands, seed, np.uint64), np.arange(hands, dtype=np.uint64))
    running = games.everyone
    while len(running):
        play_bot(games, agents.make("simple"), running)
        running = running[~games.done[running]]
    knocked = games.results["winner"] >= 0
    assert knocked.mean() > 0.8
    assert (scored[knocked] == games.results["turns"][knocked, None]).all()


SCORING = authors.THEIR_SCORING


def rows_of(metric: str, ahead: dict[str, np.ndarray], error: float = 0.001) -> list[dict]:
    """Return the rows of a metric in which the estimators have these values by turn; low values are good."""
    sign = -1 if metric == "top_cards" else 1
    return [
        {
            "of": "differences", "scoring": SCORING, "metric": metric, "pair": [one, other],
            "turns": len(ahead[one]), "means": ahead[other].tolist(),
            "differences": (sign * (ahead[one] - ahead[other])).tolist(),
            "standard_errors": [error] * len(ahead[one]),
        }
        for one, other in authors.PAIRS
    ]  # fmt: skip


@pytest.mark.parametrize("metric", ["drift_area", "top_cards"])
def test_sentence_agrees_if_it_holds_in_most_of_its_turns(metric):
    sentence = authors.Sentence(6, "", metric, (3, 7), [("cnn", "bayes"), ("cnn", "network")])
    values = {
        "network": np.full(9, 5.0),
        "bayes": np.full(9, 4.0),
        "cnn": np.array([9, 9, 1, 1, 1, 9, 9, 1, 1]),
    }
    assert authors.verdict(sentence, rows_of(metric, values), SCORING) == "✓ agrees (3 of 5)"
    assert authors.strip(rows_of(metric, values), SCORING, metric) == "BBCCCBBCC"
    values["cnn"] = np.array([9, 9, 1, 9, 9, 9, 1, 9, 9])
    assert authors.verdict(sentence, rows_of(metric, values), SCORING) == "✗ differs (2 of 5)"
    rows = rows_of(metric, values, error=5.0)
    assert authors.verdict(sentence, rows, SCORING) == "? undecided (0 of 5)"
    assert authors.strip(rows, SCORING, metric) == "·" * 9
    assert authors.verdict(sentence, [row | {"quick": True} for row in rows], SCORING) == ""


def test_nearly_even_allows_a_twentieth():
    sentence = authors.Sentence(2, "", "drift_area", (1, 3), [("network", "bayes")], even=True)
    values = {"network": np.array([10.4, 10.6, 10.3]), "bayes": np.full(3, 10.0), "cnn": np.full(3, 10.0)}
    assert authors.by_turn(sentence, rows_of("drift_area", values), SCORING) == (2, 1, 3)


def test_intervals_of_turns_hold_together():
    values = {"network": np.zeros(33), "bayes": np.full(33, 3.4), "cnn": np.full(33, 3.6)}
    rows = rows_of("drift_area", values, error=1.0)
    assert not (authors.leads(rows, SCORING, "drift_area", "network", "bayes")[1] < 0).any()
    assert (authors.leads(rows, SCORING, "drift_area", "network", "cnn")[1] < 0).all()


def test_scoring_needs_a_checkout(tmp_path):
    with pytest.raises(ValueError, match="name a checkout"):
        authors.measure_scoring(Run(0, True, tmp_path))


def test_rows_of_scoring_compare_the_named_estimators(monkeypatch, tmp_path):
    """Estimator k scores k^2 times a number of each turn: the mean of those of its two players."""
    numbers = np.array([[3.0, 5, 1, 2, 2, 8], [5.0, 1, 1, 4, 8, 8]])
    turns, hands = np.array([1, 1, 1, 2, 2, 2]), np.arange(6)

    def scores(members, memories, positions, _):
        squares = np.arange(2 * len(members) - len(authors.BAYES)) ** 2
        return squares[:, None, None] * np.repeat(positions[:, None], len(authors.SCORED), axis=1)

    for name in ("read_keras", "AuthorsDense", "authors_cnn"):
        monkeypatch.setattr(authors.authors_files, name, lambda *_: [])
    monkeypatch.setattr(authors, "trained", lambda *_: [])
    monkeypatch.setattr(authors.Run, "checkout", lambda *_: tmp_path)
    monkeypatch.setattr(authors, "scores", scores)
    monkeypatch.setattr(authors, "completed_turns", lambda *_: ((each, hands, turns) for each in numbers))
    rows = authors.measure_scoring(Run(0, True, tmp_path))
    networks = ["their nn", "their cnn", "our nn", "our cnn"]
    factors = {name: k**2 for k, name in enumerate([*networks, *authors.BAYES])}
    factors |= {f"{name}, known": k**2 for k, name in enumerate(networks, 6)}
    each = numbers.mean(axis=0).reshape(2, 3)
    for row in rows:
        if row["of"] == "turns":
            mean = factors[row["estimator"]] * each[row["turn"] - 1].mean()
            assert (row["samples"], row["drift_area"]) == (6, pytest.approx(mean, abs=1e-5))
            continue
        one, other = (factors[authors.SCORINGS[row["scoring"]][role]] for role in row["pair"])
        assert row["means"] == pytest.approx(other * each.mean(axis=1), abs=1e-5)
        assert row["differences"] == pytest.approx((one - other) * each.mean(axis=1), abs=1e-5)
        errors = abs(one - other) * each.std(axis=1, ddof=1) / np.sqrt(3)
        assert row["standard_errors"] == pytest.approx(errors, abs=1e-5)
