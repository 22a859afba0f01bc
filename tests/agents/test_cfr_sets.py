"""Information sets of the CFR strategies, and decisions from tables, on hand-made positions."""

from __future__ import annotations

import numpy as np
import pytest
from bot_positions import facing, holding, later, mask, view_of
from hands_in_words import Table, action_text, started

from gin_env import cards
from gin_env.agents.cfr import paper_sets, plus_sets, strategy
from gin_env.agents.cfr.bot import CfrBot, CfrPlusBot, StrategyTable
from gin_env.agents.cfr.strategy import Strategy
from gin_env.game.rules import Rules
from gin_env.game.streams import mix

PAPER, PLUS, DEALT = (strategy.KINDS[name] for name in ("paper", "plus", "dealt"))


def parts(table: Table):
    """Return the public part and player 0's private part."""
    view = view_of(table)
    return view["public"], view["private"]


def with_dealt(table: Table, dealt: int) -> Table:
    """Return the same position with fewer cards in the stock."""
    table.games.state["public"]["stock_left"][0] = 52 - dealt
    return table


# --- Numbers of information sets ------------------------------------------------------------------------


def test_number_of_information_sets_matches_the_docstrings():
    """Paper: cards, stages, deadwood; stages and the offer, melds, saved, steps of five; deadwood, dealt."""
    expected = {
        PAPER: (52 * 3 * 101, 4 * 2 * 22 * 21, 11 * 31),
        DEALT: (52 * 31 * 101, 32 * 2 * 22 * 21, 11 * 31),
        PLUS: (3 * 5 * 5 * 4 * 4 * 4, 5 * 2 * 22 * 3 * 6, 11 * 10 * 4 * 3),
    }
    for kind, sizes in expected.items():
        slices = strategy.decision_slices(kind)
        assert tuple(part.stop - part.start for part in slices) == sizes
        assert [part.start for part in slices] == [0, sizes[0], sizes[0] + sizes[1]]
        assert strategy.number_of_sets(kind) == sum(sizes)


DISCARDING = "5C 5H 5S 7D 8D 9D KC QH 8S 2S"  # deadwood 36 with 6H


@pytest.mark.parametrize(
    ("dealt", "stage", "step"),
    [(20, 0, 0), (22, 0, 2), (30, 0, 10), (31, 1, 11), (40, 1, 20), (41, 2, 21), (50, 2, 30), (52, 2, 30)],
)
def test_cards_dealt_determine_stage_and_step(dealt, stage, step):
    public, private = parts(with_dealt(holding(DISCARDING, "6H", "3D"), dealt))
    card, hand = cards.card_id("5C"), np.int64(private["hand"])
    assert paper_sets.discard_set(public, hand, card, 3) == (card * 3 + stage) * 101 + 36
    assert paper_sets.discard_set(public, hand, card, 31) == (card * 31 + step) * 101 + 36
    for deadwood, counted in ((0, 0), (10, 10), (12, 10)):
        for stages, first in ((3, 15756 + 3696), (31, 162812 + 29568)):
            assert paper_sets.knock_set(public, deadwood, stages) == first + counted * 31 + step


def test_fewer_cards_than_a_full_deal_count_as_the_minimum():
    public = started(1, Rules(ranks=5, suits=2, hand_size=2)).state["public"][0]
    assert paper_sets.cards_dealt(public) == 5
    assert paper_sets.dealt_step(public) == 0


def test_deadwood_above_100_counts_as_100():
    public, private = parts(holding("TC TH JS JD QC QH KS KD 9S 9H", "8C", "AD"))
    hand = np.int64(private["hand"])
    assert cards.total_value(hand) == 106
    assert paper_sets.discard_set(public, hand, 9, 3) == (9 * 3 + 0) * 101 + 100


