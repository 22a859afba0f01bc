"""CFR strategies of the full game: training, tables and bots."""

from __future__ import annotations

import numpy as np
import pytest
from hands_in_words import Table
from packaged_files import packaged

from gin_env import agents, cards
from gin_env.agents import fitness
from gin_env.agents.cfr import strategy as cfr_sets
from gin_env.agents.cfr.bot import CfrPlusBot, StrategyTable, packaged_table
from gin_env.support.array_files import ArrayFileError

PACKAGED = ["paper", "plus"]


# --- The four characteristics (Gallucci et al. 2021, "Ranking the Fitness of a Card") --------


HAND = "AC 2C 3C 5H 5S 5D 8H 9H KS QC"
OPPONENT = "2H 3H 4S 6S 7D 9C TC JD AD 4D"


def at_discard(drawn: str = "JS") -> Table:
    """Player 0 has drawn `drawn` from the stock after two passes; the upcard is the king of diamonds."""
    return Table(HAND, OPPONENT, "KD", drawn).play("pass", "pass", "draw")


def characteristics(table: Table, card: str, shown: str = "", discarded: str = "") -> set[str]:
    """Return the names of the card's characteristics; `shown` and `discarded` are the opponent's cards."""
    table.games.state["public"]["shown"][0, 1] = cards.parse(shown)
    table.games.state["public"]["discarded"][0, 1] = cards.parse(discarded)
    view = table.games.views(np.zeros(1, np.int64)).array[0]
    candidates = int(view["private"]["hand"])
    limit = fitness.deadwood_limit(view["public"], view["private"], 0, candidates, False)
    bits = fitness.card_fitness(view["public"], view["private"], 0, cards.card_id(card), limit, 15)
    return {name for index, name in enumerate(fitness.FACTORS) if bits >> index & 1}


def gone(table: Table, text: str) -> Table:
    """The same with more cards in the discard pile."""
    table.games.state["public"]["pile"][0] |= np.uint64(cards.parse(text))
    return table


def test_card_is_unmeldable_if_every_meld_needs_a_discarded_card():
    # KS needs QS (with JS held, QS alone would do), or two of the other kings.
    assert "unmeldable" not in characteristics(at_discard(), "KS")
    assert "unmeldable" not in characteristics(gone(at_discard(), "QS"), "KS")  # KC KH may come
    assert "unmeldable" in characteristics(gone(at_discard(), "QS KH"), "KS")
    # Cards that the opponent took from the pile cannot come either.
    assert "unmeldable" in characteristics(gone(at_discard(), "QS"), "KS", shown="KH")


def test_card_is_useless_if_the_opponent_cannot_meld_it():
    # QC: KC JC TC and the other queens; 0 holds none of them.
    assert "useless" not in characteristics(at_discard(), "QC")
    assert "useless" not in characteristics(gone(at_discard(), "QH QS"), "QC")  # a run with the jack
    # KS: the queen is gone, the jack held by player 0, one other king left
    assert "useless" not in characteristics(gone(at_discard(), "QS"), "KS")
    assert "useless" in characteristics(gone(at_discard(), "QS KH"), "KS")
    assert "useless" in characteristics(gone(at_discard(), "QH QS JC"), "QC")
    # Cards taken from the pile are held, not gone.
    assert "useless" not in characteristics(gone(at_discard(), "QH QS KC"), "QC", shown="JC")


def test_card_melds_with_a_discard_of_the_opponent():
    assert "discarded" not in characteristics(at_discard(), "QC", discarded="9C 4H")
    for mate in ("QH", "JC", "TC", "KC"):
        assert "discarded" in characteristics(at_discard(), "QC", discarded=mate)


def test_average_deadwood_decreases_after_another_draw():
    """Compare the mean deadwood after the discard and another draw with the deadwood now."""
    table = at_discard()
    view = table.games.views(np.zeros(1, np.int64)).array[0]
    hand = int(view["private"]["hand"])
    unseen = cards.FULL_DECK & ~hand & ~cards.parse("KD")
    for card in cards.cards_of(hand):
        rest = hand & ~(1 << card)
        total = sum(int(fitness.min_deadwood(rest | 1 << other)) for other in cards.cards_of(unseen))
        expected = total / unseen.bit_count() < fitness.min_deadwood(hand)
        assert ("deadwood" in characteristics(table, cards.card_text(card))) == expected
    assert "deadwood" in characteristics(table, "KS")
    assert "deadwood" not in characteristics(table, "AC")  # breaks a meld


