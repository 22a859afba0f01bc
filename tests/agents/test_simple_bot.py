"""The Simple player's documented behaviour, on hand-made positions."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
from hands_in_words import Table, action_text, started

from gin_env import agents, cards, melds
from gin_env.game.actions import DRAW_STOCK, DRAW_UPCARD, KNOCK
from gin_env.game.cards import nth_card, pick_card
from gin_env.game.rules import Rules

DREARY = "KD QS JC TH 9C 8S 2H 4C AH 6D"
DULL = "KC QH JS 9D 8H 7S 6C 5H 4D 3H"
# 2C 3C 4C, 7H 8H 9H, JS QS KS and a five: deadwood 5.
ALL_BUT_A_FIVE = "2C 3C 4C 7H 8H 9H JS QS KS 5D"


def decision(table: Table, randoms: list[int] | None = None, **params) -> str | Counter[str]:
    """Return Simple's decision in words or, with random numbers, the number of times for each decision."""
    views = table.games.views(np.zeros(len(randoms or [0]), np.int64))
    if randoms:
        views.array["random"] = randoms
    texts = [action_text(int(number)) for number in agents.make("simple", **params).act(views)]
    return Counter(texts) if randoms else texts[0]


def many_randoms(count: int = 3000) -> list[int]:
    return np.random.default_rng(3).integers(0, 2**64, count, dtype=np.uint64).tolist()


@pytest.mark.parametrize(
    ("upcard", "takes"),
    [
        ("5C", True),  # extends 2C 3C 4C
        ("AC", True),
        ("6H", True),
        ("9S", False),
        ("TS", True),
        ("AS", False),  # no run from king to ace
        ("6C", False),  # no meld, although it would connect later
        ("5H", False),  # a pair of fives is not a meld
        ("4H", False),  # saves a point, but completes nothing
    ],
)
@pytest.mark.parametrize("phase", ["offer", "draw"])
def test_takes_only_an_upcard_that_completes_or_extends_a_meld(upcard, takes, phase):
    if phase == "offer":
        table = Table(ALL_BUT_A_FIVE, DREARY_WITHOUT_UPCARDS, upcard=upcard)
        assert decision(table) == ("take" if takes else "pass")
    else:
        table = Table(DREARY_WITHOUT_UPCARDS, ALL_BUT_A_FIVE, upcard="QD", stock=upcard)
        table.play("pass", "pass", "draw", upcard)
        assert decision(table) == ("take" if takes else "draw")


DREARY_WITHOUT_UPCARDS = "KD QH JC TH 9C 8S 2H 7D AH 6D"


def test_discards_are_uniform_over_least_deadwood():
    table = Table(DULL, DREARY, upcard="7D", stock="QC").play("pass", "pass", "draw")
    found = decision(table, many_randoms())
    assert set(found) == {"KC", "QH", "QC", "JS"}, "four cards of ten points"
    assert min(found.values()) > 0.9 * 3000 / 4
    assert max(found.values()) < 1.1 * 3000 / 4


def test_least_deadwood_decides_not_the_highest_card():
    # The kings are a set: the highest card outside it goes, the nine.
    table = Table("KC KH KS 9D 8H 2S 6C 5H 4D 3S", "QS JC TH 9C 8S 2H 4C AH 6D 7D", upcard="TD", stock="AD")
    table.play("pass", "pass", "draw")
    assert set(decision(table, many_randoms(200))) == {"9D"}


def test_card_just_taken_is_never_discarded():
    # A ten is worth as much as the king, and thrown again by half of all random numbers were it allowed.
    table = Table("8H KH 2C 3C AD AS 5S 5D 6S 7C", DREARY_WITH_KINGS, upcard="TH").play("take")
    assert set(decision(table, many_randoms(200))) == {"KH"}


DREARY_WITH_KINGS = "KD QS JC TC 9C 8S 2H 4C AH 6D"


def test_ties_are_broken_by_the_views_random_number():
    table = Table(DULL, DREARY, upcard="7D", stock="QC").play("pass", "pass", "draw")
    numbers = many_randoms(50)
    assert decision(table, numbers) == decision(table, numbers)
    # The number changes with each decision and differs between games.
    games = started(30, seed=0)
    first = games.views(games.everyone).array["random"].tolist()
    games.play(games.everyone, np.full(30, 106))
    second = games.views(games.everyone).array["random"].tolist()
    assert len({*first, *second}) == 60


# --- Never the same pair twice ------------------------------------------------------------------------