@pytest.mark.parametrize(
    ("hand", "upcard", "melded", "saved", "deadwood"),
    [
        # (does the best arrangement with the upcard meld it; what taking it saves; deadwood now)
        ("5C 5H 5S 7D 8D 9D KC QH 8S 2S", "TD", 1, 10, 30),  # KC or QH can go, TD is in the run
        ("5C 5H 5S 7D 8D 9D KC QH 8S 2S", "AH", 0, 9, 30),
        ("5C 5H 5S 7D 8D 9D KC KH 8S 2S", "KD", 1, 28, 30),  # the kings are a set, and 8S goes
        ("5C 5H 5S 6D 7D 8D 9D TC JC QC", "KS", 0, -10, 0),  # KS must not be discarded yet
        ("5C 5H 5S 6D 7D 8D 9D TC JC QC", "AS", 0, -1, 0),
        ("KC QH JS 9D 8H 7S 6C 5H 4D 3H", "3D", 0, 7, 72),
    ],
)
@pytest.mark.parametrize("turns", [0, 5])
def test_draw_sets_depend_on_the_value_of_the_upcard(hand, upcard, melded, saved, deadwood, turns):
    offered = facing(hand, upcard)
    public, private = parts(offered)
    mine, clipped = np.int64(private["hand"]), min(max(saved, -1), 20) + 1

    def paper(stage: int) -> int:
        return 15756 + ((stage * 2 + melded) * 22 + clipped) * 21 + deadwood // 5

    def dealt(step: int) -> int:
        return 162812 + ((step * 2 + melded) * 22 + clipped) * 21 + deadwood // 5

    assert paper_sets.draw_set(public, mine, 3) == paper(3)
    assert paper_sets.draw_set(public, mine, 31) == dealt(31)
    public = with_dealt(later(offered, turns), 33).games.state["public"][0]
    public["phase"] = 2  # to draw, not the opening offer
    assert paper_sets.draw_set(public, mine, 3) == paper(1)
    assert paper_sets.draw_set(public, mine, 31) == dealt(13)


def test_highest_deadwood_of_ten_cards_is_in_the_second_last_step():
    public, private = parts(facing("TC TH JS JD QC QH KS KD 9S TD", "AC"))
    hand = np.int64(private["hand"])  # TC TH TD are melded: 69
    assert (paper_sets.draw_set(public, hand, 3) - 15756) % 21 == 69 // 5
    public, private = parts(facing("TC TH JS JD QC QH KS KD 9S 9H", "AC"))
    assert (paper_sets.draw_set(public, np.int64(private["hand"]), 3) - 15756) % 21 == 98 // 5


# --- cfr-plus -------------------------------------------------------------------------------------------


def test_own_turns_have_four_steps():
    table = holding(DISCARDING, "6H", "3D")
    steps = []
    for _ in range(9):
        steps.append(plus_sets.turn_of(table.games.state["public"][0]))
        later(table, 1)
    assert steps == [0, 0, 1, 1, 2, 2, 2, 3, 3]


@pytest.mark.parametrize(
    ("card", "others", "unseen", "outs"),
    [
        ("6C", "7C 6H", "5C 8C 6S 6D 4C 9C KD", 4),  # two runs, two sets; 4C and 9C need one more
        ("6C", "7C 6H", "4C 9C KD", 0),
        ("6C", "4C 8C", "5C 7C 6S", 2),
        ("6C", "6H 6S", "6D 5C", 2),  # melded already: whatever shares a meld with it
        ("6C", "KD", "5C 7C 6S 6D", 0),
    ],
)
def test_outs_are_unseen_cards_that_complete_a_meld(card, others, unseen, outs):
    assert plus_sets.outs_of(cards.card_id(card), mask(others), mask(unseen)) == outs


@pytest.mark.parametrize(
    ("shown", "unseen", "discarded", "danger"),
    [
        ("5C 7C", "", "", 4),  # certainly melds 6C
        ("6H 6S", "", "6D", 4),
        ("5C", "4C", "", 3),  # may meld
        ("5C", "8C 6H", "", 0),  # cannot: 5C 6C needs 4C or 7C
        ("", "6H 6S", "", 2),
        ("", "6H 6S", "7C", 1),  # discarded a card that goes with it
        ("", "6H 6S", "9C", 2),
        ("KD", "6H 6S", "6D", 1),
        ("KD", "6H 7C", "6D", 0),
        ("5C", "4C", "6D", 3),  # taken cards say more than discarded ones
    ],
)
def test_danger_counts_the_opponents_melds_with_a_card(shown, unseen, discarded, danger):
    card = cards.card_id("6C")
    assert plus_sets.danger_of(card, mask(shown), mask(unseen), mask(discarded)) == danger


