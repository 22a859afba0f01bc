"""Exact exploitability in the small deck, and bounds that are evaluated exactly."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest

pytest.importorskip("torch")

import torch

from gin_env import agents
from research.questions import learner_variants, small_decks
from research.reproduce.by_id import find
from research.reproduce.experiment import Run
from research.small_games import best_response, exploitability
from research.small_games.best_response import local_best_response
from research.small_games.gin_tree import GinTree, bot_vector
from research.small_games.small_gin import TINY

pytestmark = pytest.mark.compiled


@pytest.fixture(scope="module")
def tree():
    return GinTree(TINY)


def test_a_best_response_wins_the_exact_value(tree):
    strategy = bot_vector(tree, agents.make("simple"), 4)
    both = [best_response(tree, strategy, player)[1] for player in (0, 1)]
    response = np.where(tree.sequence_player == 0, *both)
    assert small_decks.value_against(tree, strategy, response) == pytest.approx(
        exploitability(tree, strategy)
    )


def test_only_reachable_sets_are_needed(tree):
    """A response that plays at random wherever the bot never lets it go wins as much."""
    strategy = bot_vector(tree, agents.make("gold-standard"))
    reached = small_decks.reachable(tree, strategy)
    assert 500 < len(reached) < len(tree.records) / 2
    part, whole = (bot_vector(tree, agents.make("simple"), 1, sets) for sets in (reached, None))
    assert small_decks.value_against(tree, strategy, part) == pytest.approx(
        small_decks.value_against(tree, strategy, whole)
    )


def test_local_best_response_looks_one_action_ahead(tree):
    """It wins at least what it continues as, at most the best response, and all of it in the last turn."""
    strategy, afterwards = (bot_vector(tree, agents.make(bot)) for bot in ("heuristics", "defensive"))
    local = local_best_response(tree, strategy, afterwards)
    won = small_decks.value_against(tree, strategy, local)
    assert small_decks.value_against(tree, strategy, afterwards) < won < exploitability(tree, strategy)
    _, best = best_response(tree, strategy, 1)
    last = local_best_response(tree, strategy, best)
    assert small_decks.value_against(tree, strategy, np.where(tree.sequence_player == 1, last, best)) == (
        pytest.approx(small_decks.value_against(tree, strategy, best))
    )


def test_exact_value_of_a_row_is_the_exploitability_of_its_bot(tree, tmp_path, monkeypatch):
    """A quick run measures the second and third bot; here they are the same."""
    monkeypatch.setattr(small_decks, "REPEATS", 1)
    monkeypatch.setattr(agents, "quick_names", lambda: ["random", "late-knock", "late-knock"])
    monkeypatch.setattr(small_decks, "train_learner", lambda run, bot, cards: agents.make("simple"))
    monkeypatch.setattr(small_decks, "BestResponseBot", lambda bot, samples: agents.make("simple"))
    strategy = bot_vector(tree, agents.make("late-knock"))
    for row in small_decks.measure_small_decks(Run(0, True, tmp_path), 8):
        assert row["exact"] == pytest.approx(exploitability(tree, strategy))
        assert row["ppo"] == row["search"] < row["local"] <= row["exact"]


def test_learner_knows_the_deck_and_the_seed_of_the_run(tmp_path, monkeypatch):
    asked = []

    def learn(kind, settings):
        asked.append(settings)
        return SimpleNamespace(network=torch.nn.Identity()), settings.total_timesteps

    monkeypatch.setattr(learner_variants, "learn", learn)
    for seed in (3, 4):
        trained = small_decks.train_learner(Run(seed, True, tmp_path), "simple", TINY)
        assert trained.name == "learner against simple"
    assert [(one.rules, one.bots, one.total_timesteps) for one in asked] == [
        ((TINY.text,), ("simple",), 2000)
    ] * 2
    assert asked[1].seed == asked[0].seed + 1


def test_repeats_turn_ties_into_chances(tree):
    pure, mixed = (bot_vector(tree, agents.make("simple"), repeats) for repeats in (1, 16))
    assert set(pure) == {0.0, 1.0}
    assert ((mixed > 0) & (mixed < 1)).any()
    assert np.allclose(np.add.reduceat(mixed, tree.first_sequence), 1)


def test_table_has_shares_of_the_exact_value():
    rows = [
        {"cards": 9, "bot": "a", "exact": 2.0, "ppo": 1.5, "search": 1.0, "local": 1.9},
        {"cards": 9, "bot": "b", "exact": 1.0, "ppo": 0.5},
    ]
    assert find("ladder/bots-8").table(rows).splitlines()[2:] == [
        "| 9 | `b` | 1.000 | 0.500 (50 %) |  |  |",
        "| 9 | `a` | 2.000 | 1.500 (75 %) | 1.000 (50 %) | 1.900 (95 %) |",
    ]
