"""The rows of the experiments on luck: their means, errors and coverage."""

import numpy as np
import pytest

pytest.importorskip("torch")

from gin_env import agents
from gin_env.matches.luck import NUM_SUMMED, NUM_TERMS, Adjusted
from gin_env.matches.matches import play_match
from research.questions import luck, luck_rollouts


def test_error_is_that_of_the_mean_and_short_matches_have_their_own_luck(monkeypatch):
    match = play_match("simple", "random-discard", 40, seed=1, episode="hand", luck=True)
    total = match.luck["points"][:, :NUM_SUMMED].sum(axis=1)
    row = luck.mean_row(match, "challenge")
    assert (row["luck"], row["error"]) == pytest.approx((total.mean(), total.std(ddof=1) / 20**0.5), abs=1e-4)
    short: list[tuple[np.ndarray, ...]] = []
    ends = iter([(-99.0, 99.0), (98.0, 99.0), (-99.0, -98.0), (-99.0, 99.0)])

    def adjusted(*parts: np.ndarray) -> Adjusted:
        short.append(parts)
        return Adjusted(0.0, next(ends), 0.0)

    monkeypatch.setattr(luck, "adjusted_ratio", adjusted)
    assert luck.coverage_row(match, 4)["held"] == 50
    lead = match.deals["points"][:, 0] - match.deals["points"][:, 1]
    for parts, whole in zip(
        zip(*short, strict=True), (lead, match.deals["hands"], match.luck["points"]), strict=True
    ):
        assert np.array_equal(np.concatenate(parts), whole)


@pytest.fixture(scope="module")
def played():
    return luck_rollouts.play_deals((agents.make("simple"), agents.make("simple")), 20, seed=3)


def test_a_bot_has_no_lead_over_itself_and_every_draw_is_found(played):
    lead, network, draws, signs = played
    assert not lead.any(), "both games of a deal are the same with exchanged seats"
    assert network.shape == (20, NUM_TERMS)
    assert np.bincount(signs[:, 0]).sum() == len(draws) > 40
    assert signs[:, 1].sum() * 2 == len(signs), "each draws what the other drew in the other game"


def test_each_card_that_could_have_been_drawn_is_drawn_once(played):
    draws = played[2]
    states, owner = luck_rollouts.with_every_card(draws)
    first = np.searchsorted(owner, np.arange(len(draws)))
    assert (states[first] == draws).all()
    for number in range(0, len(draws), 7):
        draw, same = draws[number], states[owner == number]
        mover, left = draw["public"]["to_move"], int(draw["public"]["stock_left"])
        decks, hands = same["hidden"]["deck"], same["private"]["hand"]
        assert (np.sort(decks, axis=1) == np.arange(52)).all()
        new = decks[:, 51 - left]
        assert sorted(new) == sorted(draw["hidden"]["deck"][51 - left :])
        kept = hands[0, mover] & ~(np.uint64(1) << np.uint64(new[0]))
        assert (hands[:, mover] == kept | np.uint64(1) << new.astype(np.uint64)).all()
        assert (hands[:, 1 - mover] == hands[0, 1 - mover]).all()
        last = same["private"]["num_stock_draws"][0, mover] - 1
        assert (same["private"]["stock_draws"][:, mover, last] == new).all()


def test_stock_has_the_same_order_for_all_cards_of_a_draw(played):
    draws = played[2][:5]
    states, owner = luck_rollouts.with_every_card(draws)
    priorities = np.random.default_rng(1).random((len(draws), 52))
    shuffled = luck_rollouts.with_other_stock(states, priorities[owner])
    for state, before, number in zip(shuffled, states, owner, strict=True):
        left = int(state["public"]["stock_left"])
        deck, stock = state["hidden"]["deck"], state["hidden"]["deck"][52 - left :]
        assert (deck[: 52 - left] == before["hidden"]["deck"][: 52 - left]).all()
        assert set(stock) == set(before["hidden"]["deck"][52 - left :])
        assert (np.diff(priorities[number][stock]) > 0).all()


def test_luck_of_all_cards_that_could_have_been_drawn_adds_up_to_0(played):
    class SameOrder:
        def random(self, shape):
            return np.tile(np.random.default_rng(2).random(52), (shape[0], 1))

    all_cards, _ = luck_rollouts.with_every_card(played[2][3:4])
    found = luck_rollouts._luck_of_draws(all_cards, SameOrder())
    assert found.shape == (len(all_cards), 2)
    assert np.abs(found).max() > 1
    assert found.sum(axis=0) == pytest.approx(0, abs=1e-6)
