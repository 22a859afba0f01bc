"""Hands and scores printed in the papers or stated by another program; names carry the numbers of our rules.

Paper 000 gives Bicycle's rules with a hand. The Rust crate gin-rummy 0.1.3 (github.com/jdh8/gin-rummy,
tests/round.rs and tests/game.rs), which cites Pagat, states the results of whole hands and games, also under
Bicycle's numbers, which it calls classic. The hands of Bicycle and Pagat come from public summaries that name
bicyclecards.com/how-to-play/gin-rummy and pagat.com/rummy/ginrummy.html as their source; we did not have the
pages themselves. Where only unmelded cards are given, the melds are ours.
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


# --- Bicycle and Pagat, in summaries ------------------------------------------------------------------

GIN = "6D 7D 8D 9D 4S 5S 6S QC QD QH"


@pytest.mark.parametrize(
    ("hand", "deadwood"),
    [
        ("KH AH 2H", 13),
        ("5D 6S 7D", 18),
        ("3H 5H 6H", 14),
        ("5S 5D", 10),
        ("JD JC QH", 30),
        ("8C 9C TC JC QC", 0),
        ("2D 3D 4D 4C 4S", 5),  # the run and the set share 4D: one is a meld
        ("2S 2H 2C 2D 3D 4D 5D QS KS KC", 30),
        ("AS AD 2D 2C 3D 3C 4H 5H 6H 7H", 6),  # may knock
        ("AD AC AS 2D 2S 3S JH QH QC KH", 14),  # must not knock
        (GIN, 0),
        ("2S 2D 2C 3C 4C 4H 4S JD JC JS", 3),  # no gin: 4C is in one meld
    ],
)
def test_rule_4_deadwood_of_the_hands_of_bicycle(hand, deadwood):
    assert melds.deadwood(cards.parse(hand)) == deadwood


def test_rule_6_cards_laid_off_in_bicycle():
    """2S and 8S are laid off, AC and AD are not."""
    knocker = [["2D", "2C", "2H"], ["5S", "6S", "7S"], ["JD", "QD", "KD"]]
    assert melds.layoff(knocker, cards.parse("AC AD 2S 8S")) == 2


@pytest.mark.parametrize(
    ("hand", "defence", "result"),
    [
        (GIN, "AC 2C 3C 4C JC JD JH JS 2D 3S", ("gin", 0, 25)),  # 3S is not laid off
        ("6D 7D 8D 4S 5S 6S QC QD QH AH", "AC 2C 3C 4C KC KD KH KS 4H JS", ("knock", 0, 13)),
        ("6D 7D 8D 4S 5S 6S QC QD QH 4D", "AC 2C 3C KC KH KS 9H TH JH 2S", ("undercut", 1, 12)),
    ],
)
def test_rule_7_points_of_bicycle(hand, defence, result):
    table = drawn(BICYCLE, hand, defence, "8C", "TD")
    assert table.play("knock TD").result == result


def test_rule_7_gin_is_never_undercut_in_pagat():
    table = drawn(BICYCLE, GIN, "AC 2C 3C 4C JC JH JS KC KH KS", "8C", "TD")
    assert table.play("knock TD").result == ("gin", 0, 20)


def test_rule_9_shutout_of_pagat():
    """Gin for 97 points ends the game: 20 for the box and 200 for a game in which the loser has no points."""
    assert totals(replace(BICYCLE, target_score=50), (97, 0), (1, 0)) == [97 + 20 + 200, 0]


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