def test_repeated_pairs_are_avoided_in_both_orders():
    hand_0 = "7C 7H 7S KS KH KD 2H 3H 4H 5H"
    table = Table(hand_0, "2C JC QC 4S 6S 8S TS AD 3D 5D", upcard="7D", stock="AC 9D")
    table.play("take", "KD")  # player 0's pair: 7D drawn, KD discarded
    table.play("take", "2C", "draw", "AC", "draw", "KD")  # and KD comes back
    assert decision(table) == "take"
    # Now every end of a run and each of the four sevens leaves gin, but 7D would repeat the pair.
    found = decision(table.play("take"), many_randoms(500))
    assert set(found) == {"knock 7C", "knock 7H", "knock 7S", "knock 2H", "knock 5H"}


@pytest.mark.compiled
@pytest.mark.parametrize("knock_at", [10, 0])
def test_no_pair_is_repeated_and_choices_are_as_documented(knock_at):
    bot = agents.make("simple", knock_at=knock_at)
    games = started(150, seed=5)
    pairs: list[list[list[frozenset[int]]]] = [[[], []] for _ in range(150)]
    drawn: dict[int, int] = {}
    kept_from_repeating = 0
    for waiting in games.until_over():
        views = games.views(waiting)
        actions = bot.act(views)
        for game, view, action in zip(waiting.tolist(), views, actions.tolist(), strict=True):
            player = int(view.array["player"][0])
            hand = int(view.hands[0])
            if action in (DRAW_STOCK, DRAW_UPCARD):
                stock = games.state["hidden"]["deck"][game][-int(games.state["public"]["stock_left"][game])]
                drawn[game] = int(stock if action == DRAW_STOCK else view.array["public"]["upcard"][0])
            elif action < DRAW_STOCK:
                legal = np.flatnonzero(view.masks()[0, :52]).tolist()
                left = {card: melds.deadwood(hand & ~(1 << card)) for card in legal}
                fresh = [card for card in legal if frozenset((drawn[game], card)) not in pairs[game][player]]
                kept_from_repeating += len(fresh) < len(legal)
                least = min(left[card] for card in fresh)
                assert action % 52 in fresh
                assert left[action % 52] == least
                assert (action >= KNOCK) == (least <= knock_at), "knocks immediately, and only then"
                pairs[game][player].append(frozenset((drawn[game], action % 52)))
        games.play(waiting, actions)
    if knock_at == 0:
        assert kept_from_repeating > 0, "the rule was never needed in these hands"


# --- Knocking -----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("drawn", "limit", "knock_at", "expected"),
    [
        *(("KD", 10, knock_at, "knock KD") for knock_at in (10, 8, 5)),
        *(("KD", 10, knock_at, "KD") for knock_at in (4, 0)),
        ("KD", 4, 10, "KD"),
        ("5C", 10, 0, "knock 5D"),  # gin
    ],
)
def test_knocks_with_at_most_knock_at_and_the_limit_of_the_rules(drawn, limit, knock_at, expected):
    table = Table(ALL_BUT_A_FIVE, DULL_2, upcard="7D", stock=drawn, rules=Rules(knock_limit=limit))
    assert decision(table.play("pass", "pass", "draw"), knock_at=knock_at) == expected


DULL_2 = "KC QH JD 9D 8S 7S 6C 5H 4D 3H"


# --- Making bots --------------------------------------------------------------------------------------


@pytest.mark.compiled
def test_random_bot_chooses_legal_actions_uniformly():
    table = Table(ALL_BUT_A_FIVE, DULL_2, upcard="7D", stock="5C").play("pass", "pass", "draw")
    views = table.games.views(np.zeros(14_000, np.int64))
    views.array["random"] = many_randoms(14_000)
    found = Counter(action_text(int(number)) for number in agents.make("random").act(views))
    assert set(found) == table.legal
    assert len(found) == 14
    assert min(found.values()) > 850
    assert max(found.values()) < 1150
    offered = Table(ALL_BUT_A_FIVE, DULL_2, upcard="7D", stock="5C QC")
    drawing = Table(ALL_BUT_A_FIVE, DULL_2, "7D", "5C QC").play("pass", "pass", "draw", "5C")
    for table in (offered, drawing):
        views = table.games.views(np.zeros(3000, np.int64))
        views.array["random"] = many_randoms()
        assert (agents.make("random").act(views) == DRAW_UPCARD).mean() == pytest.approx(0.5, abs=0.05)


def test_cards_are_picked_from_a_mask():
    mask = cards.parse("AC 5H KD")
    assert [int(nth_card(mask, number)) for number in range(3)] == cards.cards_of(mask)
    assert {int(pick_card(mask, np.uint64(number))) for number in many_randoms(60)} == set(
        cards.cards_of(mask)
    )