@pytest.mark.parametrize(
    ("card", "extra", "value", "known_danger"),
    [
        # Least deadwood 26, after KC or QH; how much more another discard leaves is in steps of two.
        ("KC", 0, 3, 1),
        ("8S", 1, 2, 1),
        ("6H", 2, 1, 1),
        ("2S", 2, 0, 3),  # with AS, which was taken, and 3S
    ],
)
def test_cfr_plus_distinguishes_discards(card, extra, value, known_danger):
    table = holding(DISCARDING, "6H", "3D")
    public, private = table.games.state["public"][0], view_of(table)["private"]
    number = cards.card_id(card)
    rest = int(private["hand"]) & ~(1 << number)
    unseen = cards.FULL_DECK & ~int(private["hand"]) & ~mask("3D")

    def expected(danger: int, turn: int) -> int:
        outs = min(plus_sets.outs_of(number, rest, unseen & ~int(public["shown"][1])), 4)
        return ((((extra * 5 + outs) * 5 + danger) * 4 + value) * 4 + turn) * 4 + 2

    assert plus_sets.discard_set(public, private, 0, number) == expected(2, 0)
    later(table, 2)
    public["shown"][1] = mask("AC AH AD AS")
    public["discarded"][1] = mask("JC 9S 7H 4S")  # each goes with one of the cards
    assert plus_sets.discard_set(public, private, 0, number) == expected(known_danger, 1)


@pytest.mark.parametrize(
    ("hand", "drawn", "least", "step"),
    [
        ("5C 5H 5S 7D 8D 9D TC JC KS 2S", "AH", 23, 2),
        ("5C 5H 5S 7D 8D 9D TC JC QC 9S", "KS", 9, 0),
        ("5C 5H 5S 7D 8D 9D TC JC QC TH", "KS", 10, 0),
        ("5C 5H 5S 7D 8D 9D JC AC TH 8S", "KS", 29, 2),
        ("5C 5H 5S 7D 8D 9D JC 9S AC AD", "KS", 21, 2),
        ("5C 5H 5S 7D 8D 9D TH 8S AC AD", "KS", 20, 1),
        ("5C 5H 5S 6D 7D 8D 9D KC AH TH", "QS", 21, 2),
        ("5C 5H 5S 6D 7D 8D 9D AC 2H 8S", "QS", 11, 1),
        ("5C 5H 5S 7D 8D TC QC AH 9S 3S", "KS", 48, 3),
        ("5C 5H 5S 4D 8D TC QC AH 2S 3H", "AS", 29, 2),
        ("5C 5H 5S 8D TC QC AH 2S 3H AS", "KD", 35, 2),
        ("5C 5H 5S 8D TC QC 2H 2S 3H AS", "KD", 36, 3),
    ],
)
def test_least_deadwood_has_four_steps(hand, drawn, least, step):
    public, private = parts(holding(hand, drawn, "KH"))
    card = cards.lowest_card(np.int64(private["hand"]))
    _, found = strategy.least_deadwood_discards(
        np.int64(private["hand"]), strategy.discard_candidates(public, private, 3)
    )
    assert found == least
    assert plus_sets.discard_set(public, private, 0, card) % 4 == step


@pytest.mark.parametrize(
    ("hand", "upcard", "melded", "saved", "outs", "after"),
    [
        # outs: 1 or none, 2, more; after: deadwood that is left, 0, to 5, 10, 20, 35, more
        ("5C 5H 5S 7D 8D 9D KC QH 8S 2S", "TD", 1, 10, 2, 3),
        ("5C 5H 5S 7D 8D 9D KC QH 8S 2S", "AH", 0, 9, 0, 4),
        ("5C 5H 5S 6D 7D 8D 9D TC JC QC", "KS", 0, -10, 0, 2),
        ("5C 5H 5S 7D 8D 9D TC JC QC KS", "TD", 1, 10, 2, 0),
        ("5C 5H 5S 7D 8D 9D TC JC QC KS", "4D", 0, 6, 0, 1),
        ("5C 5H 5S 7D 8D 9D TC JC QC KS", "6C", 0, 4, 1, 2),
        ("5C 5H 5S 7D 8D 9D TC JC QC KS", "AH", 0, 9, 0, 1),
        ("KC QH JS 9D 8H 7S 6C 5H 4D 3H", "3D", 0, 7, 2, 5),
    ],
)
def test_cfr_plus_distinguishes_draws(hand, upcard, melded, saved, outs, after):
    table = facing(hand, upcard)
    public, private = parts(table)
    unseen = cards.FULL_DECK & ~mask(f"{hand} {upcard}")
    found = plus_sets.outs_of(cards.card_id(upcard), mask(hand), unseen)
    outs = 0 if found <= 1 else 1 if found == 2 else 2
    clipped = min(max(saved, -1), 20) + 1

    def expected(turn: int) -> int:
        return 4800 + (((turn * 2 + melded) * 22 + clipped) * 3 + outs) * 6 + after

    assert plus_sets.draw_set(public, private, 0) == expected(4), "the opening offer"
    public = later(table, 7).games.state["public"][0]
    public["phase"] = 2
    assert plus_sets.draw_set(public, private, 0) == expected(3)


