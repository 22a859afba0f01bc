"""Exact exploitability in the small deck, and bounds that are evaluated exactly."""

from __future__ import annotations

import numpy as np
import pytest

pytest.importorskip("torch")

from gin_env import agents
from research.questions import small_decks
from research.reproduce.by_id import find
from research.reproduce.experiment import Run
from research.small_games import GameTree, best_response, exploitability
from research.small_games.small_gin import TINY, SmallGin, bot_strategy, decision_states

pytestmark = pytest.mark.compiled


@pytest.fixture(scope="module")
def game():
    return SmallGin(TINY)


@pytest.fixture(scope="module")
def tree(game):
    return GameTree(game)


@pytest.fixture(scope="module")
def states(game):
    return decision_states(game)


def test_a_best_response_wins_the_exact_value(game, tree, states):
    strategy = bot_strategy(game, agents.make("simple"), 4, states)
    responses = {}
    owners = dict(zip(tree.information_sets, tree.player.tolist(), strict=True))
    for player in (0, 1):
        _, response = best_response(tree, strategy, player)
        responses |= {key: row for key, row in response.items() if owners[key] == player}
    assert small_decks.value_against(tree, strategy, responses) == pytest.approx(
        exploitability(tree, strategy)
    )


def test_only_reachable_sets_are_needed(game, tree, states):
    """A response that plays at random wherever the bot never lets it go wins as much."""
    strategy = bot_strategy(game, agents.make("gold-standard"), 1, states)
    reached = small_decks.reachable(tree, strategy, states)
    assert 500 < len(reached) < len(states) / 2
    answer = bot_strategy(game, agents.make("simple"), 1, states)
    part = {key: answer[key] for key in reached}
    whole = small_decks.value_against(tree, strategy, answer)
    assert small_decks.value_against(tree, strategy, part) == pytest.approx(whole)


def test_exact_value_of_a_row_is_the_exploitability_of_its_bot(game, tree, states, tmp_path, monkeypatch):
    """A quick run measures the second and third bot; here they are the same."""
    monkeypatch.setattr(small_decks, "REPEATS", 1)
    monkeypatch.setattr(agents, "quick_names", lambda: ["random", "late-knock", "late-knock"])
    for method in ("train_learner", "search_response"):
        monkeypatch.setattr(small_decks, method, lambda run, bot: agents.make("simple"))
    strategy = bot_strategy(game, agents.make("late-knock"), 1, states)
    for row in small_decks.measure_small_decks(Run(0, True, tmp_path)):
        assert row["exact"] == pytest.approx(exploitability(tree, strategy))
        assert row["ppo"] == row["search"] < row["exact"]


def test_repeats_turn_ties_into_chances(game, states):
    pure = bot_strategy(game, agents.make("simple"), 1, states)
    mixed = bot_strategy(game, agents.make("simple"), 16, states)
    assert all(sorted(set(row)) in ([0.0, 1.0], [1.0]) for row in pure.values())
    assert any(0 < row.max() < 1 for row in mixed.values())
    assert np.allclose([row.sum() for row in mixed.values()], 1)


def test_table_has_shares_of_the_exact_value():
    rows = [{"bot": "a", "exact": 2.0, "ppo": 1.5, "search": 1.0}, {"bot": "b", "exact": 1.0, "ppo": 0.5}]
    assert find("small-decks").table(rows).splitlines()[2:] == [
        "| `b` | 1.000 | 0.500 (50 %) |  |",
        "| `a` | 2.000 | 1.500 (75 %) | 1.000 (50 %) |",
    ]
