"""Recognising bots from the memory of earlier hands."""

from __future__ import annotations

import numpy as np
import pytest
from unplayed_runs import UnplayedRun

from gin_env import agents
from gin_env.batch import Games
from gin_env.observations.memory import LAYOUT, NUM_MEMORY
from research.questions import recognition
from research.reproduce.by_id import find

pytestmark = pytest.mark.compiled


def test_bots_are_recognised_from_differing_memories():
    random = np.random.default_rng(1)
    samples = [random.random((300, 3), np.float32) for _ in range(2)]
    assert 0.35 < recognition.recognised(samples, 1, 10) < 0.65
    samples[1][:, 0] += 2
    assert recognition.recognised(samples, 1, 10) > 0.9
    noise = [random.random((60, 200), np.float32) for _ in range(2)]
    assert recognition.recognised(noise, 1, 100) < 0.8, "held-out samples are not learned by heart"


def test_classifiers_read_all_numbers_or_the_first_ones(monkeypatch, tmp_path):
    """The numbers of each bot are its own, after the hands that the row names."""

    def remembered(bot, games, seed):
        return {hands: np.full((4, NUM_MEMORY), hands) + len(bot) for hands in recognition.HANDS}, len(bot)

    monkeypatch.setattr(recognition, "remembered", remembered)
    monkeypatch.setattr(recognition, "SUBSETS", {"all": NUM_MEMORY, "first": 3})
    asked = []
    monkeypatch.setattr(recognition, "recognised", lambda samples, *_: asked.append(samples) or 0.5)
    rows = recognition.measure_recognition(UnplayedRun(0, tmp_path))
    shares = [row for row in rows if "pool" in row]
    for row, samples in zip(shares, asked, strict=True):
        (pool,) = (pool for pool in recognition.POOLS if len(pool) == row["pool"])
        size = recognition.SUBSETS[row["reads"]]
        assert [sample.shape for sample in samples] == [(4, size)] * len(pool)
        assert [sample[0, 0] for sample in samples] == [row["hands"] + len(bot) for bot in pool]


def test_memories_are_those_of_games_with_more_hands():
    found, num_hands = recognition.remembered("simple:knock_at=0", 20, 1)
    assert list(found) == list(recognition.HANDS)
    assert 4 < num_hands < 10
    for hands, memories in found.items():
        assert 0 < len(memories) <= 20
        assert memories.shape[1] == NUM_MEMORY
        np.testing.assert_allclose(memories[:, LAYOUT["hands"]], hands / 20)
        knocks, gins = (memories[:, LAYOUT[name]] for name in ("knocks", "gins"))
        assert np.array_equal(knocks, gins), "the bot, not the policy, knocks with gin alone"


def test_table_has_a_line_for_each_number_of_hands():
    rows = [{"pool": 3, "hands": hands, "reads": "all", "recognised": 60.0 + hands} for hands in (1, 2)]
    table = find("learning/memory").table([{"bot": "simple", "hands_per_game": 7.0}, *rows])
    assert "| 2 | 62.0 |" in table.splitlines()
    assert "| `simple` | 7.00 |" in table.splitlines()


def test_hidden_memory_is_that_of_a_first_hand():
    games, bot = Games(60, episode="game"), agents.make("policy-memory")
    games.start(seed=3)
    for _ in range(150):
        playing = games.everyone[~games.done]
        games.play(playing, bot.act(games.views(playing)))
    view = games.views(games.everyone[~games.done])
    assert view.memories().any()
    actions = recognition.forgetful().act(view)
    for name in view.array["public"]["memory"].dtype.names:
        view.array["public"]["memory"][name] = 0
    view.array["public"]["hand_number"] = 0
    assert not view.memories().any()
    assert np.array_equal(bot.act(view), actions)


def test_hiding_the_memory_leaves_the_view_as_it_was():
    games = Games(4, episode="game")
    games.start(seed=3)
    view = games.views(games.everyone)
    view.array["public"]["hand_number"] = 2
    recognition.forgetful().act(view)
    assert (view.array["public"]["hand_number"] == 2).all()
