"""Rule-based bots: a position for each branch that the tests of the papers' rules don't reach."""

from __future__ import annotations

import numpy as np
import pytest
from bot_positions import choices, facing, holding, later, mask
from hands_in_words import Table, started
from played_positions import same_records

from gin_env import agents, cards
from gin_env.agents import fitness, simple, utility
from gin_env.game.rules import Rules
from gin_env.matches.fixed_positions import fixed_views

DREARY = "KD QS JC TH 9C 8S 2H 4C AH 6D"
OTHERS = "KC KH QC QH JD JH TS 9S 8D 7S"
DULL = "KC QH JS 9D 8H 7S 6C 5H 4D 3H"
NEAR_GIN = "5C 5H 5S 7D 8D 9D TC JC QC 2H"
ALL_MELDED = "4D 5D 6D 7D TC JC QC AH AC AS"
TWO_MELDS = "5C 5H 5S 7D 8D 9D"
TWO_RUNS = "5C 6C 7C 7D 8D 9D TH QC 2H 3S"


def after_taking_back() -> Table:
    """Player 0 took 7D and discarded KD, which the opponent took and gave back, and took it again."""
    table = Table(DREARY, OTHERS, "7D", "5H 9D 2C 3C", dealer=1)
    return table.play("take", "KD", "take", "KC", "draw", "5H", "draw", "KD", "take")


