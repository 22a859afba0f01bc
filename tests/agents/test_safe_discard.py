"""The bot ``safe-discard``: its use of estimates, on hand-made positions."""

from __future__ import annotations

from itertools import islice

import numpy as np
import pytest
from bot_positions import choices, facing, holding, mask
from hands_in_words import Table, ids, started

from gin_env import PlayerView, agents, cards
from gin_env.agents.safe_discard import deadwood_after_stock_draw, expected_knock_points, sample_hand
from gin_env.estimators.base import Memoryless
from gin_env.game.cards import NUM_CARDS, cards_of, parse
from gin_env.matches.fixed_positions import fixed_views


class Believes(Memoryless):
    """An estimator that is certain of some cards and excludes all others."""

    name = "believes"

    def __init__(self, hand: str) -> None:
        self.held = ids(hand)

    def estimate(self, view: PlayerView) -> np.ndarray:
        estimates = np.zeros((len(view), NUM_CARDS), np.float32)
        estimates[:, self.held] = 1
        return estimates


def test_points_of_a_knock_count_doubling_and_boxes():
    table = holding("2C 3C 4C 6H 7H 8H AD AS AC KS", "QD", upcard="5D")
    game = table.games.state[0]
    hand, estimate = mask("2C 3C 4C 6H 7H 8H AD AS AC QD"), np.full(NUM_CARDS, 0.2, np.float32)

    def points() -> float:
        return expected_knock_points(game["public"], game["private"][0], 0, hand, 10, estimate, np.uint64(1))

    usual = points()
    assert usual % 1 != 0, "the mean over several hands"
    found = choices(table, "safe-discard", estimator="uniform", caution=0, knock=True, knock_above=usual)
    assert {"KS", "knock KS"} <= found, "each decision samples its own hands"
    game["public"]["points_double"] = True
    assert points() == pytest.approx(2 * usual)
    game["public"]["points_double"] = False
    game["public"]["rules"]["immediate_boxes"] = True
    game["public"]["rules"]["box_bonus"] = 1000
    assert -1000 <= points() - usual <= 1000
    assert points() != usual
    game["public"]["shown"][1] = mask("9C TC JC KC KH KD 5D 5S 5H JD")  # the whole hand, with 10 points too
    game["public"]["rules"]["undercut_bonus"] = 40
    assert points() == -1000 - 40
    game["public"]["points_double"] = True
    assert points() == -1000 - 2 * 40, "the box is not doubled"
    game["public"]["rules"]["undercut_on_tie"] = False
    assert points() == 1000


def test_knock_needs_the_stated_points_after_the_lay_offs():
    """The whole hand is known: 9C and 5D are laid off, but 4C is not, since 5C is in the set."""
    table = holding("5C 5H 5S 6C 7C 8C 2D 3D 4D KC", "QD", upcard="3S")
    public = table.games.state["public"]
    public["shown"][0, 1], public["rules"]["undercut_bonus"] = mask("JS QS KS TH JH QH 9C 5D 4C 2S"), 40
    points = (4 + 2) - 10 - 40
    for knock_above, knocks in ((points, True), (points + 0.5, False)):
        found = choices(table, "safe-discard", estimator="uniform", knock=True, knock_above=knock_above)
        assert {text.startswith("knock") for text in found} == {knocks}


@pytest.mark.parametrize("params", [{}, {"draw": True}, {"knock": True, "caution": 0}])
def test_each_decision_uses_the_estimate_of_its_own_view(params):
    """As if all views of a batch were estimated, not only those of decisions that need it."""
    bot, view = agents.make("safe-discard", **params), fixed_views(40)
    assert np.array_equal(bot.act(view), bot.decide(view, bot.estimator.estimate(view)))


def test_repeated_pair_is_avoided_even_if_it_is_safest():
    """Player 0 discarded KD after 7D, and has taken it back; only 7D is no use to this opponent."""
    hand, others = "KD QS JC TH 9C 8S 2H 4C AH 6D", "KC KH QC QH JD JH TS 9S 8D 7S"
    opponent = Believes(cards.format(cards.FULL_DECK & ~mask("7C 7H 7S 7D 6D 8D")))
    for draw, safest in (("draw", True), ("take", False)):
        table = Table(hand, others, "7D", "5H 9D 2C 3C", dealer=1)
        table.play("take", "KD", "take", "KC", "draw", "5H", "draw", "KD", draw)
        found = choices(table, "safe-discard", estimator=opponent, caution=1000)
        assert ("7D" in found) == safest


@pytest.mark.compiled
def test_without_caution_it_plays_like_simple():
    for estimator in ("uniform", "bayes"):
        bot = agents.make("safe-discard", estimator=estimator, caution=0)
        games, simple = started(200, seed=6, episode="game"), agents.make("simple")
        for waiting in islice(games.until_over(), 60):
            view = games.views(waiting)
            actions = simple.act(view)
            assert np.array_equal(bot.act(view), actions)
            games.play(waiting, actions)