@pytest.mark.parametrize(
    ("loose", "unseen", "outs", "step"),
    [
        ("TC JC", "QC 9C TH TS KC 2H JD", 4, 2),  # a run, or a set with TD, which the run can spare
        ("TC JC", "QC TH KC 2H", 2, 1),
        ("TC JC", "QC KC 2H", 1, 1),
        ("TC JC", "KC 2H", 0, 0),
        ("TC 2H", "QC JC 3H 2S", 0, 0),
        ("2H 2S", "2C 2D 6D AH", 2, 1),
    ],
)
def test_cfr_plus_distinguishes_knocks(loose, unseen, outs, step):
    rest = mask(f"5C 5H 5S 5D 7D 8D 9D TD {loose}")
    assert plus_sets.gin_outs(rest, mask(unseen)) == outs
    table = facing(cards.format(rest), "KD")
    public = table.games.state["public"][0]
    public["pile"] = cards.FULL_DECK & ~rest & ~mask(unseen)
    private = view_of(table)["private"]
    deadwood = min(cards.total_value(mask(loose)), 10)
    for turns, turn in ((0, 0), (3, 3), (9, 9), (12, 9)):
        public["turn"] = 2 * turns
        for shown, taken in (("", 0), ("AC", 1), ("AC 3S 4S", 3), ("AC 3S 4S 6S", 3)):
            public["shown"][1] = mask(shown)
            number = plus_sets.knock_set(public, private, 0, rest)
            assert number == 8760 + ((deadwood * 10 + turn) * 4 + taken) * 3 + step


def test_abstractions_are_selected_by_number():
    table = holding(DISCARDING, "6H", "3D")
    public, private = parts(table)
    hand, card = np.int64(private["hand"]), cards.card_id("KC")
    rest = np.int64(mask("5C 5H 5S 7D 8D 9D TC JC QC 2H"))
    seen = public, private, 0
    for kind, stages in ((PAPER, 3), (DEALT, 31)):
        discard, knock = strategy.discard_set_of(kind, *seen, card), strategy.knock_set_of(kind, *seen, rest)
        assert discard == paper_sets.discard_set(public, hand, card, stages)
        assert knock == paper_sets.knock_set(public, 2, stages)
    assert strategy.discard_set_of(PLUS, *seen, card) == plus_sets.discard_set(*seen, card)
    assert strategy.knock_set_of(PLUS, *seen, rest) == plus_sets.knock_set(*seen, rest)
    public, private = parts(facing(DISCARDING, "6H"))
    seen, hand = (public, private, 0), np.int64(private["hand"])
    assert strategy.draw_set_of(PAPER, *seen) == paper_sets.draw_set(public, hand, 3)
    assert strategy.draw_set_of(DEALT, *seen) == paper_sets.draw_set(public, hand, 31)
    assert strategy.draw_set_of(PLUS, *seen) == plus_sets.draw_set(*seen)


@pytest.mark.parametrize(
    ("which", "hand", "drawn", "expected"),
    [
        ("least", DISCARDING, "6H", "KC QH"),
        ("near", DISCARDING, "6H", "KC QH 8S 6H"),  # they leave 2 and 4 more; 2S 8
        ("unmelded", DISCARDING, "6H", "KC QH 8S 2S 6H"),
        ("all", DISCARDING, "6H", f"{DISCARDING} 6H"),
        ("least", "5C 5H 5S 6D 7D 8D 9D TC JC QC", "KC", "6D 9D TC KC"),  # all melded: gin either way
        ("unmelded", "5C 5H 5S 6D 7D 8D 9D TC JC QC", "KC", "6D 9D TC KC"),
    ],
)
def test_discards_are_chosen_among_the_candidates(which, hand, drawn, expected):
    public, private = parts(holding(hand, drawn, "2D"))
    assert strategy.discard_candidates(public, private, strategy.CANDIDATES[which]) == mask(expected)


