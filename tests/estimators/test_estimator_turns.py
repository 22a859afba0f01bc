"""Estimators and the opponent's turns: one history, worked out by hand, from both seats."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from bot_positions import mask, view_of
from hands_in_words import ONE_GAME, Table, ids

from gin_env import PlayerView, Rules, cards, estimators
from gin_env.estimators.base import is_observed
from gin_env.estimators.declared_estimators import ESTIMATORS
from gin_env.estimators.neural import NUM_INPUTS, turn_inputs, walk_turns
from gin_env.estimators.public_history import (
    CARD_FEATURES,
    OPPONENT_TURN,
    POSITION_FEATURES,
    card_features,
    first_hands,
    known_cards,
    opponent_turns,
)
from gin_env.estimators.risk import discard_risks
from gin_env.estimators.turn_buckets import BUCKETS, Frequencies, find_table, write_products
from gin_env.observations.knowledge import write_odds_with_sum
from gin_env.support.array_files import ArrayFileError

FIRST = "2C 3C 4C 5H 6H 7H 9C KS AD 2D"
SECOND = "KH KC JS 8C 8H 4D 5D QD 2S 6S"
MOVES = "pass pass draw KS take QD draw 9C draw 6S take TS draw KS".split()  # noqa: SIM905
"""The first player draws TS and 3H from the stock and takes 6S; the second takes KS, draws 7S and 4S."""
TURNS_OF_SECOND = [
    # (upcard, took, discard, certainly held, certainly not held)
    ("KS", True, "QD", "KS", "2C 3C 4C 5H 6H 7H 9C TS AD 2D TD QD"),
    ("9C", False, "6S", "KS", "2C 3C 4C 5H 6H 7H 3H TS AD 2D TD QD 9C 6S"),
    ("TS", False, "KS", "", "2C 3C 4C 5H 6H 7H 3H 6S AD 2D TD QD 9C TS KS"),
]
TURNS_OF_FIRST = [
    ("TD", False, "KS", "", "KH KC JS 8C 8H 4D 5D QD 2S 6S TD KS"),
    ("QD", False, "9C", "", "KH KC JS 8C 8H 4D 5D KS 2S 6S TD QD 9C"),
    ("6S", True, "TS", "6S", "KH KC JS 8C 8H 4D 5D KS 2S 7S TD QD 9C TS"),
]
both_seats = pytest.mark.parametrize("seat", [0, 1])


def table_of(seat: int, moves: int = len(MOVES)) -> Table:
    """Return the position after a number of moves, with the first player in this seat."""
    hands = (FIRST, SECOND) if seat == 0 else (SECOND, FIRST)
    return Table(*hands, "TD", "TS 3H 7S 4S 3D 9H", dealer=1 - seat).play(*MOVES[:moves])


def views(seat: int, player: int, moves: int = len(MOVES)) -> PlayerView:
    """Return the view of the first player (0) or the second (1)."""
    return table_of(seat, moves).games.views(ONE_GAME, seat if player == 0 else 1 - seat)


# --- Turns ----------------------------------------------------------------------------------------------


@both_seats
@pytest.mark.parametrize(("player", "expected"), [(0, TURNS_OF_SECOND), (1, TURNS_OF_FIRST)])
def test_opponents_turns_contain_what_the_player_saw(seat, player, expected):
    turns, counts = opponent_turns(views(seat, player))
    assert counts.tolist() == [3]
    for turn, (upcard, took, discard, held, out) in zip(turns[0], expected, strict=True):
        assert [cards.card_text(turn["upcard"]), bool(turn["took"])] == [upcard, took]
        assert cards.card_text(turn["discard"]) == discard
        assert (int(turn["held"]), int(turn["out"])) == (mask(held), mask(out))
    assert first_hands(views(seat, player)).tolist() == [mask((FIRST, SECOND)[player])]


@both_seats
def test_partly_known_hand_is_reconstructed_as_dealt(seat):
    for moves in range(1, len(MOVES) + 1):
        dealt = [int(first_hands(views(seat, player, moves))[0]) for player in (0, 1)]
        assert dealt == [mask(FIRST), mask(SECOND)], moves


def test_cards_outside_the_deck_are_never_held():
    table = Table("AC 2C", "AH 2H", "3C", "3H 4C 4H", rules=Rules(ranks=5, suits=2, hand_size=2))
    table.play("pass", "pass", "draw", "3H", "draw", "4C")
    turns, _ = opponent_turns(table.games.views(ONE_GAME, 0))
    assert int(turns[0, 0]["out"]) == cards.FULL_DECK & ~mask("AH 2H 4H 5C 5H")


def features(
    seat: int, player: int = 0, moves: int = len(MOVES)
) -> tuple[dict[str, dict[str, float]], dict[str, float]]:
    """Return the card features other than 0, by feature and card, and the features of the table."""
    planes, table = card_features(views(seat, player, moves))
    named = {}
    for name, plane in zip(range(len(CARD_FEATURES)), planes[0].reshape(-1, 52), strict=True):
        named[name] = {cards.card_text(card): float(plane[card]) for card in np.flatnonzero(plane).tolist()}
    return named, dict(zip(POSITION_FEATURES, table[0].tolist(), strict=True))


@both_seats
def test_card_features_match_a_worked_example(seat):
    """Six turns are complete; the opponent's are the second, fourth and sixth."""
    found, _ = features(seat)
    hand, pile = "2C 3C 4C 5H 6H 7H 3H 6S AD 2D", "TD QD 9C TS KS"
    unseen = cards.FULL_DECK & ~mask(hand) & ~mask(pile)
    expected = [
        *(dict.fromkeys(text.split(), 1) for text in (hand, pile, "KS", "", "6S", cards.format(unseen))),
        {"QD": 1, "6S": 1, "KS": 1},
        {"QD": 1 / 5, "6S": 1 / 3, "KS": 1},
        {"QD": 2 / 30, "6S": 4 / 30, "KS": 6 / 30},
        {"QD": 1},
        {"TD": 1, "9C": 1, "TS": 1},
        {"TD": 1 / 7, "9C": 1 / 4, "TS": 1 / 2},
        {"9C": 3 / 30, "TS": 5 / 30},
        {"KS": 1},
        {"KS": 1 / 6},
        {"KS": 1 / 30},
    ]
    for number, plane in enumerate(expected):
        assert found[number] == pytest.approx(plane), CARD_FEATURES[number]
    early, _ = features(seat, moves=5)  # the opponent has taken the only upcard
    assert (early[2], early[3]) == ({}, {"KS": 1})
    for number, points in ((16, 10), (17, 6)):
        for card in range(52):
            difference = (min(card % 13 + 1, 10) - points) / 10
            assert found[number].get(cards.card_text(card), 0) == pytest.approx(difference)


