"""Candidate observations: layout, values, output arrays and hidden information."""

from __future__ import annotations

from functools import partial
from itertools import combinations, permutations

import numpy as np
import pytest
from brute_force import is_meld
from gymnasium.vector.utils import batch_space
from hands_in_words import ONE_GAME, Table, ids, started
from played_positions import POLICIES, played

from gin_env import cards, melds
from gin_env.batch import Games
from gin_env.envs.encoder import Encoder
from gin_env.game.actions import DRAW_STOCK, DRAW_UPCARD, KNOCK, PASS
from gin_env.game.rules import Rules
from gin_env.game.state import DISCARD
from gin_env.observations import candidates


def test_layout_covers_a_row_without_gaps():
    ends = [0]
    for part in candidates.LAYOUT.values():
        assert part.start == ends[-1]
        ends.append(part.stop)
    assert ends[-1] == candidates.NUM_FEATURES
    assert len(candidates.CONTEXT) == candidates.NUM_CONTEXT
    assert list(candidates.MEANINGS) == list(candidates.LAYOUT)


def test_part_returns_a_view_of_the_rows():
    rows = np.arange(2 * 11 * candidates.NUM_FEATURES, dtype=np.float32).reshape(2, 11, -1)
    knock_outs, ranks = candidates.part(rows, "knock_outs"), candidates.part(rows, "rank")
    assert (knock_outs.shape, ranks.shape) == ((2, 11), (2, 11, 13))
    np.testing.assert_array_equal(knock_outs, rows[:, :, 5])
    np.testing.assert_array_equal(ranks, rows[:, :, 12:25])
    assert np.shares_memory(knock_outs, rows)
    assert np.shares_memory(ranks, rows)
    with pytest.raises(ValueError, match="unknown part 'luck'; the parts of a row are deadwood, may_knock"):
        candidates.part(rows, "luck")
    with pytest.raises(ValueError, match=r"rows must have shape \(\.\.\., 59\), not \(2, 11, 13\)"):
        candidates.part(ranks, "rank")


def test_spaces_contain_scores_far_above_a_low_target():
    games = started(2, Rules(target_score=1, gin_bonus=1000), episode="game")
    games.state["public"]["scores"] = 30_000
    for entry, array in zip(candidates.ENTRIES, games.candidates(games.everyone), strict=True):
        assert batch_space(Encoder(Games(), candidates=True).space()[entry], 2).contains(array)


@pytest.mark.parametrize("name", list(POLICIES))
@pytest.mark.compiled
def test_spaces_contain_all_candidates(name):
    games = played(name).games()
    spaces = Encoder(Games(), candidates=True).space()
    for player in (0, 1):
        arrays = games.candidates(games.everyone, player=player)
        for entry, array in zip(candidates.ENTRIES, arrays, strict=True):
            assert batch_space(spaces[entry], len(games)).contains(array)
            assert array.max() > 0


@pytest.mark.compiled
def test_games_and_views_offer_exactly_the_legal_actions():
    games = played("simple").games()
    rows, actions, table = games.candidates(games.everyone)
    view = games.views(games.everyone)
    for ours, theirs in zip((rows, actions, table), view.candidates(), strict=True):
        np.testing.assert_array_equal(ours, theirs)
    offered = np.zeros((len(games), 108), np.int8)
    np.put_along_axis(offered, actions.reshape(len(games), -1), 1, axis=1)  # no action: the last column
    np.testing.assert_array_equal(offered[:, :107], games.masks(games.everyone))
    assert not rows[(actions == candidates.NO_ACTION).all(axis=2)].any()


@pytest.mark.compiled
def test_candidates_overwrite_the_callers_arrays():
    games = played("simple").games()
    expected = games.candidates(games.everyone)
    arrays = [np.full_like(array, 7) for array in expected]
    for array, returned, right in zip(
        arrays, games.candidates(games.everyone, *arrays), expected, strict=True
    ):
        assert returned is array
        np.testing.assert_array_equal(array, right)


@pytest.mark.parametrize("which", range(3))
@pytest.mark.parametrize("wrong", [[1], 3, np.float32(3), np.zeros(5)], ids=str)
@pytest.mark.compiled
def test_other_objects_than_arrays_are_refused(which, wrong):
    games = played("simple").games()
    with pytest.raises(ValueError, match="must be an array with several dimensions"):
        games.candidates(games.everyone, *(wrong if each == which else None for each in range(3)))


@pytest.mark.parametrize("which", range(3))
@pytest.mark.compiled
def test_mismatched_output_arrays_are_refused(which):
    games = played("simple").games()
    arrays = list(games.candidates(games.everyone))
    locked = arrays[which].copy()
    locked.flags.writeable = False
    for wrong in (arrays[which][:-1], arrays[which].astype(np.float64), arrays[which][:, ::-1], locked):
        with pytest.raises(ValueError, match="must be a writable, contiguous"):
            games.candidates(
                games.everyone, *(wrong if each == which else array for each, array in enumerate(arrays))
            )