def test_relative_deadwood_compares_the_candidates():
    """Of two queens and a king, the king is discarded: a pair has more outs."""
    table = Table("AC 2C 3C 5H 5S 5D 8H 8C QS QC", OPPONENT, "KD", "KH").play("pass", "pass", "draw")
    view = table.games.views(np.zeros(1, np.int64)).array[0]
    candidates = cards.parse("QS QC KH")
    limit = fitness.deadwood_limit(view["public"], view["private"], 0, candidates, True)
    for text, has in (("QS", 0), ("QC", 0), ("KH", 1)):
        card = cards.card_id(text)
        assert fitness.card_fitness(view["public"], view["private"], 0, card, limit, 1) == has
    assert fitness.fittest(view["public"], view["private"], 0, candidates, 1, True) == cards.parse("KH")
    limit = fitness.deadwood_limit(view["public"], view["private"], 0, cards.parse("QS QC"), True)
    queen = cards.card_id("QS")
    assert fitness.card_fitness(view["public"], view["private"], 0, queen, limit, 1) == 1, "equal to the mean"


def test_single_least_deadwood_candidate_is_discarded_directly():
    table = Table("AC 2C 3C 5H 5S 5D 8H 9H 7S QC", OPPONENT, "KD", "4C").play("pass", "pass", "draw")
    for name in ("cfr", "fitness-cfr", "heuristics"):
        bot = agents.make(name)
        assert bot.act(table.games.views(np.zeros(1, np.int64)))[0] == cards.card_id("QC")


def test_early_knock_overrules_the_table():
    never = packaged_table("paper").strategy.copy()
    never[cfr_sets.decision_slices(cfr_sets.PAPER)[2]] = 0
    table = StrategyTable(never, packaged_table("paper").metadata)
    hand = "AC 2C 3C 5H 5S 5D 8H 9H TH 4D"
    others = "KC KH QD QS JC JS 9C 8C 7D 6S"
    view = Table(hand, others, "KD", "QC").play("pass", "pass", "draw").games.views(np.zeros(1, np.int64))
    queen = cards.card_id("QC")  # 4 points are left without it
    for early_knock, action in ((0, queen), (3, queen), (4, 52 + queen), (10, 52 + queen)):
        assert agents.make("fitness-cfr", early_knock=early_knock, table=table).act(view)[0] == action


def test_table_says_from_which_cards_its_bot_discards():
    paper = packaged_table("paper")
    table = StrategyTable(paper.strategy, paper.metadata | {"candidates": "all"})
    assert agents.make("cfr", table=table).candidates == "all"
    assert agents.make("cfr", table=table, candidates="near").candidates == "near"
    unsaid = {key: value for key, value in paper.metadata.items() if key != "candidates"}
    assert agents.make("cfr", table=StrategyTable(paper.strategy, unsaid)).candidates == "least"
    plus = StrategyTable(packaged_table("plus").strategy, {"abstraction": "plus"})
    assert CfrPlusBot(plus).candidates == "near"
    assert all(agents.make(name, table=table).table is table for name in ("fitness-cfr", "heuristics"))


# --- Tables -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("abstraction", PACKAGED)
def test_packaged_table_records_its_provenance(abstraction):
    table = packaged_table(abstraction)
    assert table.metadata["abstraction"] == abstraction
    assert table.metadata["command"].startswith("gin-rummy train cfr")
    assert {"seed", "iterations", "date", "version", "candidates", "exploration"} <= table.metadata.keys()
    assert table.visited.mean() > 0.3
    assert (table.strategy[table.visited] <= 1).all()
    assert packaged(f"agents/cfr/data/cfr_{abstraction}.npz").stat().st_size < 2**20


def test_table_is_unchanged_after_saving_and_loading(tmp_path):
    paper = packaged_table("paper")
    table = StrategyTable(np.resize([-1.0, 0.0, 1.0, 0.999], len(paper.strategy)), paper.metadata)
    table.save(tmp_path / "table.npz")
    again = StrategyTable.load(tmp_path / "table.npz")
    assert np.array_equal(again.strategy, np.resize([-1, 0, 1, 1], len(paper.strategy))), "rounded"
    assert again.metadata == table.metadata
    assert agents.make("cfr", table=tmp_path / "table.npz").files == (tmp_path / "table.npz",)


def test_tables_of_other_abstractions_raise(tmp_path):
    path = tmp_path / "table.npz"
    table = packaged_table("paper")
    StrategyTable(table.strategy, table.metadata | {"abstraction": "Gallucci et al. 2021"}).save(path)
    with pytest.raises(ArrayFileError, match="an abstraction that this release does not have"):
        StrategyTable.load(path)
    StrategyTable(table.strategy[1:], table.metadata).save(path)
    with pytest.raises(ArrayFileError, match="an abstraction that this release does not have"):
        StrategyTable.load(path)
    with pytest.raises(ValueError, match="this table's abstraction is 'paper'; the bot needs 'plus'"):
        CfrPlusBot(table)
