"""Shapley values of the cards of a hand."""

from __future__ import annotations

import numpy as np
from hands_in_words import ids

from research.papers.gallucci2021 import card_values


def test_cards_are_melded_in_a_pair_or_alone():
    """8C is alone: 6C, two ranks away, is melded. So is 6D, three ranks from 9D."""
    hand = np.array(ids("4C 5C 6C 8C 9H 9D JS 6D KS 3S"))
    kinds = [*["melded"] * 3, "alone", *["in a pair"] * 3, "alone", "in a pair", "alone"]
    assert card_values.card_kinds(hand) == kinds


def test_cards_come_into_the_same_deal_one_by_one(monkeypatch):
    """If each card is worth its place in the hand in points, these are its values in every order."""
    hand, orders = np.array(sorted(ids("4C 5C 6C 8H 8S 2D AH JD KS 9D"))), 4
    dealers, opponents = [], []

    def play_to_the_end(games):
        cards = games.state["private"]["hand"]
        held = cards[:, :1] >> hand.astype(np.uint64) & np.uint64(1)
        assert held.sum(axis=1).tolist() == [*range(11)] * orders
        games.results["points"] = held.astype(int) @ np.arange(1, 11)
        games.results["winner"] = 0
        dealers.extend(games.state["public"]["dealer"].reshape(orders, 11).tolist())
        opponents.extend(cards[:, 1].reshape(orders, 11).tolist())

    monkeypatch.setattr(card_values, "play_to_the_end", play_to_the_end)
    values = card_values.play_subsets(hand, np.random.default_rng(1), orders, seed=2)
    assert values.tolist() == [[*range(1, 11)]] * orders
    assert dealers == [[0] * 11, [1] * 11] * 2
    assert [len(set(cards)) for cards in opponents] == [1] * orders
