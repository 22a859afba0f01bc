"""Complete games of the reference engine (tneller/gin-rummy-eaai), replayed move by move.

The reference engine lays off greedily on melds chosen by its players. Ours defends optimally against the
arrangement chosen by our tie-break. Moves, masks and the knocker's deadwood therefore agree exactly, and the
points nearly always. Where they differ, ours are the best defence against a best arrangement of the knocker.
"""

from __future__ import annotations

from collections import Counter
from typing import Any

import brute_force
import numpy as np
import pytest
from hands_in_words import ONE_GAME, ids_of
from reference_data import reference, sample_and_whole

from gin_env import cards, melds
from gin_env.batch import Games
from gin_env.game.actions import DRAW_STOCK, DRAW_UPCARD, KNOCK, PASS
from gin_env.game.state import OUTCOME_NAMES, OVER

pytestmark = pytest.mark.compiled


def moves(events: list[dict[str, Any]]) -> list[tuple[int, int]]:
    """Return (player, action) of each event; the reference engine logs a knock as a discard, then a knock."""
    found = []
    for event, following in zip(events, [*events[1:], {"t": "end"}], strict=True):
        if event["t"] == "pass":
            found.append((event["p"], PASS))
        elif event["t"] == "draw":
            found.append((event["p"], DRAW_UPCARD if event["up"] else DRAW_STOCK))
        elif event["t"] == "discard":
            knock = KNOCK if following["t"] == "knock" else 0
            found.append((event["p"], cards.card_id(event["c"]) + knock))
    return found


def replay(games: Games, hand: dict[str, Any]) -> tuple[list[int], list[int]]:
    """Play the hand's moves; return the players' cards before the last action as masks."""
    public = games.state["public"][0]
    for player, action in moves(hand["events"]):
        assert public["phase"] != OVER
        assert public["to_move"] == player
        assert games.masks(ONE_GAME)[0, action] == 1, (hand, action)
        holding = [int(mask) for mask in games.state["private"]["hand"][0]]
        drawing = int(public["stock_left"])
        games.play(ONE_GAME, np.array([action]))
        if KNOCK <= action < DRAW_STOCK:
            holding[player] &= ~(1 << (action - KNOCK))
    draws = sum(1 for event in hand["events"] if event["t"] == "draw" and not event["up"])
    assert drawing == 31 - draws
    return holding


def points_of(knocker_deadwood: int, defender_deadwood: int) -> int:
    """Return the points of the knocker, negative if the defender scores."""
    difference = defender_deadwood - knocker_deadwood
    return difference if difference > 0 else difference - 25


def check_knock(hand: dict[str, Any], holding: list[int], deadwood: list[int], points: int) -> None:
    """Check both players' deadwood and the knocker's points in a hand that ended with a knock."""
    knocker = hand["knocker"]
    defender = 1 - knocker
    assert deadwood[knocker] == hand["knocker_dw"] == melds.deadwood(holding[knocker])
    logged = next(event["melds"] for event in hand["events"] if event["t"] == "knock")
    if hand["knocker_dw"] == 0:
        assert deadwood[defender] == hand["defender_dw"] == melds.deadwood(holding[defender])
        assert points == 25 + hand["defender_dw"]
        return
    # Against the logged melds, our defence is at least as good as the reference engine's.
    best = melds.layoff(logged, holding[defender])
    assert best <= hand["defender_dw"]
    hand_cards = frozenset(cards.cards_of(holding[knocker]))
    possible = {
        points_of(
            hand["knocker_dw"],
            melds.layoff([list(map(cards.card_text, meld)) for meld in arrangement], holding[defender]),
        )
        for arrangement in brute_force.best_arrangements(hand_cards)
    }
    assert points_of(hand["knocker_dw"], best) in possible
    assert points in possible
    assert points == points_of(hand["knocker_dw"], deadwood[defender])
    ours = melds.best_melds(holding[knocker])
    assert deadwood[defender] == melds.layoff(ours, holding[defender])


@sample_and_whole
@pytest.mark.parametrize("name", ["games.jsonl", "games_gin_only.jsonl"])
def test_complete_games_replay_move_by_move(name, whole):
    count: Counter[str] = Counter()
    games = Games(1, episode="game")
    public = games.state["public"][0]
    for number, line in enumerate(reference(name, whole)):
        games.start(ONE_GAME, np.array([number], np.uint64), np.zeros(1, np.uint64))
        scores = [0, 0]
        for index, hand in enumerate(line["hands"]):
            if index and not games.done[0]:
                assert public["dealer"] == 1 - hand["starter"], "the deal alternates after scored hands only"
            # Our better defence may have changed the points: continue with the logged scores.
            public["scores"] = scores
            games.set_deck(0, ids_of(hand["deck"]), 1 - hand["starter"])
            dealt = [cards.mask_of(ids_of(texts)) for texts in hand["deal"]]
            assert games.state["private"]["hand"][0].tolist() == dealt
            assert public["upcard"] == cards.card_id(hand["upcard"])
            before = games.rewards[0]
            holding = replay(games, hand)
            result = games.results[0]
            assert result["ended"]
            assert result["turns"] == hand["turns"]
            count["hands"] += 1
            outcome = OUTCOME_NAMES[result["outcome"]]
            if hand["result"] == "void":
                assert (outcome, result["winner"], result["points"]) == ("void", -1, 0)
                count["voids"] += 1
            else:
                assert result["knocker"] == hand["knocker"]
                points = int(result["points"])
                sign = 1 if result["winner"] == hand["knocker"] else -1
                check_knock(hand, holding, deadwoods(games, holding, hand), sign * points)
                count["scored"] += 1
                count["same winner"] += result["winner"] == hand["winner"]
                count["same points"] += (result["winner"], points) == (hand["winner"], hand["points"])
                count["same kind"] += outcome == hand["result"]
                paid = points / 100 if result["winner"] == 0 else -points / 100
                assert games.rewards[0] - before == pytest.approx(paid, abs=1e-5)
                if (result["winner"], points) == (hand["winner"], hand["points"]):
                    assert games.done[0] == (index == len(line["hands"]) - 1)
            scores = hand["scores"]
        assert max(scores) >= 100 > min(scores)
        assert scores.index(max(scores)) == line["winner"]
    assert count["voids"] > 0 or name == "games.jsonl"
    if whole:
        assert count["scored"] > 100
        assert count["same winner"] >= 0.995 * count["scored"]
        assert count["same kind"] >= 0.995 * count["scored"]
        # Where the points differ, our defence is better (confirmed by brute force) or the knocker's
        # arrangement is different.
        assert count["same points"] >= 0.97 * count["scored"]


def deadwoods(games: Games, holding: list[int], hand: dict[str, Any]) -> list[int]:
    """Return both players' final deadwood, by replaying the hand in a single-hand episode."""
    alone = Games(1)
    alone.set_deck(0, ids_of(hand["deck"]), 1 - hand["starter"])
    for _, action in moves(hand["events"]):
        alone.play(ONE_GAME, np.array([action]))
    assert alone.done[0]
    assert alone.results[0] == games.results[0]
    return alone.state["public"]["deadwood"][0].tolist()