@both_seats
@pytest.mark.parametrize(
    ("player", "moves", "expected"),
    [
        (0, 0, [0, 31, 1, 0, 10, 41, 0, 0, 0, 1, 1]),  # the opening offer
        (0, 5, [1, 30, 1, 1, 10, 40, 1, 0, 0, 0, 0]),  # the opponent has taken KS and must discard
        (0, 6, [2, 30, 1, 0, 9, 39, 1, 10, 10, 0, 1]),
        (0, 14, [6, 27, 1, 0, 10, 37, 1, 10, 6, 0, 1]),
        (1, 5, [1, 30, 0, 0, 10, 40, 0, 10, 10, 0, 1]),  # the opponent has discarded KS, which was then taken
    ],
)
def test_table_features_match_a_worked_example(seat, player, moves, expected):
    scales = [30, 31, 1, 1, 10, 42, 5, 10, 10, 1, 1]
    _, table = features(seat, player, moves)
    shares = [value / scale for value, scale in zip(expected, scales, strict=True)]
    assert list(table.values()) == pytest.approx(shares)


def test_first_card_of_the_deck_can_be_the_upcard():
    table = Table("2C 3C 4C 5H 6H 7H 9C KS AD 2D", SECOND, "AC", dealer=1)
    planes, _ = card_features(table.games.views(ONE_GAME, 0))
    assert np.flatnonzero(planes[0, 2]).tolist() == [0]


# --- Inputs of the network of nn ------------------------------------------------------------------------