def test_card_just_taken_is_not_a_candidate():
    table = facing(DISCARDING, "KD").play("take")
    for which, expected in (
        ("least", "KC QH"),
        ("near", "KC QH 8S"),
        ("unmelded", "KC QH 8S 2S"),
        ("all", DISCARDING),
    ):
        found = strategy.discard_candidates(*parts(table), strategy.CANDIDATES[which])
        assert found == mask(expected), which


# --- Decisions by a table -------------------------------------------------------------------------------


def random_of(share: float) -> np.uint64:
    """Return the random number that represents this number from 0 to 1."""
    return np.uint64(int(share * 2**64))


@pytest.mark.parametrize(
    ("probability", "share", "purified", "acts"),
    [
        (-1.0, 0.49, True, True),
        (-1.0, 0.5, True, False),
        (-1.0, 0.49, False, True),  # unknown: a coin
        (0.5, 0.49, True, True),
        (0.5, 0.51, True, False),  # as likely as not: a coin
        (0.51, 0.99, True, True),
        (0.49, 0.0, True, False),
        (0.3, 0.29, False, True),
        (0.3, 0.31, False, False),
        (0.0, 0.0, False, False),
        (1.0, 0.99, False, True),
        (0.0, 0.3, True, False),
    ],
)
def test_probability_is_sampled_as_a_decision(probability, share, purified, acts):
    assert strategy.decide(probability, random_of(share), purified) == acts


def choose(probabilities: dict[str, float], share: float, purified: bool = False) -> str:
    """Return the discard by these probabilities."""
    public, private = parts(holding(DISCARDING, "6H", "3D"))
    table = np.full(strategy.number_of_sets(PAPER), -1.0)
    for text, probability in probabilities.items():
        table[strategy.discard_set_of(PAPER, public, private, 0, cards.card_id(text))] = probability
    card = strategy.choose_discard(
        public, private, 0, mask("8S KC QH"), random_of(share), Strategy(table, PAPER, 0, purified)
    )
    return cards.card_text(int(card))


@pytest.mark.parametrize(
    ("probabilities", "share", "purified", "chosen"),
    [
        # Ascending: KC, QH, 8S. Mixed: in proportion.
        ({"KC": 0.2, "QH": 0.3, "8S": 0.5}, 0.19, False, "KC"),
        ({"KC": 0.2, "QH": 0.3, "8S": 0.5}, 0.21, False, "QH"),
        ({"KC": 0.2, "QH": 0.3, "8S": 0.5}, 0.49, False, "QH"),
        ({"KC": 0.2, "QH": 0.3, "8S": 0.5}, 0.51, False, "8S"),
        ({"KC": 0.02, "QH": 0.03, "8S": 0.05}, 0.49, False, "QH"),
        ({"KC": 0.2, "QH": 0.3, "8S": 0.5}, 0.01, True, "8S"),  # purified: the likeliest
        ({"KC": 0.9, "QH": 0.3, "8S": 0.5}, 0.99, True, "KC"),
        ({"KC": 0.5, "QH": 0.5, "8S": 0.1}, 0.49, True, "KC"),  # the likeliest two: a coin
        ({"KC": 0.5, "QH": 0.5, "8S": 0.1}, 0.51, True, "QH"),
        ({"KC": 0.2, "8S": 0.6}, 0.24, False, "KC"),  # without a strategy: left aside
        ({"KC": 0.2, "8S": 0.6}, 0.26, False, "8S"),
        ({"QH": 0.2, "8S": 0.6}, 0.24, False, "QH"),
        ({"KC": 0.0, "QH": 0.0}, 0.49, False, "KC"),  # none would go: a coin
        ({"KC": 0.0, "QH": 0.0}, 0.51, False, "QH"),
        ({"KC": 0.0, "QH": 0.3, "8S": 0.0}, 0.0, False, "QH"),
        ({"KC": 0.0, "QH": 0.3, "8S": 0.0}, 0.999, False, "QH"),
    ],
)
def test_discards_follow_probabilities_or_the_highest_if_purified(probabilities, share, purified, chosen):
    assert choose(probabilities, share, purified) == chosen


def test_cards_without_a_strategy_are_discarded_uniformly():
    for purified in (False, True):
        shares = (0.32, 0.34, 0.65, 0.67)
        assert [choose({}, share, purified) for share in shares] == ["KC", "QH", "QH", "8S"]