def test_card_that_the_opponent_can_meld_is_kept_at_low_cost():
    table = holding("2C 3C 4C 6H 8H TD QD KS 9S 4S", "JC", upcard="AD")
    assert choices(table, "simple") == {"TD", "QD", "KS", "JC"}
    opponent = Believes("QH QC JH JD TH TC")  # melds QD, JC and TD; not KS
    assert choices(table, "safe-discard", estimator=opponent) == {"KS"}
    table = holding("2C 3C 4C 6H 8H 5D QD AS 9S 4S", "2H", upcard="AD")
    assert choices(table, "safe-discard", estimator=Believes("QH QS"), caution=0.9) == {"QD"}, (
        "a queen is 10, a nine is 9"
    )
    assert choices(table, "safe-discard", estimator=Believes("QH QS"), caution=1.1) == {"9S"}


def test_discard_that_ends_the_hand_has_no_risk():
    table = holding("2C 3C 4C 6H 7H 8H AD AS AC KS", "QD", upcard="5D")
    assert choices(table, "simple") == {"knock KS", "knock QD"}
    assert choices(table, "safe-discard", estimator=Believes("KH KD KC")) == {"knock KS", "knock QD"}


def test_draw_compares_the_upcard_with_the_mean_of_the_stock():
    """An ace in exchange for a king is better than the mean of the stock; Simple leaves it."""
    table = facing("2C 3C 4C 6H 8H TD QD KS 9S 4S", "AD")
    assert choices(table, "simple") == choices(table, "safe-discard") == {"pass"}
    assert choices(table, "safe-discard", draw=True) == {"take"}
    king = Believes(cards.format(cards.FULL_DECK & ~mask("KD")))  # comes from the stock: 57 points, not 48
    for margin, choice in ((9, "pass"), (8.9, "take")):
        assert choices(table, "safe-discard", estimator=king, draw=True, draw_margin=margin) == {choice}
    meld = facing("2C 3C 4D 6H 8H TD QD KS 9S 4S", "4C")
    assert choices(meld, "safe-discard", draw=True, draw_margin=100) == {"take"}


def test_cards_that_the_opponent_holds_do_not_come_from_the_stock():
    hand, unseen = parse("2C 3C 6H 8H TD QD KS 9S 4S JH"), parse("4C AC KD KC")
    estimate = np.zeros(NUM_CARDS, np.float32)
    even = deadwood_after_stock_draw(hand, unseen, estimate)
    estimate[ids("4C AC")] = 1  # what would have helped
    worse = deadwood_after_stock_draw(hand, unseen, estimate)
    assert worse > even
    assert worse == 2 + 3 + 6 + 8 + 10 + 10 + 10 + 9 + 4 + 10, "another king changes nothing"


@pytest.mark.compiled
def test_knock_considers_the_opponents_possible_lay_offs():
    """With 8 points, an opponent with three melds undercuts; an opponent with face cards does not."""
    table = holding("2C 3C 4C 6H 7H 8H AD AS 2S 4S", "KD", upcard="5C")
    weak, strong = Believes("KC QH JS TC 9S 9D 7S QC KH JD"), Believes("TC TS TH QC QH QS KC KS KH AH")
    assert choices(table, "safe-discard", estimator=strong) == {"knock KD"}, "as Simple"
    assert choices(table, "safe-discard", estimator=weak, knock=True) == {"knock KD"}
    assert choices(table, "safe-discard", estimator=strong, knock=True, caution=0) == {"KD"}
    assert choices(table, "safe-discard", estimator=strong, knock=True, knock_above=-100) == {"knock KD"}
    gin = holding("2C 3C 4C 6H 7H 8H AD AS AC AH", "KD", upcard="5C")
    assert choices(gin, "safe-discard", estimator=strong, knock=True, knock_above=1000) == {"knock KD"}


def test_sampled_hands_follow_the_odds():
    estimate = np.zeros(NUM_CARDS, np.float32)
    unseen = parse("AC 2C 3C 4C 5C 6C")
    estimate[ids("AC 2C 3C 4C 5C 6C")] = (1, 0.75, 0.5, 0.5, 0.25, 0)
    hands = [sample_hand(unseen, 3, estimate, random) for random in range(4000)]
    share = np.array([[hand >> card & 1 for card in ids("AC 2C 3C 4C 5C 6C")] for hand in hands]).mean(axis=0)
    assert all(len(cards_of(int(hand))) == 3 for hand in hands)
    assert share[0] == 1
    assert share[5] == 0
    assert share[1] > share[2] > share[4] > 0
    assert abs(share[2] - share[3]) < 0.05