@pytest.mark.parametrize(
    ("bot", "params", "table", "expected"),
    [
        # random-discard: any unmelded card, but no {drawn, discarded} pair twice
        ("random-discard", {}, after_taking_back, "QS JC TH 9C 8S 2H 4C AH 6D"),
        ("simple", {}, after_taking_back, "QS JC TH"),
        ("random-discard", {}, lambda: holding(f"{TWO_MELDS} TH KC QS 3S", "2D", "7C"), "TH KC QS 3S 2D"),
        ("random-discard", {}, lambda: holding(f"{TWO_MELDS} TC JC QC 9H", "2D", "7C"), "knock 9H knock 2D"),
        ("random-discard", {}, lambda: holding(ALL_MELDED, "KS", "9H"), "knock KS"),
        ("random-discard", {}, lambda: facing(DREARY, "7D"), "pass"),
        ("random-discard", {}, lambda: facing(NEAR_GIN, "KC"), "take"),
        ("random-discard", {}, lambda: facing(NEAR_GIN, "KC").play("pass", "pass"), "draw"),
        # late-knock: takes what is melded, in the offer and later, and knocks in the last turn
        ("late-knock", {}, lambda: facing(NEAR_GIN, "KC"), "take"),
        ("late-knock", {}, lambda: facing(NEAR_GIN, "KD"), "pass"),
        ("late-knock", {"useful_draws": False}, lambda: facing(NEAR_GIN, "KC").play("pass", "pass"), "draw"),
        ("late-knock", {}, lambda: holding(NEAR_GIN, "5D", "6C"), "knock 2H"),
        # 7H would make a set with 7C 7D, but both lie in runs
        ("late-knock", {}, lambda: facing(TWO_RUNS, "7H"), "pass"),
        ("late-knock", {"useful_draws": False}, lambda: facing(TWO_RUNS, "7H"), "take"),
        ("simple", {}, lambda: facing(TWO_RUNS, "7H"), "take"),
        # medium: AC is the lowest card of all
        ("medium", {}, lambda: holding("AC 5H 5S 5D 7D 8D 9D TC JC QC", "KS", "2C"), "knock KS"),
        ("medium", {}, lambda: holding("AC 5H 9S KD 7D 8D TC JH QC 3S", "KS", "2C"), "TC JH QC KD KS"),
        # with exactly one of its own two thresholds, or gin
        ("medium", {"exact": True, "knock_at": 2}, lambda: holding(NEAR_GIN, "KS", "4D"), "knock KS"),
        ("medium", {"exact": True, "knock_at": 3}, lambda: holding(NEAR_GIN, "KS", "4D"), "KS"),
        ("medium", {"exact": True}, lambda: holding(NEAR_GIN, "5D", "6C"), "knock 2H"),
        ("utility", {}, lambda: holding("AC 2C 3C 4C 7D 8D 9D TH JH QH", "KH", "5C"), "knock AC"),
        ("utility", {"knock_at": 1}, lambda: holding(NEAR_GIN, "KS", "4D"), "KS"),
        ("utility", {"knock_at": 2}, lambda: holding(NEAR_GIN, "KS", "4D"), "knock KS"),
        ("tonic", {}, lambda: facing(NEAR_GIN, "KC").play("pass", "pass"), "draw"),
        # marjj: takes a melded upcard that lowers the deadwood, and knocks with gin in any turn
        ("marjj", {}, lambda: facing(NEAR_GIN, "KC"), "take"),
        ("marjj", {}, lambda: facing(NEAR_GIN, "KD"), "pass"),
        ("marjj", {}, lambda: facing(NEAR_GIN, "AH"), "pass"),  # 1 instead of 2, but not melded
        ("marjj", {}, lambda: facing(ALL_MELDED, "8D"), "pass"),  # melded, but there is no deadwood already
        ("simple", {}, lambda: facing(ALL_MELDED, "8D"), "take"),
        ("marjj", {}, lambda: later(holding(NEAR_GIN, "5D", "6C"), 15), "knock 2H"),
        # gold-standard: takes what lowers the deadwood or joins a meld, and discards the first of the highest
        ("gold-standard", {}, lambda: facing(DULL, "8D"), "take"),
        ("gold-standard", {}, lambda: facing(DULL, "2D"), "take"),
        ("gold-standard", {}, lambda: facing(DULL, "KH"), "pass"),
        ("gold-standard", {}, lambda: facing(DULL, "TS"), "pass"),
        ("gold-standard", {}, lambda: facing(ALL_MELDED, "8D"), "take"),
        ("gold-standard", {}, lambda: holding(DREARY, "3D", "5H"), "JC"),  # KD, QS, TH are as high
        ("gold-standard", {}, lambda: holding(ALL_MELDED, "KC", "9H"), "knock TC"),
        ("gold-standard", {"hold_for_gin": True}, lambda: holding(NEAR_GIN, "5D", "6C"), "knock 2H"),
        ("simple", {"knock_at": 100}, lambda: holding(f"{TWO_MELDS} TC JC AC 2H", "KS", "4D"), "TC JC KS"),
    ],
)
def test_each_branch_follows_its_rule(bot, params, table, expected):
    words = expected.replace("knock ", "knock_").split()
    if (bot, expected) == ("utility", "knock AC"):  # all are melded: as simple, the ends of the long runs
        words = ["knock_AC", "knock_4C", "knock_TH", "knock_KH"]
    assert choices(table(), bot, **params) == {word.replace("_", " ") for word in words}


@pytest.mark.parametrize(
    ("field", "value", "choice"),
    [
        ("turn", 97, "KS"),
        ("turn", 98, "KS"),
        ("turn", 99, "knock KS"),  # turns that are over; the rules allow 100
        ("stock_left", 3, "KS"),
        ("stock_left", 2, "knock KS"),  # the floor
        ("stock_left", 1, "knock KS"),
    ],
)
def test_late_knock_knocks_in_the_last_possible_turn(field, value, choice):
    table = holding(NEAR_GIN, "KS", "4D")
    table.games.state["public"][field][0] = value
    assert choices(table, "late-knock") == {choice}


def test_card_just_taken_does_not_count_as_opponents_discard():
    """The card itself was the last discard, which adds nothing to its score."""
    score = utility.discard_score(cards.card_id("8H"), mask("8H"), cards.FULL_DECK, 30, cards.card_id("8H"))
    assert score == 8
    assert utility.discard_score(0, mask("AC"), cards.FULL_DECK, 30, -1) == 1


