"""Convert recorded games to lines of JSON and back. docs/records.md describes the format.

Logs of the reference engine (tneller/gin-rummy-eaai) are read as well. That engine melds and lays off
greedily; ours does both optimally. The moves are therefore the same, but in one hand out of fifty the points
are not: `HandRecord.counted` holds the points of that engine.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import asdict, fields, replace
from typing import Any

from gin_env.batch import EPISODES
from gin_env.game import actions as act
from gin_env.game.cards import NUM_CARDS, card_id, card_text
from gin_env.game.rules import Rules
from gin_env.game.state import OUTCOME_NAMES
from gin_env.records.games import GameRecord, HandRecord, Player, RecordError, with_end
from gin_env.support.checks import check_integer, is_integer

FORMAT = "gin-env game"
VERSION = 1
"""Increased when a change makes old lines unreadable or changes their meaning."""

REFERENCE_SOURCE = "tneller/gin-rummy-eaai"

_CARD_IDS = {card_text(card): card for card in range(NUM_CARDS)}
_Reader = Callable[[Any, str], Any]
"""Returns what a value of JSON stands for; errors name the path of the value, its second argument."""


def to_line(game: GameRecord) -> str:
    """Return the game as one line of JSON, without the newline."""
    return json.dumps(
        {
            "format": FORMAT,
            "version": VERSION,
            "release": game.release,
            "source": game.source,
            "rules": asdict(game.rules),
            "episode": game.episode,
            "random": {"seed": game.seed, "number": game.number, "twin": game.twin},
            "players": [asdict(player) for player in game.players],
            "hands": [_hand_as_dict(hand) for hand in game.hands],
            "finished": game.finished,
            "winner": game.winner,
            "scores": game.scores,
        }
    )


def _hand_as_dict(hand: HandRecord) -> dict[str, Any]:
    deck, actions = " ".join(map(card_text, hand.deck)), [act.describe(action) for action in hand.actions]
    entries = vars(hand) | {"deck": deck, "actions": actions}
    if hand.counted is None:
        del entries["counted"]
    else:
        entries["counted"] = {"winner": hand.counted[0], "points": hand.counted[1]}
    return entries


def from_dict(data: Any) -> GameRecord:
    """Return the game of a JSON object and check it by replaying it.

    Raises RecordError, naming the entry, unless it is a valid record.
    """
    if not isinstance(data, dict) or data.get("format") != FORMAT:
        raise RecordError(f"not a record of a game: the format must be {FORMAT!r}")
    version = data.get("version")
    if not is_integer(version) or version != VERSION:
        raise RecordError(
            f"version must be {VERSION}, the version that this release reads, not {_short(version)}"
        )
    most, hands = _rules(data.get("rules", {}), "rules").max_hands, data.get("hands")
    if isinstance(hands, list) and len(hands) > most:  # before millions of hands are read
        raise RecordError(f"hands must have at most {most:,} entries (max_hands), not {len(hands):,}")
    ignored = ("format", "version", "clairvoyant")  # the last one is of earlier releases
    entries = _object({name: data[name] for name in data if name not in ignored}, "", _GAME)
    recorded = {name: entries.pop(name) for name in ("finished", "winner", "scores")}
    game = GameRecord(**entries.pop("random"), **entries)
    game.check()
    for name, value in recorded.items():
        if value != getattr(game, name):
            raise RecordError(f"{name} is {value!r}, but the hands give {getattr(game, name)!r}")
    return game


def _object(
    value: Any, path: str, readers: Mapping[str, _Reader], optional: Collection[str] = ()
) -> dict[str, Any]:
    """Return the entries of an object. Others than those of `readers` are refused: they would be lost."""
    if not isinstance(value, dict):
        raise RecordError(f"{path} must be an object, not {_short(value)}")
    start = f"{path}." if path else ""
    for name in value:
        if name not in readers:
            shown = name if name.isprintable() and len(name) <= 60 else _short(name)
            raise RecordError(f"{start}{shown} is not an entry of version {VERSION} of the format")
    for name in readers:
        if name not in value and name not in optional:
            raise RecordError(f"{start}{name} is missing")
    return {name: read(value[name], start + name) for name, read in readers.items() if name in value}


def _list(value: Any, path: str, read: _Reader) -> tuple[Any, ...]:
    if not isinstance(value, list):
        raise RecordError(f"{path} must be a list, not {_short(value)}")
    return tuple([read(each, f"{path}[{index}]") for index, each in enumerate(value)])


def _rules(value: Any, path: str) -> Rules:
    """Return the rules of a record; missing rules take their defaults, so old records stay valid."""
    names = [field.name for field in fields(Rules)]
    entries = _object(value, path, dict.fromkeys(names, lambda entry, _: entry), optional=names)
    try:
        return Rules(**entries)
    except (ValueError, TypeError) as error:
        raise RecordError(str(error)) from error


def _players(value: Any, path: str) -> tuple[Any, ...]:
    players = _list(value, path, lambda each, place: Player(**_object(each, place, _PLAYER)))
    if len(players) != 2:
        raise RecordError(f"{path} must have two entries, not {len(players)}")
    return players


def _deck(value: Any, path: str) -> tuple[int, ...]:
    words = _text(value, path).split(" ")
    if len(words) > NUM_CARDS:
        raise RecordError(f"{path} must have at most {NUM_CARDS} cards, not {len(words):,}")
    try:
        deck = tuple([_CARD_IDS[word] if word in _CARD_IDS else card_id(word) for word in words])
    except ValueError as error:
        raise RecordError(f"{path}: {error}") from error
    if len(set(deck)) < len(deck):
        duplicates = sorted({card for card in deck if deck.count(card) > 1})
        raise RecordError(f"{path} has duplicate cards: {' '.join(map(card_text, duplicates))}")
    return deck


def _actions(value: Any, path: str) -> tuple[int, ...]:
    if not isinstance(value, list):
        raise RecordError(f"{path} must be a list of actions as text, not {_short(value)}")
    try:
        return tuple([act.parse(text) for text in value])
    except (ValueError, TypeError) as error:
        raise RecordError(f"{path}: {error}") from error


def _hand(value: Any, path: str) -> HandRecord:
    return HandRecord(**_object(value, path, _HAND, optional=("counted",)))


def _counted(value: Any, path: str) -> tuple[int, int]:
    counted = _object(value, path, {"winner": _integer(0, 1), "points": _POINTS})
    return counted["winner"], counted["points"]


def _pair(value: Any, path: str) -> tuple[int, int]:
    """Return the numbers of players 0 and 1."""
    if not isinstance(value, list) or len(value) != 2:
        raise RecordError(f"{path} must be a list of two numbers, not {_short(value)}")
    return _POINTS(value[0], path), _POINTS(value[1], path)


def _integer(least: int, most: int) -> _Reader:
    def read(value: Any, path: str) -> int:
        if not is_integer(value) or not least <= value <= most:
            raise RecordError(f"{path} must be an integer from {least} to {most}, not {_short(value)}")
        return int(value)

    return read


def _choice(choices: Sequence[str]) -> _Reader:
    def read(value: Any, path: str) -> str:
        if value not in choices:
            raise RecordError(f"{path} must be {' or '.join(map(repr, choices))}, not {_short(value)}")
        return str(value)

    return read


def _or_null(read: _Reader) -> _Reader:
    return lambda value, path: None if value is None else read(value, path)


def _text(value: Any, path: str) -> str:
    if not isinstance(value, str):
        raise RecordError(f"{path} must be a string, not {_short(value)}")
    return value


def _switch(value: Any, path: str) -> bool:
    if not isinstance(value, bool):
        raise RecordError(f"{path} must be true or false, not {_short(value)}")
    return value


def _short(value: object) -> str:
    text = repr(value)
    return text if len(text) <= 60 else text[:57] + "..."


_POINTS, _SEED, _WINNER = _integer(0, 30_000), _integer(0, 2**64 - 1), _or_null(_integer(0, 1))
_PLAYER = {"name": _text, "bot": _or_null(_text)}
_RANDOM = {"seed": _SEED, "number": _SEED, "twin": _switch}
_HAND = {
    "dealer": _integer(0, 1),
    "scores": _pair,
    "deck": _deck,
    "actions": _actions,
    "outcome": _choice(OUTCOME_NAMES),
    "winner": _WINNER,
    "knocker": _WINNER,
    "points": _POINTS,
    "deadwood": _or_null(_pair),
    "counted": _counted,
}
_GAME = {
    "release": _text,
    "source": _or_null(_text),
    "rules": _rules,
    "episode": _choice(EPISODES),
    "random": lambda value, path: _object(value, path, _RANDOM),
    "players": _players,
    "hands": lambda value, path: _list(value, path, _hand),
    "finished": _switch,
    "winner": _WINNER,
    "scores": _pair,
}


# --- Logs of the reference engine ----------------------------------------------------------------------


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
                actions=tuple(_logged_actions(logged["events"])),
            )
            hands.append(_with_end(hand, logged))
            scores = hands[-1].scores_after
            if scores != tuple(logged["scores"]):
                raise RecordError(f"hand {len(hands)}: the scores do not add up to {logged['scores']}")
        number = check_integer("game", data["game"], 0, 2**64 - 1)
        game = GameRecord(
            (Player("player 0"), Player("player 1")), tuple(hands), number=number, source=REFERENCE_SOURCE
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


def _logged_actions(events: list[dict[str, Any]]) -> list[int]:
    """Return the actions of a hand; the log has a knock as a discard followed by a knock."""
    actions = []
    for event in events:
        if event["t"] == "pass":
            actions.append(act.PASS)
        elif event["t"] == "draw":
            actions.append(act.DRAW_UPCARD if event["up"] else act.DRAW_STOCK)
        elif event["t"] == "discard":
            actions.append(card_id(event["c"]))
        elif event["t"] == "knock":
            actions[-1] += act.KNOCK
    return actions
