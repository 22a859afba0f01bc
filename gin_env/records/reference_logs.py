"""Logs of the reference engine (tneller/gin-rummy-eaai) as records.

Its players choose their melds and lay off greedily; here both are done at their best. So the moves are the
same, and in one hand of fifty the points are not: `HandRecord.counted` holds what that engine counted.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from gin_env.game.actions import DRAW_STOCK, DRAW_UPCARD, KNOCK, PASS
from gin_env.game.cards import card_id
from gin_env.records.games import GameRecord, HandRecord, Player, RecordError, end_of_hand

SOURCE = "tneller/gin-rummy-eaai"


def is_reference_log(found: Any) -> bool:
    """Whether a line of JSON looks like a game of such a log."""
    return isinstance(found, dict) and "first_starter" in found and "hands" in found


def from_reference_log(found: dict[str, Any]) -> GameRecord:
    """The game of a line of such a log, played again.

    Raises RecordError for a line that is damaged, or that our rules cannot replay.
    """
    try:
        hands, scores = [], (0, 0)
        for logged in found["hands"]:
            hand = HandRecord(
                dealer=1 - int(logged["starter"]),
                scores=scores,
                deck=tuple(map(card_id, logged["deck"])),
                actions=tuple(_actions(logged["events"])),
            )
            hands.append(_with_end(hand, logged))
            scores = hands[-1].scores_after
            if scores != tuple(logged["scores"]):
                raise RecordError(f"hand {len(hands)}: the scores do not add up to {logged['scores']}")
        game = GameRecord(
            (Player("player 0"), Player("player 1")), tuple(hands), number=int(found["game"]), source=SOURCE
        )
        winner = found["winner"]
    except RecordError:
        raise
    except (KeyError, TypeError, ValueError, IndexError) as error:
        raise RecordError(f"this is no game of the reference engine's log ({error!r})") from error
    game.check()
    if game.winner != winner:
        raise RecordError(f"the winner is {winner!r}, but the hands give {game.winner!r}")
    return game


def _with_end(hand: HandRecord, logged: dict[str, Any]) -> HandRecord:
    """The hand with its end as our rules have it, and what the log counted where it differs."""
    end = GameRecord((Player(""), Player("")), (hand,), episode="hand").positions()[-1].state["public"][0]
    ended = replace(hand, **end_of_hand(end))
    if ended.winner is None:
        return ended
    counted = int(logged["winner"]), int(logged["points"])
    return replace(ended, counted=None if counted == (ended.winner, ended.points) else counted)


def _actions(events: list[dict[str, Any]]) -> list[int]:
    """The actions of a hand; a knock is logged as a discard and then a knock."""
    found = []
    for event in events:
        if event["t"] == "pass":
            found.append(PASS)
        elif event["t"] == "draw":
            found.append(DRAW_UPCARD if event["up"] else DRAW_STOCK)
        elif event["t"] == "discard":
            found.append(card_id(event["c"]))
        elif event["t"] == "knock":
            found[-1] += KNOCK
    return found
