"""Paper 003's own scoring."""

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
        places = numbers, positions.view.records["player"]
        scored[places] += 1
        passes = (positions.view.records["public"]["history"][:, :2] == PASS).sum(axis=1)
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


@pytest.mark.parametrize(
    ("figure", "low", "high", "expected"),
    [
        (4, -2.0, -1.0, "agrees"),
        (4, -2.0, 1.0, "undecided"),
        (4, 1.0, 2.0, "differs"),
        (5, 1.0, 2.0, "agrees"),
    ],
)
def test_sentence_agrees_if_all_intervals_are_on_its_side(figure, low, high, expected):
    sentence = next(one for one in authors.SENTENCES if one.figure == figure)
    rows = [{"low": low, "high": high, "means": [10.0, 10.0]} for _ in sentence.pairs]
    assert authors.verdict(sentence, rows) == expected
    assert authors.verdict(sentence, [row | {"quick": True} for row in rows]) == ""


def test_nearly_even_allows_a_twentieth():
    sentence = next(one for one in authors.SENTENCES if one.even)
    assert authors.verdict(sentence, [{"low": -0.4, "high": 0.4, "means": [10.0, 10.0]}]) == "agrees"
    assert authors.verdict(sentence, [{"low": 0.6, "high": 0.9, "means": [10.0, 10.0]}]) == "differs"


def test_scoring_needs_a_checkout(tmp_path):
    with pytest.raises(ValueError, match="name a checkout"):
        authors.measure_scoring(Run(0, True, tmp_path))
