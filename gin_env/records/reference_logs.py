"""Logs of the reference engine (tneller/gin-rummy-eaai) as records.

That engine melds and lays off greedily; ours does both optimally. The moves are therefore the same, but in
one hand out of fifty the points are not: `HandRecord.counted` holds the points of that engine.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from gin_env.game.actions import DRAW_STOCK, DRAW_UPCARD, KNOCK, PASS
from gin_env.game.cards import card_id
from gin_env.game.rules import Rules
from gin_env.records.games import GameRecord, HandRecord, Player, RecordError, with_end
from gin_env.support.checks import check_integer

SOURCE = "tneller/gin-rummy-eaai"


def is_reference_log(data: Any) -> bool:
    """Return whether a JSON object looks like a game of such a log."""
    return isinstance(data, dict) and "first_starter" in data and "hands" in data


def from_reference_log(data: dict[str, Any]) -> GameRecord:
    """Return the game of a line of such a log and check it by replaying it.

    Raises RecordError for a line that is damaged or breaks our rules.
    """
    try:
        hands, scores = [], (0, 0)
        for logged in data["hands"]:
            hand = HandRecord(
                dealer=1 - check_integer("starter", logged["starter"], 0, 1),
                scores=scores,
                deck=tuple(map(card_id, logged["deck"])),
                actions=tuple(_actions(logged["events"])),
            )
            hands.append(_with_end(hand, logged))
            scores = hands[-1].scores_after
            if scores != tuple(logged["scores"]):
                raise RecordError(f"hand {len(hands)}: the scores do not add up to {logged['scores']}")
        number = check_integer("game", data["game"], 0, 2**64 - 1)
        game = GameRecord(
            (Player("player 0"), Player("player 1")), tuple(hands), number=number, source=SOURCE
        )
        winner = data["winner"]
    except RecordError:
        raise
    except (KeyError, TypeError, ValueError, IndexError) as error:
        raise RecordError(f"not a game of the reference engine's log ({error!r})") from error
    game.check()
    if game.winner != winner:
        raise RecordError(f"the winner is {winner!r}, but the hands give {game.winner!r}")
    return game


def _with_end(hand: HandRecord, logged: dict[str, Any]) -> HandRecord:
    """Return the hand with its end by our rules, and the logged points where they differ."""
    ended = with_end(hand, Rules())
    if ended.winner is None:
        return ended
    winner = check_integer("winner", logged["winner"], 0, 1)
    counted = winner, check_integer("points", logged["points"], 0, 30_000)
    return replace(ended, counted=None if counted == (ended.winner, ended.points) else counted)


def _actions(events: list[dict[str, Any]]) -> list[int]:
    """Return the actions of a hand; the log has a knock as a discard followed by a knock."""
    actions = []
    for event in events:
        if event["t"] == "pass":
            actions.append(PASS)
        elif event["t"] == "draw":
            actions.append(DRAW_UPCARD if event["up"] else DRAW_STOCK)
        elif event["t"] == "discard":
            actions.append(card_id(event["c"]))
        elif event["t"] == "knock":
            actions[-1] += KNOCK
    return actions