# --- Features recomputed from the layout -----------------------------------------------------------------


def value(card: int) -> int:
    return min(card % 13 + 1, 10)


def completing(hand: set[int], unseen: set[int]) -> set[int]:
    return {card for card in unseen if any(is_meld((card, *two)) for two in combinations(hand, 2))}


def loose_cards(hand: set[int]) -> set[int]:
    return hand - {card for meld in melds.best_melds(cards.mask_of(hand)) for card in ids(" ".join(meld))}


def hand_numbers(hand: set[int], least: int, unseen: set[int], limit: int) -> dict[str, float]:
    """Return the hand features; after each draw, the highest unrelated loose card is discarded."""
    deadwood, loose = melds.deadwood(cards.mask_of(hand)), loose_cards(hand)
    highest = max(map(value, loose), default=0)
    after = {}
    for card in unseen:
        if card in completing(hand, unseen):
            near = {
                other
                for other in loose
                if card % 13 == other % 13 or (card // 13 == other // 13 and abs(card - other) <= 2)
            }
            goes = max(map(value, loose - near), default=0)
            after[card] = max(melds.deadwood(cards.mask_of({*hand, card})) - goes, 0)
        else:
            after[card] = min(deadwood, deadwood - highest + value(card))
    fits = completing(hand, unseen)
    fitting = [after[card] for card in fits]
    # A card that completes no meld replaces the highest loose card, which may still allow a knock.
    to_knock = fitting + [deadwood - highest + value(card) for card in unseen - fits]
    return {
        "deadwood": deadwood / 50,
        "may_knock": deadwood <= limit,
        "gin": deadwood == 0,
        "near_least": 1 / (1 + max(deadwood - least, 0)),
        "outs": sum(left < deadwood for left in fitting) / 12,
        "knock_outs": sum(left <= limit for left in to_knock) / len(unseen),
        "gin_outs": sum(left == 0 for left in fitting) / 6,
        "saving": sum(max(deadwood - left, 0) for left in after.values()) / len(unseen) / 5,
        "unmelded": len(loose) / 10,
        "highest": highest / 10,
        "low_cards": sum(value(card) <= 5 for card in hand) / 10,
        "completions": len(completing(loose, unseen)) / 12,
    }


def card_numbers(card: int, hand: set[int], unseen: set[int], table: Table, player: int) -> dict[str, object]:
    def members(name: str, whose: int) -> set[int]:
        return set(cards.cards_of(int(table.public[name][whose])))

    def around(group: set[int]) -> list[float]:
        rank = sum(other % 13 == card % 13 and other != card for other in group) / 3
        near = [card + step in group and (card + step) // 13 == card // 13 for step in (-1, 1, -2, 2)]
        return [rank, *map(float, near)]

    shown = members("shown", 1 - player)
    possible = [two for two in combinations((unseen | shown) - {card}, 2) if is_meld((card, *two))]
    sets = sum(two[0] % 13 == two[1] % 13 for two in possible)
    return {
        "rank": [float(card % 13 == rank) for rank in range(13)],
        "sets_for_opponent": sets / 3,
        "runs_for_opponent": (len(possible) - sets) / 3,
        "around_shown_by_opponent": around(shown),
        "around_discarded_by_opponent": around(members("discarded", 1 - player)),
        "around_declined_by_opponent": around(members("declined", 1 - player)),
        "around_discarded_by_player": around(members("discarded", player)),
        "around_in_hand": around(hand),
        "around_unseen": around(unseen),
        "in_pile": float(int(table.public["pile"]) >> card & 1),
    }


def expected_rows(table: Table) -> dict[tuple[int, int], dict[str, object]]:
    """Return the features of each candidate by its actions, for the player to move."""
    public, player = table.public, int(table.public["to_move"])
    hand = set(cards.cards_of(int(table.games.state["private"]["hand"][0, player])))
    shown = int(public["shown"][1 - player])
    known = hand | set(cards.cards_of(int(public["pile"]) | shown))
    unseen, limit = set(range(52)) - known, table.games.rules.knock_limit

    def leaves(cards_held: set[int]) -> int:
        return melds.deadwood(cards.mask_of(cards_held))

    if public["phase"] == DISCARD:
        reached = [(card, hand - {card}) for card in hand if card != public["taken"]]
        least = min(leaves(left) for _, left in reached)
        named = [
            ((card, KNOCK + card if leaves(left) <= limit else -1), card, left) for card, left in reached
        ]
    else:
        upcard = int(public["upcard"])
        gone = min(sorted(hand), key=lambda card: (leaves({*hand, upcard} - {card}), -value(card)))
        taken = {*hand, upcard} - {gone}
        least = min(leaves(taken), leaves(hand))
        decline = PASS if "pass" in table.legal else DRAW_STOCK
        named = [((DRAW_UPCARD, -1), upcard, taken), ((decline, -1), upcard, hand)]
    return {
        actions: hand_numbers(left, least, unseen, limit)
        | card_numbers(card, left, unseen, table, player)
        | {"leaves_upcard": float(actions[0] in (PASS, DRAW_STOCK))}
        for actions, card, left in named
    }


def latest_discards(table: Table, player: int) -> list[float]:
    """Return the points / 10 of a player's three latest discards in the pile, latest first, padded with 0."""
    turns = table.public["discard_turn"]
    mine = cards.cards_of(int(table.public["discarded"][player]))
    latest = sorted(mine, key=lambda card: int(turns[card]), reverse=True)[:3]
    return [cards.CARD_VALUES[card] / 10 for card in latest] + [0] * (3 - len(latest))


def test_latest_discards_are_ordered_by_their_turns():
    table = Table("2C 3C 4C 5H 6H 7H 9C KS AD 2D", "KH KC JS 8C 8H 4D 5D QD 2S 6S", "TD", "TS 3H QC", 1)
    discards = sorted(ids("AC 3D 7C 9H"))
    table.public["discarded"][1] = cards.mask_of(discards)
    for turns in permutations(range(4)):
        table.public["discard_turn"][discards] = turns
        context = table.games.candidates(ONE_GAME)[2][0]
        assert context[4:7].tolist() == pytest.approx(latest_discards(table, 1)), turns


def mean_of_unseen(table: Table, player: int) -> float:
    hand = int(table.games.state["private"]["hand"][0, player])
    known = hand | int(table.public["pile"]) | int(table.public["shown"][1 - player])
    return float(np.mean([cards.CARD_VALUES[card] for card in range(52) if not known >> card & 1]))


MOVES = "pass pass draw KS take QD draw TS take KC draw QC draw KH take"


@pytest.mark.parametrize("limit", [10, 45])
def test_features_match_an_independent_computation(limit):
    table = Table(
        "2C 3C 4C 5H 6H 7H 9C KS AD 2D",
        "KH KC JS 8C 8H 4D 5D QD 2S 6S",
        "TD",
        "TS 3H QC 9D",
        1,
        Rules(knock_limit=limit),
    )
    table.public["scores"] = (20, 35)
    for move in ("", *MOVES.split()):
        if move:
            table.play(move)
        written = table.games.candidates(ONE_GAME)
        rows, actions, numbers = (array[0] for array in written)
        player = int(table.public["to_move"])
        for ours, theirs in zip(written, table.games.views(ONE_GAME).candidates(), strict=True):
            assert np.array_equal(ours, theirs)
        waiting = table.games.views(ONE_GAME, 1 - player).candidates()
        assert not waiting[0].any()
        assert (waiting[1] == candidates.NO_ACTION).all()
        own = list(candidates.CONTEXT).index("own_score")
        assert waiting[2][0, own : own + 2].tolist() == numbers[own : own + 2].tolist()[::-1]
        few = written[0][:, :2].copy(), written[1][:, :2].copy()
        for write in (partial(table.games.candidates, ONE_GAME), table.games.views(ONE_GAME).candidates):
            if table.phase == "discard":
                with pytest.raises(ValueError, match="a player has to discard: the candidates need 11 rows"):
                    write(*few)
            else:
                assert write(*few)[0] is few[0]
                assert np.array_equal(few[0], written[0][:, :2])
        scores = table.public["scores"].tolist()
        assert numbers.tolist() == pytest.approx(
            [
                table.public["stock_left"] / 31,
                table.public["turn"] / 40,
                int(table.public["shown"][1 - player]).bit_count() / 5,
                float(table.phase == "opening offer"),
                *latest_discards(table, 1 - player),
                mean_of_unseen(table, player) / 10,
                scores[player] / 100,
                scores[1 - player] / 100,
                limit / 10,
                0.0,
                1.0,
                1.0,
            ]
        )
        if table.phase == "draw from the stock":
            assert actions[1, 0] == DRAW_STOCK
            assert not rows.any()
            continue
        expected = expected_rows(table)
        found = {
            tuple(pair): row for pair, row in zip(actions.tolist(), rows, strict=True) if pair != [-1, -1]
        }
        assert set(found) == set(expected), move
        for pair, row in found.items():
            for name, number in expected[pair].items():
                told = row[candidates.LAYOUT[name]].tolist()
                wanted = np.atleast_1d(number).astype(float).tolist()
                assert told == pytest.approx(wanted, abs=1e-6), (move, pair, name)