def one_hot(text: str) -> list[int]:
    return [int(card == cards.card_id(text)) for card in range(52)]


def expected_inputs(number: int, before: float) -> list[float]:
    """Inputs for the turns of the second player; `before` is the estimate of the unknown cards."""
    upcard, took, discard, held, out = TURNS_OF_SECOND[number]
    known = {**dict.fromkeys(ids(held), 1), **dict.fromkeys(ids(out), 0)}
    return [*one_hot(upcard), int(took), *one_hot(discard), *(known.get(card, before) for card in range(52))]


def test_inputs_are_the_turn_and_the_previous_estimate():
    view = views(0, 0)
    turns, _ = opponent_turns(view)
    for number, uniform in enumerate((9 / 39, 9 / 37, 10 / 37)):
        inputs = turn_inputs(turns[:, number], None, view)
        assert inputs.shape == (1, NUM_INPUTS)
        assert inputs[0].tolist() == pytest.approx(expected_inputs(number, uniform))
        given = turn_inputs(turns[:, number], np.full((1, 52), 0.3), view)
        assert given[0].tolist() == pytest.approx(expected_inputs(number, 0.3))


def test_each_view_has_the_hand_size_of_its_rules():
    view = PlayerView(np.concatenate([views(0, 0).array, views(0, 0).array]))
    view.array["public"]["rules"]["hand_size"] = 7, 10
    turns, _ = opponent_turns(view)
    before = turn_inputs(turns[:, 0], None, view)[:, -52:]
    alone = [turn_inputs(turns[[index], 0], None, view[[index]])[0, -52:] for index in range(2)]
    assert np.array_equal(before, alone)
    assert before[0].sum() < before[1].sum()


def two_views() -> PlayerView:
    """Return a view whose opponent has completed three turns, and one with a single turn."""
    return PlayerView(np.concatenate([views(0, 0).array, views(0, 0, 6).array]))


@pytest.mark.parametrize(
    ("done", "seen"),
    [
        # What predict is given before each turn: None for the uniform estimate; 0.5 is left from before.
        ([0, 0], [[(0, None), (0, None)], [(1, 0.1)], [(2, 0.2)]]),
        ([1, 0], [[(0, None)], [(1, 0.5)], [(2, 0.2)]]),
        ([2, 1], [[(2, 0.5)]]),
        ([3, 1], []),
    ],
)
def test_only_new_turns_are_processed(done, seen):
    asked = []

    def predict(rows: np.ndarray) -> np.ndarray:
        asked.append(rows)
        return np.full((len(rows), 52), 0.1 * (1 if seen[len(asked) - 1][0][0] == 0 else 2))

    estimate = np.full((2, 52), 0.5)
    inputs = walk_turns(two_views(), predict, np.array(done), estimate)
    assert len(asked) == len(seen)
    for rows, expected in zip(asked, seen, strict=True):
        assert len(rows) == len(expected)
        for row, (number, before) in zip(rows, expected, strict=True):
            uniform = (9 / 39, 9 / 37, 10 / 37)[number]
            assert row.tolist() == pytest.approx(
                expected_inputs(number, uniform if before is None else before)
            )
    last = [0.2 if done[0] < 3 else 0.5, 0.1 if done[1] < 1 else 0.5]
    assert estimate.tolist() == [[pytest.approx(value)] * 52 for value in last]
    if done[0] < 3:
        assert inputs[0].tolist() == asked[-1][0].tolist()


def test_without_a_network_the_estimate_before_each_turn_is_uniform():
    estimate = np.full((2, 52), 0.5)
    inputs = walk_turns(two_views(), None, np.zeros(2, int), estimate)
    assert inputs[0].tolist() == pytest.approx(expected_inputs(2, 10 / 37))
    assert inputs[1].tolist() == pytest.approx(expected_inputs(0, 9 / 39))
    assert (estimate == 0.5).all()


# --- Products of factors: bayes and bayes-isru ------------------------------------------------------------

FACTORS = np.random.default_rng(4).uniform(0.3, 3.0, BUCKETS)


