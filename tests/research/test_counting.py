"""Counts of ``bayes``: by turn on the history of `test_estimator_turns`, and over games."""

from __future__ import annotations

import numpy as np
import pytest
from hands_in_words import ids
from test_estimator_turns import FIRST, SECOND, TURNS_OF_FIRST, TURNS_OF_SECOND, both_seats, mask, table_of

from gin_env import cards
from gin_env.agents.simple import SimpleBot
from gin_env.batch import Games
from gin_env.estimators.turn_buckets import BUCKETS, suit_relation
from gin_env.game.rules import Rules
from research.recipes.estimators import by_name, counting

DRAWN = ("TS", "KS", "3H", "7S", "6S", "4S")
"""Of the six turns, alternately by the first and the second player."""


def empty() -> list[np.ndarray]:
    return [np.zeros(shape, np.int64) for shape in (BUCKETS, BUCKETS, 13, 13)]


@both_seats
@pytest.mark.parametrize("turn", range(6))
def test_turn_counts_each_unseen_card_and_those_held(seat, turn):
    """Before the turn, the place of the discard was unknown too, unless it had been seen (KS at the end)."""
    table = table_of(seat, 4 + 2 * turn)
    found = empty()
    assert counting._count_turns(table.games.state, np.array([0]), *found) == 1
    upcard, took, discard, known, out = (TURNS_OF_FIRST, TURNS_OF_SECOND)[turn % 2][turn // 2]
    hand = mask((FIRST, SECOND)[turn % 2])
    for number in range(turn % 2, turn + 1, 2):
        left = (TURNS_OF_FIRST, TURNS_OF_SECOND)[turn % 2][number // 2][2]
        hand = (hand | mask(DRAWN[number])) & ~mask(left)
    assert hand == table.games.state["private"]["hand"][0, seat if turn % 2 == 0 else 1 - seat]
    expected = empty()
    unseen = cards.FULL_DECK & ~mask(known) & ~mask(out)
    first, thrown = ids(upcard)[0], ids(discard)[0]
    for card in cards.cards_of(unseen):
        relation = suit_relation(card // 13, first, thrown)
        bucket = int(took), first % 13, thrown % 13, card % 13, relation
        expected[0][bucket] += 1
        expected[1][bucket] += hand >> card & 1
    before = (hand | mask(discard)) & ~mask(DRAWN[turn])
    for card in cards.cards_of(unseen if turn == 5 else unseen | mask(discard)):
        expected[2][card % 13] += 1
        expected[3][card % 13] += before >> card & 1
    for counted, wanted in zip(found, expected, strict=True):
        assert np.array_equal(counted, wanted)


@pytest.mark.parametrize("moves", [0, 1, 2, 3, 5])
def test_nothing_is_counted_before_or_within_a_turn(moves):
    found = empty()
    assert counting._count_turns(table_of(0, moves).games.state, np.array([0]), *found) == 0
    assert not any(counts.any() for counts in found)


def test_first_upcard_is_known_before_it_is_discarded_again():
    table = table_of(0, 0).play("take", "KS", "draw", "QD", "draw", "TD")
    found = empty()
    counting._count_turns(table.games.state, np.array([0]), *found)
    assert found[2][9] == 2, "TC and TH, not TD; TS is in the own hand"


def test_small_decks_are_refused_before_the_games():
    with pytest.raises(ValueError, match="needs all 13 ranks, not 6"):
        counting.count_frequencies(10, rules=Rules(ranks=6, hand_size=5, knock_limit=5))


@pytest.mark.parametrize("name", ["nn", "bayes", "ensemble"])
def test_training_on_no_games_raises(name):
    pytest.importorskip("torch")
    with pytest.raises(ValueError, match="games must be from 1"):
        by_name.train_estimator(name, 0)


def test_counts_depend_on_the_seed_and_not_on_the_batch(monkeypatch):
    short = Rules(target_score=25)
    monkeypatch.setattr(counting, "Games", lambda count, rules, **rest: Games(count, short, **rest))
    bots = [SimpleBot(10), SimpleBot(0)]
    done: list[int] = []
    first = counting.count_frequencies(3, 5, bots, done.append)
    assert sum(done) == 3
    assert first.metadata["turns"] * 25 < first.seen.sum() < first.metadata["turns"] * 42
    assert 9 * first.metadata["turns"] <= first.held.sum() <= 10 * first.metadata["turns"]
    described = {"games": 3, "opponents": ["simple", "simple:knock_at=0"], "seed": 5}
    assert described.items() <= first.metadata.items()
    assert "bayes OUTPUT --games 3 --seed 5 --opponents simple+simple" in first.metadata["command"]
    monkeypatch.setattr(counting, "GAMES_PER_BATCH", 1)
    alone = counting.count_frequencies(3, 5, bots[:1])
    monkeypatch.setattr(counting, "GAMES_PER_BATCH", 2)
    together = by_name.train_estimator("bayes", 3, 5, ["simple"])
    assert np.array_equal(alone.seen, together.seen)
    assert np.array_equal(alone.held_before, together.held_before)
    assert not np.array_equal(first.seen, alone.seen), "each seat draws one of two opponents at random"
    for bad in (0, 2.5, True):
        with pytest.raises(ValueError, match="games must be positive"):
            counting.count_frequencies(bad)
