"""Hands and scores printed in the papers or stated by another program; names carry the numbers of our rules.

The texts of Bicycle and Pagat are not reproduced here. Paper 000 gives Bicycle's rules with a hand; the Rust
crate gin-rummy 0.1.3 (github.com/jdh8/gin-rummy, tests/round.rs and tests/game.rs), which cites Pagat, states
the results of whole hands and games, also under Bicycle's numbers, which it calls classic.
"""

from __future__ import annotations

from dataclasses import replace

import pytest
from hands_in_words import Table

from gin_env import Rules, cards, melds
from gin_env.batch import Games
from gin_env.game.actions import IllegalActionError
from gin_env.game.engine import final_score
from gin_env.game.hands import meld_completions

BICYCLE = Rules.preset("bicycle")
PALACE = Rules.preset("palace")
MODERN = Rules(big_gin_bonus=31, box_bonus=25, game_bonus=100, shutout_doubles=True, next_dealer="winner")
"""The default rules of the crate."""

# Hands of the crate, which writes them as suits CDHS: A23.456.789.T is THREE_RUNS with TS.
THREE_RUNS = "AC 2C 3C 4D 5D 6D 7H 8H 9H"
THREE_SETS = "JC QC KC JD QD KD JH QH KH TS"
LAYS_OFF = "4C 5C 8D 9D JD JH QH KH 2S 3S"
ONE_SHORT = "AC 2C 3C 4C 5D 6D 7D 9H TH JH"
NO_MELD = "7C 8C 8D 9D JD QH KH 2S 3S 5S"


def drawn(rules: Rules, hand: str, defence: str, upcard: str, stock: str) -> Table:
    """Return a hand in which both have passed and the first player has drawn from the stock."""
    return Table(hand, defence, upcard, stock, rules=rules).play("pass", "pass", "draw")


# --- Papers -------------------------------------------------------------------------------------------


def test_rule_4_deadwood_of_the_hand_in_paper_000():
    """Its Rules, as described by Bicycle: three fives and TC to KC are melded, AH, 9H and KD are not."""
    hand = cards.parse("AH 5H 5C 5D 9H TC JC QC KC KD")
    assert melds.deadwood(hand) == 20
    assert sorted(len(meld) for meld in melds.best_melds(hand)) == [3, 4]


@pytest.mark.parametrize(
    "meld",
    ["8H 8C 8D", "2H 3H 4H", "3C 3H 3S", "KC KH KS KD", "5C 6C 7C", "9H TH JH QH KH"],
)
def test_rule_4_melds_of_papers_000_and_003_have_no_deadwood(meld):
    assert melds.deadwood(cards.parse(meld)) == 0


def test_rule_4_triangle_of_paper_002_is_completed_by_four_cards():
    assert cards.format(meld_completions(cards.parse("4H 5H 5S"))) == cards.format(cards.parse("3H 6H 5D 5C"))


@pytest.mark.parametrize(("card", "count"), [("TC", 6), ("KC", 4)])
def test_rule_4_melds_of_three_with_a_card_in_paper_002(card, count):
    """A ten can be used in six ways (89T, 9TJ, TJQ, three sets), a king in four."""
    others = [other for other in range(52) if other != cards.card_id(card)]
    pairs = [(a, b) for a in others for b in others if a < b]
    held = cards.mask_of([cards.card_id(card)])
    assert sum(melds.deadwood(held | cards.mask_of(pair)) == 0 for pair in pairs) == count


# --- The crate gin-rummy, hands -----------------------------------------------------------------------


def test_rule_3_taken_upcard_must_be_kept_in_the_crate():
    table = Table(f"{THREE_RUNS} TS", LAYS_OFF, "JS", rules=MODERN).play("take")
    for text in ("JS", "knock JS"):
        with pytest.raises(IllegalActionError, match="JS was just taken"):
            table.play(text)


def test_rule_6_chained_lay_off_of_the_crate():
    """4C and 5C are laid off on AC 2C 3C; 8D 9D JD 2S 3S remain: 32 against 10."""
    table = Table(f"{THREE_RUNS} TS", LAYS_OFF, "JS", rules=MODERN).play("take", "knock TS")
    assert table.result == ("knock", 0, 22)
    assert table.public["deadwood"].tolist() == [10, 32]