def test_single_candidate_needs_no_decision():
    public, private = parts(holding(DISCARDING, "6H", "3D"))
    card = strategy.choose_discard(
        public, private, 0, mask("QH"), random_of(0), Strategy(np.zeros(0), PAPER, 0, False)
    )
    assert card == cards.card_id("QH")


KNOCKING = "5C 5H 5S 7D 8D 9D TC JC QC 2H"


def act(table: Table, random: int, known: float | None, purified: bool = True) -> str:
    """Return the action if all probabilities are equal."""
    values = np.full(strategy.number_of_sets(PAPER), -1.0 if known is None else known)
    number = strategy.strategy_action(
        *parts(table), 0, np.uint64(random), Strategy(values, PAPER, 0, purified)
    )
    return action_text(int(number))


def test_strategy_decides_draws_discards_and_knocks():
    offered = facing(KNOCKING, "KD")
    assert act(offered, 5, 0.9) == "take"
    assert act(offered, 5, 0.1) == "pass"
    assert act(offered.play("pass", "pass"), 5, 0.9) == "draw"
    drawn = holding(KNOCKING, "KS", "4D")
    assert act(drawn, 5, 0.9) == "knock KS"
    assert act(drawn, 5, 0.1) == "KS"
    assert act(holding("5C 5H 5S 6D 7D 8D 9D TC JC QC", "KS", "2D"), 5, 0.1) == "KS", "not even with gin"
    far = holding(DISCARDING, "6H", "3D")
    assert {act(far, random, 0.9) for random in range(20)} == {"KC", "QH"}
    assert {act(drawn, random, None) for random in range(20)} == {"knock KS", "KS"}
    assert [act(facing(KNOCKING, "KD"), random, None) for random in (5, 2**64 - 1)] == ["take", "pass"]
    later_draw = facing(KNOCKING, "KD", "KS 4D").play("pass", "pass", "draw", "KS", "draw", "4D")
    assert act(later_draw, 5, 0.1) == "draw"


def test_cfr_plus_knocks_by_the_cards_that_the_opponent_took():
    public, private = parts(holding(KNOCKING, "KS", "4D"))
    public["shown"][1] = mask("AC")
    rest, values = np.int64(mask(KNOCKING)), np.zeros(strategy.number_of_sets(PLUS))
    values[plus_sets.knock_set(public, private, 0, rest)] = 1
    assert strategy.choose_knock(public, private, 0, rest, np.uint64(5), Strategy(values, PLUS, 0, True))


def test_discard_and_knock_use_separate_random_numbers():
    """Seeded results depend on these numbers: the first and second after the decision's own."""
    far, near = holding(DISCARDING, "6H", "3D"), holding(KNOCKING, "KS", "4D")
    values = np.full(strategy.number_of_sets(PAPER), 0.5)
    for random in range(30):
        key = np.uint64(random)
        card = strategy.choose_discard(
            *parts(far), 0, mask("KC QH"), np.uint64(mix(key, 1)), Strategy(values, PAPER, 0, False)
        )
        assert act(far, random, 0.5, purified=False) == cards.card_text(int(card))
        knocks = strategy.decide(0.5, np.uint64(mix(key, 2)), False)
        assert act(near, random, 0.5, purified=False) == ("knock KS" if knocks else "KS")


def test_bot_decides_by_its_table():
    size = strategy.number_of_sets(PAPER)
    values = np.full(size, -1.0)
    values[15756:] = 1.0  # draws and knocks alone
    metadata = {"abstraction": "paper", "iterations": 0}
    bot = CfrBot(StrategyTable(values, metadata))

    def play(table: Table) -> str:
        return action_text(int(bot.act(table.games.views(np.zeros(1, np.int64)))[0]))

    assert play(facing(KNOCKING, "KD")) == "take"
    assert play(holding(KNOCKING, "KS", "4D")) == "knock KS"
    assert play(holding(DISCARDING, "6H", "3D")) in ("KC", "QH")
    mixed = CfrBot(StrategyTable(np.full(size, 0.9), metadata), purified=False, candidates="all")
    views = holding(DISCARDING, "6H", "3D").games.views(np.zeros(300, np.int64))
    views.array["random"] = np.random.default_rng(1).integers(0, 2**64, 300, dtype=np.uint64)
    assert len(set(mixed.act(views).tolist())) == 11
    assert (CfrBot().candidates, CfrPlusBot().candidates) == ("least", "near")
    assert [CfrBot().purified, CfrPlusBot().purified] == [True, True]
