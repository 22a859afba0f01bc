"""The luck of draws by rollouts: every card that could have been drawn, the same stock, and a mean of 0."""

import numpy as np
import pytest
from hands_in_words import started

pytest.importorskip("torch")

from gin_env import agents
from gin_env.agents.turns import play_bot
from gin_env.game.rules import Rules
from gin_env.matches import rolled_luck
from gin_env.matches.luck import ROLLED, odds_of
from gin_env.matches.matches import play_match
from gin_env.matches.open_value import packaged_value
from gin_env.matches.rolled_luck import luck_by_rollouts, with_every_card, with_other_stock

SMALL = Rules.parse("ranks=7,hand_size=7")


def draws_of(rules: Rules) -> np.ndarray:
    """Return states after draws from the stock, in hands of `simple` against itself."""
    games, bot, found = started(12, rules, seed=3), agents.make("simple"), []
    for running in games.until_over():
        before = games.state["public"]["stock_left"][running]
        play_bot(games, bot, running)
        drew = games.state["public"]["stock_left"][running] < before
        found.append(games.state[running[drew & ~games.done[running]]])
    return np.concatenate(found)


@pytest.mark.parametrize("rules", [Rules(), SMALL], ids=["challenge", "a small deck"])
def test_each_card_that_could_have_been_drawn_is_drawn_once(rules):
    draws, size = draws_of(rules), rules.deck_size
    states, owner = with_every_card(draws, size)
    assert (states[np.searchsorted(owner, np.arange(len(draws)))] == draws).all()
    for number in range(0, len(draws), 5):
        draw, same = draws[number], states[owner == number]
        mover, left = draw["public"]["to_move"], int(draw["public"]["stock_left"])
        decks, hands = same["hidden"]["deck"], same["private"]["hand"]
        assert (np.sort(decks, axis=1) == np.sort(draw["hidden"]["deck"])).all()
        new = decks[:, size - 1 - left]
        assert sorted(new) == sorted(draw["hidden"]["deck"][size - 1 - left : size])
        kept = hands[0, mover] & ~(np.uint64(1) << np.uint64(new[0]))
        assert (hands[:, mover] == kept | np.uint64(1) << new.astype(np.uint64)).all()
        assert (hands[:, 1 - mover] == hands[0, 1 - mover]).all()
        last = same["private"]["num_stock_draws"][0, mover] - 1
        assert (same["private"]["stock_draws"][:, mover, last] == new).all()


@pytest.mark.parametrize("rules", [Rules(), SMALL], ids=["challenge", "a small deck"])
def test_stock_has_the_same_order_for_all_cards_of_a_draw(rules):
    draws, size = draws_of(rules)[:5], rules.deck_size
    states, owner = with_every_card(draws, size)
    numbers = np.random.default_rng(1).random((len(draws), 52))
    shuffled = with_other_stock(states, numbers[owner], size)
    for state, before, index in zip(shuffled, states, owner, strict=True):
        first = size - int(state["public"]["stock_left"])
        deck, old = state["hidden"]["deck"], before["hidden"]["deck"]
        assert (deck[:first] == old[:first]).all()
        assert (deck[size:] == old[size:]).all()
        assert set(deck[first:size]) == set(old[first:size])
        assert (np.diff(numbers[index][deck[first:size]]) > 0).all()


@pytest.mark.compiled
def test_luck_of_all_cards_that_could_have_been_drawn_adds_up_to_0():
    """Whatever card was drawn, the others are the same, and so are the orders of the stock."""
    odds = odds_of(packaged_value(), Rules(), whole_game=True)
    all_cards, _ = with_every_card(draws_of(Rules())[3:4], 52)
    found = luck_by_rollouts(all_cards, Rules(), odds)
    assert found.shape == (len(all_cards), 2)
    assert (np.abs(found).max(axis=0) > [1, 0.01]).all()
    assert found.sum(axis=0) == pytest.approx(0, abs=1e-6)
    assert np.corrcoef(found.T)[0, 1] > 0.9, "who gains points is more likely to win"
    assert luck_by_rollouts(all_cards[5:7], Rules(), odds) == pytest.approx(found[5:7])


@pytest.mark.compiled
def test_match_with_rollouts_has_the_same_games_and_one_more_measure(monkeypatch):
    monkeypatch.setattr(rolled_luck, "ROLLOUTS", 2)
    plain = play_match("simple", "tonic", 8, seed=5, episode="hand", luck=True)
    rolled = play_match("simple", "tonic", 8, seed=5, episode="hand", luck="rollouts")
    assert rolled == plain
    for unit in ("points", "wins"):
        assert (rolled.luck[unit][:, : ROLLED.start] == plain.luck[unit][:, : ROLLED.start]).all()
        assert not plain.luck[unit][:, ROLLED].any()
        assert (rolled.luck[unit][:, ROLLED] != 0).any(axis=0).all(), "of both bots' draws"
    swapped = rolled.swapped().luck["points"][:, ROLLED]
    assert (swapped == -rolled.luck["points"][:, ROLLED][:, ::-1]).all()


@pytest.mark.compiled
def test_slow_bots_have_rollouts_by_default(monkeypatch):
    monkeypatch.setattr(rolled_luck, "ROLLOUTS", 1)
    bot = agents.make("simple")
    bot.slow = True
    assert play_match(bot, "tonic", 4, seed=5, episode="hand").luck["points"][:, ROLLED].any()
    assert play_match(bot, "tonic", 4, seed=5, episode="hand", luck=False).luck is None
    with pytest.raises(ValueError, match="luck must be True, False or 'rollouts', not 'rollout'"):
        play_match("simple", "tonic", 2, luck="rollout")