@pytest.mark.parametrize(("tie", "result"), [(True, ("undercut", 1, 25)), (False, ("knock", 0, 0))])
def test_rule_7_tie_of_the_crate(tie, result):
    rules = replace(MODERN, undercut_on_tie=tie)
    table = drawn(rules, f"{THREE_RUNS} JS", THREE_SETS, "2S", "KS QS 4S")
    table.play("KS", "draw", "QS", "draw", "knock 4S")
    assert table.result == result


@pytest.mark.parametrize(
    ("rules", "draw", "discard", "result"),
    [
        (MODERN, "KS", "KS", ("gin", 0, 97)),
        (MODERN, "5C", "AC", ("big gin", 0, 103)),
        (BICYCLE, "5C", "AC", ("gin", 0, 92)),
        (Rules.preset("straight"), "KS", "KS", ("gin", 0, 97)),
    ],
)
def test_rule_7_gin_of_the_crate(rules, draw, discard, result):
    """The defender has no meld: 72 points."""
    table = drawn(rules, ONE_SHORT, NO_MELD, "AS", draw)
    assert table.play(f"knock {discard}").result == result


@pytest.mark.parametrize(
    ("rules", "last", "upcard", "discard", "points"),
    [
        (Rules(oklahoma=True), "3S", "4S", "3S", 6),
        (Rules(oklahoma=True, ace_needs_gin=False), "AS", "AH", "KS", 9),
        (Rules(oklahoma=True), "AS", "AH", "KS", None),
    ],
)
def test_rule_4_oklahoma_hands_of_the_crate(rules, last, upcard, discard, points):
    table = Table(f"{THREE_RUNS} {last}", THREE_SETS, upcard, "KS", rules=rules)
    table.play(*(("take",) if upcard == "4S" else ("pass", "pass", "draw")))
    if points is None:
        with pytest.raises(IllegalActionError, match="deadwood would be 1, the limit is 0"):
            table.play(f"knock {discard}")
    else:
        assert "AC" not in table.knocks  # 12 points
        assert table.play(f"knock {discard}").result == ("knock", 0, points)


def test_rule_5_dead_hand_of_the_crate():
    table = Table(f"{THREE_RUNS} JS", THREE_SETS, "2S", rules=MODERN).play("pass", "pass")
    while table.phase != "over":
        before = table.hand(int(table.public["to_move"])).split()
        table.play("draw")
        (card,) = set(table.hand(int(table.public["to_move"])).split()) - set(before)
        table.play(card)
    assert table.result == ("void", -1, 0)
    assert table.public["stock_left"] == 2
    assert table.hand(1) == cards.format(cards.parse(THREE_SETS))


# --- The crate gin-rummy, games -----------------------------------------------------------------------


def totals(rules: Rules, scores: tuple[int, int], boxes: tuple[int, int]) -> list[int]:
    games = Games(1, rules, "game")
    games.state["public"]["scores"], games.state["public"]["boxes"] = scores, boxes
    return [int(final_score(games.state[0]["public"], player)) for player in (0, 1)]


@pytest.mark.parametrize(
    ("rules", "scores", "boxes", "expected"),
    [
        (MODERN, (55, 115), (2, 2), [55 + 2 * 25, 115 + 2 * 25 + 100]),
        (MODERN, (100, 0), (2, 0), [(100 + 2 * 25 + 100) * 2, 0]),
        (BICYCLE, (100, 0), (2, 0), [100 + 2 * 20 + 100 + 100, 0]),
        (MODERN, (100, 1), (2, 1), [100 + 2 * 25 + 100, 1 + 25]),
        (PALACE, (100, 0), (5, 0), [100, 0]),
    ],
)
def test_rule_9_totals_of_the_crate(rules, scores, boxes, expected):
    assert totals(rules, scores, boxes) == expected


@pytest.mark.parametrize(("rules", "over"), [(PALACE, True), (MODERN, False)])
def test_rule_9_immediate_boxes_shorten_the_game_as_in_the_crate(rules, over):
    """A knock of 9 points counts 19 in Palace, where boxes count towards the target."""
    table = Table(f"{THREE_RUNS} AS", THREE_SETS, "AH", "KS", rules=rules, episode="game")
    table.public["scores"][0] = 81
    table.play("pass", "pass", "draw", "knock KS")
    assert table.games.done[0] == over
    assert int(table.games.results["points"][0]) == (19 if over else 9)
