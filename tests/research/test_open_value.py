"""Training of the network of what a hand is worth with all cards open."""

import numpy as np
import pytest

pytest.importorskip("torch")

from gin_env import cards
from gin_env.game.state import VOID
from gin_env.matches.luck import CHANCE
from gin_env.matches.open_value import NUM_CLASSES
from research.recipes import open_value
from research.recipes.open_value import PAIRS, classes_of, collect_positions, permute_suits, train_value


def test_classes_of_results():
    assert classes_of(np.array([-70, -4, 0, 4, 5, 60])).tolist() == [0, 10, 11, 12, 13, 22]


@pytest.mark.compiled
def test_points_are_those_of_the_player_to_move(monkeypatch):
    """The hands that player 0 wins are made void, which is worth nothing to either player."""
    played = []

    class Kept(open_value.Games):
        def until_over(self):
            yield from super().until_over()
            self.results["outcome"][self.results["winner"] == 0] = VOID
            played.append(self.results)

    monkeypatch.setattr(open_value, "Games", Kept)
    found, points = collect_positions("simple", "random-discard", 40, 3)
    ended = played[0][found["deal"]]
    signs = np.where(ended["outcome"] == VOID, 0, np.where(found["is_a"], -1, 1))
    assert (points == signs * ended["points"].astype(int)).all()
    winners = played[0]["winner"]
    assert (winners[::2] == 0).sum() > (winners[1::2] == 0).sum(), "`simple` changes its seat"


def test_suits_of_all_cards_are_permuted_alike():
    position, order = np.zeros(2, CHANCE), 0b00_11_10_01  # H -> S -> D -> C -> H, by the number of the suit
    fields = ("mover", "other", "pile", "mover_shown", "other_shown")
    texts = ("AC KD", "2H 2S", "3D", "4S 5C", "JH")
    for name, text in zip(fields, texts, strict=True):
        position[name] = cards.parse(text)
    permute_suits(position, np.array([order, 0b11_10_01_00]))
    for name, text in zip(fields, texts, strict=True):
        moved = [(card + 13) % 52 for card in cards.cards_of(cards.parse(text))]
        assert sorted(cards.cards_of(int(position[name][0]))) == sorted(moved)
        assert position[name][1] == cards.parse(text)


def test_each_pair_has_its_own_hands_and_held_out_positions_are_not_learned(monkeypatch):
    collected, learned = [], []

    def collect(a, b, hands, seed):
        collected.append((a, b, hands, seed))
        positions = np.zeros(20, CHANCE)
        positions["deal"], positions["card"] = 20 * len(collected) + np.arange(20), [-1, 3] * 10
        return positions, positions["deal"] % 7 - 3

    def fit(network, positions, points, steps, random, tell):
        assert (points == positions["deal"] % 7 - 3).all()
        learned.extend(positions["deal"].tolist())
        network.points[:] = 0

    judged = []

    def probabilities(network, positions):
        judged.append(positions)
        return np.ones((len(positions), NUM_CLASSES), np.float32)

    monkeypatch.setattr(open_value, "collect_positions", collect)
    monkeypatch.setattr(open_value, "_fit", fit)
    monkeypatch.setattr(open_value, "provenance", lambda *_: {})
    monkeypatch.setattr(open_value.OpenValue, "probabilities", probabilities)
    metadata = train_value(10, 100, seed=5).metadata
    assert [one[:3] for one in collected] == [(a, b, 10 * share) for a, b, share in PAIRS]
    assert len({seed for *_, seed in collected}) == len(PAIRS)
    deals, held_out = judged
    assert set(learned).isdisjoint(held_out["deal"].tolist())
    assert len(learned) + len(held_out) == metadata["positions"] == 20 * len(PAIRS)
    assert sorted(deals["deal"].tolist()) == sorted(deal for deal in learned if deal % 2 == 0)
    assert metadata["explained"] == 0