@pytest.mark.parametrize(("stock_left", "score"), [(0, 8 - 16), (1, 8 - 16), (2, 0), (16, 7)])
def test_last_card_of_a_pair_is_weighted_by_the_stock(stock_left, score):
    loose, possible = mask("8H 8C"), cards.FULL_DECK & ~mask("8H 8C 8D")
    assert utility.discard_score(cards.card_id("8H"), loose, possible, stock_left, -1) == score


def test_finished_and_unknown_games_raise_and_none_changes():
    games = started(5, Rules(max_turns=6))
    before = games.state.copy()
    bot = simple.SimpleBot()
    for wrong in (-1, 5):
        with pytest.raises(IndexError, match=f"game {wrong} is over or unknown"):
            bot.play_turns(games, np.array([0, wrong]), True)
        assert same_records(games.state, before)
    bot.play_turns(games, np.array([2]), True)
    with pytest.raises(IndexError, match="game 2 is over or unknown"):
        bot.play_turns(games, np.array([0, 2]), True)
    assert same_records(games.state[:1], before[:1])


# --- fitness-cfr and heuristics -------------------------------------------------------------------------

HAND = "AC 2C 3C 5H 5S 5D 8H 8C QS QC"


def fit_table() -> tuple[np.void, np.void]:
    table = Table(HAND, "2H 3H 4S 6S 7D 9C TC JD AD 4D", "KD", "KH").play("pass", "pass", "draw")
    state = table.games.state[0]
    return state["public"], state["private"][0]


def readings(gone: str = "", discarded: str = "", reading: int = 0) -> list[int]:
    """Return what V4, V2 in this reading, and V2's filter keep of QS, QC and KH."""
    public, private = fit_table()
    public["pile"] |= np.uint64(mask(gone))
    public["discarded"][1] = mask(discarded)
    queens = public, private, 0, mask("QS QC KH")
    return [
        int(fitness.fittest(*queens, 14, False)),
        int(fitness.narrow_by_reading(*queens, reading, False)),
        int(fitness.narrow_by_reading(*queens, fitness.FILTER, False)),
    ]


def test_readings_of_v2_keep_different_cards():
    """Discarding any of the three lowers the average deadwood. Without KC, KS and JH the king is unmeldable,
    and useless to the opponent; with a king discarded by the player it has all four."""
    everything = mask("QS QC KH")
    assert readings() == [everything] * 3
    king = {"gone": "KC KS JH"}
    assert readings(**king) == [mask("KH"), everything, mask("KH")], "none has all four"
    assert readings(**king, reading=fitness.SOME)[1] == everything, "all lower the deadwood"
    assert readings(**king, reading=fitness.LITERAL)[1] == everything, "none is without any: all remain"
    assert readings(**king, discarded="KD") == [mask("KH")] * 3, "all four"
    assert readings(discarded="JS") == [mask("QS KH") & mask("QS"), everything, mask("QS")]
    public, private = fit_table()
    public["pile"] |= np.uint64(mask("KC KS JH"))
    for reading, kept in ((fitness.SOME, "KH"), (fitness.LITERAL, "QS QC")):
        found = fitness.narrow_by_factors(public, private, 0, everything, -1.0, fitness.ALL_FACTORS, reading)
        assert found == mask(kept), "no average below 0: the queens have none of the four"


def test_only_selected_characteristics_are_used():
    """KH has all four characteristics with any deck."""
    public, private = fit_table()
    public["pile"] |= np.uint64(mask("KC KS JH"))
    public["discarded"][1] = mask("KD")
    king = public, private, 0, cards.card_id("KH"), 1e9
    assert [fitness.card_fitness(*king, factors) for factors in range(16)] == list(range(16))
    view = fixed_views(60)
    alone = [agents.make("fitness-cfr", factors=[name]).act(view).tolist() for name in fitness.FACTORS]
    assert all(alone.count(each) == 1 for each in alone), "each name selects another one"
