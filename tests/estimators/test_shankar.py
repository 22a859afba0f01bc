"""The Plug Rule and the Shankar array that it fills (Francis et al. 2021), on its example and by hand."""

from __future__ import annotations

from hands_in_words import ONE_GAME, Table

from gin_env import cards
from gin_env.estimators import shankar


def rows(text: str) -> list[list[int]]:
    return [[int(value) for value in line.split()] for line in text.strip().splitlines()]


def test_papers_worked_example_is_reproduced():
    """Francis et al. 2021, "The Plug Rule": its four Shankar arrays, rows C H S D."""
    table = Table(
        "AC AS 5D 6C 6S 7S 8S JC QD KS", "8C 2H 3H 4H 9D TD 2C 3C 4C 9S", "KH", "JH 7C 5H", dealer=0
    )

    def array() -> list[list[int]]:
        return shankar.shankar_arrays(table.games.views(ONE_GAME, 0))[0].reshape(4, 13).tolist()

    initial = """
        -2 0 0 0  0 -2  0  0 0 0 -2  0  0
         0 0 0 0  0  0  0  0 0 0  0  0 -1
        -2 0 0 0  0 -2 -2 -2 0 0  0  0 -2
         0 0 0 0 -2  0  0  0 0 0  0 -2  0"""
    assert array() == rows(initial)
    table.play("pass")  # the opponent declines KH: KC and KD are safe
    declined = rows(initial)
    declined[0][12] = declined[3][12] = -1
    assert array() == declined
    table.play("pass", "draw", "8C", "draw")  # the opponent discards 8C, the player draws 7C
    drawn = [list(row) for row in declined]
    drawn[0][7], drawn[0][6] = -1, -2
    assert array() == drawn
    table.play("7C", "take")  # 7C cannot be in a run: the opponent has 7H and 7D too
    given = [list(row) for row in drawn]
    given[0][6] = given[1][6] = given[3][6] = 1
    assert array() == given


def test_safe_discards_follow_the_plug_rule():
    def safe(card: str, gone: str, discarded: str = "") -> bool:
        return shankar.is_safe_discard(
            cards.card_id(card), cards.parse(gone), cards.parse(discarded) if discarded else 0
        )

    assert safe("6C", "6H 6S 5C 7C")
    assert safe("6C", "6H 6S 5C 8C")
    assert safe("6C", "6H 6S 4C 7C")
    assert safe("6C", "6H 5C 7C", "6H"), "the opponent discarded a six"
    assert not safe("6C", "6H 5C 7C"), "three sixes may still be together"
    assert not safe("6C", "6H 6S 7C"), "4-5-6 is possible"
    assert safe("AC", "AH AS 2C"), "an ace has one run"
    assert safe("AC", "AH AS 3C")
    assert safe("KD", "KH KS JD")
    assert not safe("KD", "KH KS TD")


def test_certain_mates_are_those_that_every_possible_meld_contains():
    def mates(card: str, gone: str) -> str:
        return cards.format(shankar.certain_mates(cards.card_id(card), cards.FULL_DECK & ~cards.parse(gone)))

    assert mates("7C", "6C 8C") == "", "three other sevens: two of them, but which?"
    assert mates("7C", "6C 8C 7S") == "7H 7D"
    assert mates("7C", "7H 7S") == "", "three runs have only 7C in common"
    assert mates("7C", "7H 7S 8C") == "5C 6C"
    assert mates("7C", "7H 7S 5C 9C") == "6C 8C"
    assert mates("7C", "7H 7S 5C") == "8C", "6-7-8 and 7-8-9"
    assert mates("AH", "AC AD") == "2H 3H"
    assert mates("AH", "AC AD 2H") == "", "no meld is possible: a bluff"


def test_two_cards_taken_of_a_rank_do_not_tell_which_third_completes_the_set():
    table = Table(
        "7C 7H 6C 8C AC AS 5D JC QD KS", "7D 7S 2H 3H 4H 9D 2C 3C 4C 9S", "KH", "JH 5S", dealer=1
    ).play("pass", "pass", "draw", "7C", "take", "9D", "draw", "7H", "take", "9S")
    array = shankar.shankar_arrays(table.games.views(ONE_GAME, 0)).reshape(4, 13)
    assert array[:, 6].tolist() == [1, 1, 0, 0]


def test_upcard_that_the_opponent_discarded_makes_other_cards_safe():
    """They cannot want it back: after 8C no run has 9C, since JC is the player's, and two nines are too."""
    table = Table(
        "AC AS 5D 6C 6S 9H 9S JC QD KS", "8C 2H 3H 4H 7D TD 2C 3C 4C 7S", "KH", "JH 7C 5H", dealer=0
    )
    table.play("pass", "pass", "draw", "8C")
    array = shankar.shankar_arrays(table.games.views(ONE_GAME, 0))[0]
    assert array[cards.card_id("9C")] == shankar.OUT
    assert array[cards.card_id("9D")] == shankar.UNKNOWN


def test_discards_count_wherever_the_cards_are_now():
    table = Table(
        "AC AS 5D 6C 6S 7S 8S JC QD KS", "8C 2H 3H 4H 9D TD 2C 3C 4C 9S", "KH", "JH 7C 5H", dealer=0
    )
    table.play("pass", "pass", "draw", "8C", "take", "AC")  # the player takes the opponent's 8C
    view = table.games.views(ONE_GAME, 0).array[0]
    assert cards.format(int(shankar.cards_ever_discarded(view["public"], 1))) == "8C"
    assert cards.format(int(shankar.cards_ever_discarded(view["public"], 0))) == "AC"
