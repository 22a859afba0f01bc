"""An opponent that changes style, and the adaptive ensemble with its memory."""

from __future__ import annotations

import numpy as np
import pytest

from gin_env import agents, estimators
from gin_env.batch import Games
from gin_env.estimators.base import advance_slots
from gin_env.game.rules import Rules
from gin_env.matches.matches import play_match
from research.papers.francis2021 import adaptive

pytestmark = pytest.mark.compiled


def first_views(games: int = 12):
    """Return views of the players to move in `count` games, and the opponents' hands as masks."""
    table = Games(games)
    numbers = np.arange(games, dtype=np.uint64)
    table.start(table.everyone, numbers, numbers)
    view = table.views(table.everyone)
    return view, table.state["private"]["hand"][table.everyone, 1 - table.to_move()]


def test_bot_changes_style_after_a_number_of_hands():
    bot = adaptive.StyleChangingBot("simple", "simple:knock_at=0", 3)
    assert bot.name == "simple, then simple:knock_at=0"
    table = Games(40)
    numbers = np.arange(40, dtype=np.uint64)
    table.start(table.everyone, numbers, numbers)
    first, then = agents.make("simple"), agents.make("simple:knock_at=0")
    differ = 0
    for _ in range(60):
        view = table.views(table.everyone[~table.done])
        late = np.arange(len(view)) % 2 == 1
        view.array["public"]["hand_number"] = np.where(late, 3, 2)
        expected = np.where(late, then.act(view), first.act(view))
        assert np.array_equal(bot.act(view), expected)
        differ += (then.act(view) != first.act(view)).sum()
        table.play(table.everyone[~table.done], first.act(view))
    assert differ > 0


def test_long_games_equal_those_of_a_match():
    """A player that does not learn plays like `safe-discard`, with the decks and seats of `play_match`."""
    played = adaptive.play_long_games(
        estimators.make("bayes"), False, agents.make("simple"), 40, 8, Rules(), 2
    )
    match = play_match("safe-discard:estimator=bayes", "simple", 40, 8)
    assert played["wins"] == match.deals["wins"][:, 0].tolist()
    assert played["decided"] == match.deals["wins"].sum(axis=1).tolist()
    assert all(count > 0 for _, count in played["losses"])


def test_memory_changes_only_adaptive_estimators():
    opponent = agents.make("simple")
    for made_of, same in (("bayes", True), (("bayes", "uniform"), False)):
        with_memory, without = (
            adaptive.play_long_games(
                adaptive.make_estimator(made_of, learns), learns, opponent, 4, 8, Rules(), 2
            )["losses"]
            for learns in (True, False)
        )
        assert np.allclose(with_memory, without, rtol=1e-5) == same


def test_losses_cover_unknown_cards_at_discards():
    view, hands = first_views()
    losses = np.zeros((2, 2))
    right = estimators.make("omniscient").estimate_hands(hands)
    adaptive.add_losses(view, right, hands, 5, losses)
    assert not losses.any()  # nobody discards yet
    view.array["public"]["phase"] = 3
    view.array["public"]["hand_number"][:3] = 5
    adaptive.add_losses(view, right, hands, 5, losses)
    assert losses.tolist() == [[0, 9 * 41], [0, 3 * 41]]  # ten own cards and the upcard are known
    adaptive.add_losses(view, np.full_like(right, 0.5), hands, 5, losses)
    assert losses[:, 0] == pytest.approx([9 * 41 * np.log(2), 3 * 41 * np.log(2)])


def test_gain_of_a_memory_is_over_the_same_player_without():
    played = {
        "x, no memory": {"wins": [1, 0, 1, 1] * 10, "decided": [2] * 40, "losses": [[2.0, 4], [1.0, 4]]},
        "x, memory": {"wins": [1, 1, 1, 2] * 10, "decided": [2] * 40, "losses": [[2.0, 4], [0.0, 0]]},
    }
    alone, row = (adaptive.adaptive_row(label, "simple", played) for label in played)
    assert "more" not in alone
    assert (alone["won"], row["won"], row["more"]) == (37.5, 62.5, 25.0)
    assert row["more_low"] > 0
    assert (alone["deals"], row["deals"]) == ([10, 30, 0], [0, 30, 10])
    assert row["more_deals"] == [0, 0, 0, 10, 20, 0, 0, 10, 0]
    assert (row["log_loss_before"], row["log_loss_after"]) == (0.5, None)


def test_games_with_different_evidence_have_separate_mixtures():
    """exp(-1000) is 0: weights are scaled by the largest of each game, not of the batch."""
    estimator = estimators.make("ensemble:switching=adaptive,members=bayes+uniform")
    view, _ = first_views(2)
    memory = estimator.new_memory(2)
    memory["scores"] = [[-1000.0, -1001.0], [0.0, 1.0]]
    estimates = estimator.advance(view, memory)
    assert np.isfinite(estimates).all()
    for game in range(2):
        alone = memory[game : game + 1].copy()
        assert np.array_equal(estimator.advance(view[[game]], alone)[0], estimates[game])


def test_members_are_scored_by_the_chance_that_they_gave_to_the_drawn_card():
    estimator = estimators.make("ensemble:switching=adaptive,members=bayes+logistic,rate=0.5")
    games, bot = Games(8), agents.make("simple")
    games.start(seed=1)
    memory, scored, skipped = estimator.new_memory(8), 0, 0
    for step in range(26):
        view, before = games.views(games.everyone, 0), memory.copy()
        if step not in range(9, 18):  # of two cards drawn while it does not look, none is scored
            estimator.advance(view, memory)
        private, draws = view.array["private"], memory["draws"] - before["draws"]
        learned = (before["first_hand"] != 0) & (draws == 1)
        skipped += int((draws > 1).sum())
        assert (memory["scores"] == before["scores"])[~learned].all()
        for game in np.flatnonzero(learned):
            drawn = private["stock_draws"][game, private["num_stock_draws"][game] - 1]
            elsewhere = 1 - before["estimates"][game].astype(float)
            chances = (elsewhere[:, drawn] / elsewhere[:, before["unseen"][game]].sum(axis=1)) ** 0.5
            assert memory["scores"][game] - before["scores"][game] == pytest.approx(np.log(chances), rel=1e-4)
            scored += 1
        running = games.everyone[~games.done]
        games.play(running, bot.act(games.views(running)))
    assert min(scored, skipped) > 5


def test_memory_in_slots_learns_like_a_separate_memory():
    """Environments keep one memory for all seats and advance some of its slots at a time."""
    estimator = estimators.make("ensemble:switching=adaptive,members=bayes+logistic")
    games, bot = Games(3), agents.make("simple")
    games.start(games.everyone, np.zeros(3, np.uint64), games.everyone.astype(np.uint64))
    whole, own = estimator.new_memory(8), estimator.new_memory(3)
    slots = np.array([6, 1, 4])
    for _ in range(30):
        views = games.views(games.everyone, 0)
        estimates = advance_slots(estimator, views, np.zeros(3, np.uint64), whole, slots)
        assert np.array_equal(estimates, estimator.advance(views, own))
        running = games.everyone[~games.done]
        games.play(running, bot.act(games.views(running)))
    assert own["scores"].any()
    assert np.array_equal(whole["scores"][slots], own["scores"])
    assert not whole["scores"][[0, 2, 3, 5, 7]].any()