def product(card: int, turns: list[tuple], factors: np.ndarray) -> float:
    """Return the product of the card's factors. Relations: 0 both suits, 1 upcard's, 2 discard's, 3 and 4."""
    found = 1.0
    suit = cards.card_text(card)[1]
    for upcard, took, discard, *_ in turns:
        with_upcard, with_discard = suit == upcard[1], suit == discard[1]
        if with_upcard or with_discard:
            relation = 0 if with_upcard and with_discard else 1 if with_upcard else 2
        else:
            relation = 3 if upcard[1] == discard[1] else 4
        ranks = cards.card_id(upcard) % 13, cards.card_id(discard) % 13, card % 13
        found *= factors[(int(took), *ranks, relation)]
    return found


@both_seats
@pytest.mark.parametrize(("player", "turns"), [(0, TURNS_OF_SECOND), (1, TURNS_OF_FIRST)])
def test_factors_of_the_opponents_turns_are_multiplied(seat, player, turns):
    products = np.zeros(52)
    who = seat if player == 0 else 1 - seat
    for moves in (0, 6, 8, 13, 14):  # after its own turns nothing changes, after the opponent's it does
        write_products(view_of(table_of(seat, moves))["public"], who, FACTORS, products)
        over = sum(1 for at in ((6, 10, 14), (4, 8, 12))[player] if at <= moves)
        expected = [product(card, turns[:over], FACTORS) for card in range(52)]
        assert products.tolist() == pytest.approx(expected), moves


def made_up_table(path) -> Frequencies:
    rng = np.random.default_rng(6)
    seen = rng.integers(100, 1000, BUCKETS)
    table = Frequencies(
        seen,
        rng.integers(1, seen),
        np.arange(400, 413),
        np.arange(90, 103),
        {"games": 5, "turns": 70, "opponents": ["a", "b"], "seed": 3},
    )
    table.save(path)
    return table


@both_seats
def test_bayes_estimators_turn_products_into_probabilities(seat, tmp_path):
    path = tmp_path / "table.npz"
    table = made_up_table(path)
    seen, held = table.seen.astype(float), table.held.astype(float)
    before = np.arange(90, 103) / np.arange(400, 413)
    view = views(seat, 0, 13)  # certainly holds KS and ten of 37 other cards after drawing
    turns = TURNS_OF_SECOND[:2]
    unseen = [card for card in range(52) if known_cards(view)[1][0, card]]

    isru = estimators.make("bayes-isru", table=path, alpha=2.0).estimate(view)[0]
    factors = held / seen / before[:, None]
    for card in unseen:
        likelihood = 10 / 37 * product(card, turns, factors)
        assert isru[card] == pytest.approx(likelihood / (2 + likelihood**2) ** 0.5, rel=1e-5)
    assert isru[ids("KS 6S TD QD AD")].tolist() == [1, 0, 0, 0, 0]

    bayes = estimators.make("bayes", table=path).estimate(view)[0]
    for counts in (seen, held):
        counts[..., 3:] = counts[..., 3:].sum(axis=-1, keepdims=True)
    factors = (held + 0.5) / (seen - held + 0.5) / (before / (1 - before))[:, None]
    factors = np.clip(factors, 0.01, 100)
    scales = [bayes[card] / (1 - bayes[card]) / product(card, turns, factors) for card in unseen]
    assert scales == pytest.approx([scales[0]] * 37, rel=1e-4)
    assert bayes[unseen].sum() == pytest.approx(10, rel=1e-4)
    assert bayes[ids("KS 6S TD QD AD")].tolist() == [1, 0, 0, 0, 0]
    assert str(Frequencies.load(path)).startswith("70 turns of 5 games, a+b, seed 3: 21,970 of 21,970")


@both_seats
def test_uniform_spreads_missing_cards_over_unseen_ones(seat):
    estimate = estimators.make("uniform").estimate(views(seat, 0, 13))[0]
    unseen = known_cards(views(seat, 0, 13))[1][0]
    assert estimate[unseen].tolist() == pytest.approx([10 / 37] * 37)
    assert np.flatnonzero(estimate * ~unseen).tolist() == ids("KS")
    assert estimate[ids("KS")] == 1
    assert is_observed(estimators.make("uniform")), "observations hold it already"


