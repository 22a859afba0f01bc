"""Beliefs: worlds that agree with a view, sampled by an estimator and the shape of the hand."""

from collections import Counter
from itertools import combinations

import numpy as np
import pytest
from hands_in_words import action, ids, started
from played_positions import SMALL
from positions_of_hands import past_of, positions
from state_invariants import status

from gin_env import belief, cards
from gin_env.agents.search.belief import Belief, Worlds, chances_of_play, mean_and_error
from gin_env.agents.search.dealing import PAST, propose_worlds
from gin_env.agents.search.small_networks import HandShapes, packaged_networks
from gin_env.batch import Games
from gin_env.estimators.public_history import known_cards
from gin_env.game.rules import Rules
from gin_env.observations.views import PlayerView

pytestmark = pytest.mark.compiled


@pytest.mark.parametrize(
    "rules", [Rules(), Rules(opening_offer=False, hand_size=7), SMALL], ids=["10", "7", "small"]
)
@pytest.mark.parametrize("shapes", [None, "policy"])
def test_every_world_agrees_with_the_view(rules, shapes):
    held = Belief("uniform", shapes and HandShapes(packaged_networks()[shapes]))
    for number, view in enumerate(positions(rules, 8)[1]):
        player = int(view.array["player"][0])
        worlds = held.worlds(view, 6, np.random.default_rng(number))
        assert [status(world) for world in worlds] == [[]] * 6
        table = Games(6, rules)
        table.state[:] = worlds
        seen = table.views(table.everyone, player).array
        for part in ("public", "private", "player"):
            assert (seen[part] == view.array[part]).all()


def test_beliefs_do_not_depend_on_hidden_cards():
    held = Belief("uniform", HandShapes(packaged_networks()["simple"]))
    for number, (state, view) in enumerate(zip(*positions(Rules(), 6), strict=True)):
        other = held.worlds(view, 1, np.random.default_rng(99 + number))
        table = Games(2)
        table.state[0], table.state[1] = state, other[0]
        assert (table.state["private"]["hand"][0] != table.state["private"]["hand"][1]).any() or number < 1
        player = int(view.array["player"][0])
        true, dealt_again = (
            held.worlds(table.views(np.array([game]), player), 5, np.random.default_rng(7)) for game in (0, 1)
        )
        assert (true == dealt_again).all()


def test_worlds_are_equal_to_the_last_byte():
    """Bytes between fields are 0, so that hashes and files of worlds are reproducible."""
    for number, view in enumerate(positions(Rules(), 4)[1]):
        first, again, other = (belief.worlds(view, 6, np.random.default_rng(n)) for n in (number, number, 99))
        assert first.tobytes() == again.tobytes() != other.tobytes()


def view_after(moves: str, drawn: str) -> PlayerView:
    """Return the view of the dealer after these moves, with these draws of their own."""
    hand, history = cards.parse("AC 2C 3C 7D 8D 9D JS QS 4H 9C"), [action(move) for move in moves.split()]
    return PlayerView.from_history(
        hand, cards.card_id("5H"), history, ids(drawn), rules=Rules(opening_offer=False)
    )


def test_cards_taken_and_discarded_again_are_never_hidden():
    """The player takes 5H, discards KS, draws, and discards 5H: only KS came from hidden cards."""
    past = past_of(view_after("take KS draw TD draw 5H draw 6S", drawn="TD 6S"))
    assert past["discards"] == 1
    assert past["discard"][0] == cards.card_id("KS")
    assert past["draws_before"][0] == 0
    assert (past["drawn"], past["draws"]) == (3, 1)
    assert past["drawer"][:3].tolist() == [0, 1, 0]
    assert (past["draw_decisions"], past["discard_decisions"]) == (2, 2)
    assert past["missing"] == 10


def test_every_discard_was_dealt_or_drawn_before():
    """In every world, cards discarded before the first draw from the stock were dealt."""
    view = view_after("take KS draw TD draw QC", drawn="TD")
    held, stock = np.empty((3000, 11), np.int8), np.empty((3000, 29), np.int8)
    propose_worlds(past_of(view), 10, np.ones(52), np.uint64(4), held, stock)
    king, queen = (np.argwhere(held == cards.card_id(card))[:, 1] for card in ("KS", "QC"))
    assert len(king) == len(queen) == 3000
    assert king.max() == 9
    assert queen.max() == 10
    # Ten places are left for the queen, the drawn card's among them, and any other card is as likely there.
    assert abs((queen == 10).mean() - 0.1) < 0.02
    for card in set(held.ravel().tolist()) - set(map(cards.card_id, ("KS", "QC"))):
        assert 0.04 < (np.argwhere(held == card)[:, 1] == 10).mean() < 0.17