@pytest.mark.parametrize(
    ("name", "at", "value"),
    [("held", 7, 5000), ("held_before", 3, 0), ("held_before", 3, 403), ("seen_before", 2, 50)],
)
def test_inconsistent_counts_raise(name, at, value, tmp_path):
    table = made_up_table(tmp_path / "table.npz")
    find_table(tmp_path / "table.npz")
    getattr(table, name).flat[at] = value
    table.save(tmp_path / "table.npz")
    with pytest.raises(ArrayFileError, match="its counts are inconsistent"):
        find_table(tmp_path / "table.npz")


def test_all_cards_of_a_rank_can_be_held_after_a_turn(tmp_path):
    table = made_up_table(tmp_path / "table.npz")
    table.held[:] = table.seen
    table.save(tmp_path / "table.npz")
    assert np.array_equal(find_table(str(tmp_path / "table.npz"))[0].held, table.seen)


def test_packaged_tables_are_named_after_their_players():
    assert "simple" in ESTIMATORS.packaged("bayes", "table")
    assert find_table("simple")[0].metadata["opponents"] == ["simple"]
    for wrong, error in (("nobody", ValueError), (3, TypeError), ("nobody.npz", FileNotFoundError)):
        with pytest.raises(error):
            find_table(wrong)


def test_single_unknown_card_is_estimated_exactly():
    turn = np.zeros(2, OPPONENT_TURN)
    turn["held"] = mask("AC 2C 3C 4C 5C 6C 7C 8C 9C")
    turn["out"] = cards.FULL_DECK & ~mask("AC 2C 3C 4C 5C 6C 7C 8C 9C TC"), ~turn["held"][1]
    view = PlayerView(np.concatenate([views(0, 0).array] * 2))
    before = turn_inputs(turn, None, view)[:, -52:]
    assert before[:, :10].tolist() == [[1] * 10, [1] * 9 + [0]]
    assert not before[:, 10:].any()


# --- From odds to probabilities, and risks ----------------------------------------------------------------


def test_odds_become_probabilities_with_the_right_sum():
    odds = np.random.default_rng(3).uniform(0.1, 5, 52)
    unseen, known = mask("2C 5H 9D KS 7C AS QH"), mask("3C 4H")
    inside = ids("2C 5H 9D KS 7C AS QH")
    for scale in (0.02, 1.0, 40.0):
        expected = scale * odds[inside] / (1 + scale * odds[inside])
        row, buffer = np.full(52, 9, np.float32), np.empty(52)
        # The kernel takes whole numbers of cards in play; here any total.
        write_odds_with_sum(odds, unseen, known, expected.sum(), buffer, row)
        assert row[inside].tolist() == pytest.approx(expected.tolist(), rel=1e-3)
        assert row[inside].sum() == pytest.approx(expected.sum(), rel=2e-5)
        assert row[ids("3C 4H")].tolist() == [1, 1]
        assert not np.delete(row, inside + ids("3C 4H")).any()


@pytest.mark.parametrize(("total", "share"), [(0, 0), (7, 1), (8, 1)])
def test_opponent_can_hold_none_or_all_of_the_unseen_cards(total, share):
    row = np.empty(52, np.float32)
    unseen = mask("2C 5H 9D KS 7C AS QH")
    write_odds_with_sum(np.ones(52), unseen, mask("3C"), total, np.empty(52), row)
    assert row[ids("2C 5H 9D KS 7C AS QH")].tolist() == [share] * 7
    assert row.sum() == 1 + 7 * share


def test_risk_is_the_sum_over_all_melds_of_three():
    p = np.random.default_rng(2).random(52).astype(np.float32)
    melds = [
        [suit * 13 + rank for suit in suits] for rank in range(13) for suits in combinations(range(4), 3)
    ]
    melds += [[suit * 13 + rank + k for k in range(3)] for suit in range(4) for rank in range(11)]
    risks = discard_risks(p[None])[0]
    for card in range(52):
        expected = sum(
            np.prod([p[other] for other in meld if other != card]) for meld in melds if card in meld
        )
        assert risks[card] == pytest.approx(expected, rel=1e-4)