def test_proposals_follow_the_odds_for_their_number_of_cards():
    """Two of four unseen cards are held, with odds 1, 1, 2 and 4: compare with the products of all pairs."""
    odds = np.ones(52)
    odds[[2, 15]] = 2, 4  # 3C and 3H
    past = np.zeros(1, PAST)
    past["unseen"], past["missing"] = cards.parse("AC 2C 3C 3H"), 2
    held, stock = np.empty((20_000, 2), np.int8), np.empty((20_000, 2), np.int8)
    propose_worlds(past[0], 2, odds, np.uint64(9), held, stock)
    number = {0: 1.0, 1: 1.0, 2: 2.0, 15: 4.0}
    weights = {pair: number[pair[0]] * number[pair[1]] for pair in combinations(number, 2)}
    found = Counter(tuple(sorted(pair)) for pair in held.tolist())
    for pair, weight in weights.items():
        assert found[pair] / 20_000 == pytest.approx(weight / sum(weights.values()), abs=0.012)


def test_no_estimate_is_certain():
    """Ten cards are said to be held for sure, with odds of 19; any of 31 others replaces one with 1 : 999."""
    view = positions(Rules(), 1)[1][0]
    likely = np.flatnonzero(known_cards(view)[1][0])[:10]
    estimate = np.isin(np.arange(52), likely).astype(float)
    worlds = Worlds(Belief("uniform"), view, 1000, np.random.default_rng(1), estimate)
    other = 1 - int(view.array["player"][0])
    view.array["player"] = other  # the caller's own array
    hands = worlds.draw(4)["private"]["hand"][:, other]
    held = [(hand & cards.mask_of(likely.tolist())).bit_count() for hand in hands.tolist()]
    assert held.count(9) / 4000 == pytest.approx(10 * 31 / 999 / 19, abs=0.006)


def test_worlds_come_from_four_times_as_many_by_their_shape():
    """A shape that wants one card, held in 10 of 41 hands: all worlds have it, in different hands."""
    view = positions(Rules(), 1)[1][0]
    card = int(np.flatnonzero(known_cards(view)[1][0])[20])
    held = Belief("uniform", lambda record, stocks: np.where((stocks == card).any(axis=1), -50.0, 0.0))
    worlds, other = Worlds(held, view, 300, np.random.default_rng(2)), 1 - int(view.array["player"][0])
    hands = [set(worlds.draw()["private"]["hand"][:, other].tolist()) for _ in range(2)]
    assert all(hand >> card & 1 for hand in hands[0] | hands[1])
    assert all(len(each) > 250 for each in hands)
    assert len(hands[0] & hands[1]) < 20, "each round has new worlds"


def test_hands_and_orders_of_the_stock_are_equally_common():
    """Of five unseen cards two are held and three in the stock: 60 worlds of a deck of eight."""
    rules = Rules(ranks=4, suits=2, hand_size=2, knock_limit=2, stock_floor=0, opening_offer=False)
    games = started(1, rules, seed=1)
    worlds = Belief("uniform").worlds(games.views(games.everyone), 12_000, np.random.default_rng(1))
    deals = zip(worlds["private"]["hand"].tolist(), worlds["hidden"]["deck"][:, 5:8].tolist(), strict=True)
    found = Counter((*hands, *stock) for hands, stock in deals)
    assert len(found) == 60
    assert 140 < min(found.values()) < max(found.values()) < 270
    keys = worlds["hidden"]["decision_keys"]
    assert len(np.unique(keys)) == keys.size, "players of all worlds break ties independently"


@pytest.mark.parametrize(
    ("estimator", "message"), [("omniscient", "must not see hidden cards"), ("nobody", "unknown estimator")]
)
def test_unusable_estimator_raises(estimator, message):
    with pytest.raises(ValueError, match=message):
        Belief(estimator)


def test_default_belief_is_that_of_an_opponent_like_policy():
    view = positions(Rules(), 2)[1][4]
    named = Belief("suit-equivariant:weights=policy", HandShapes(packaged_networks()["policy"]))
    found, expected = (each.sample(view, 30, np.random.default_rng(1)) for each in (belief, named))
    assert (found == expected).all()
    assert (found.dtype, found.shape) == (np.uint64, (30,))


def test_chances_are_those_up_to_the_target():
    def lose(games: Games) -> None:
        assert len(np.unique(games.state["hidden"]["deck"], axis=0)) == len(games), "each has its own deck"
        games.state["public"]["winner"], games.state["public"]["points"] = 1, 50

    assert len(chances_of_play(Rules(target_score=30), lambda games: None)) == 31
    assert chances_of_play(Rules(), lose)[50, 0] == 0.75, "the points of both players count"
    assert mean_and_error(np.array([1.0, 3.0])) == (2, pytest.approx(1))


def test_invalid_views_raise():
    table = started(2, seed=0)
    over = table.views(np.array([0]))
    over.array["public"]["phase"] = 4
    for wrong in (table.views(table.everyone), over):
        with pytest.raises(ValueError, match="one view of a hand in progress"):
            belief.sample(wrong, 5, np.random.default_rng(1))
    with pytest.raises(ValueError, match="count"):
        belief.sample(table.views(np.array([0])), 0, np.random.default_rng(1))
