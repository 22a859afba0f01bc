"""A recorded game as a line of JSON, and back. docs/records.md describes the line."""

from __future__ import annotations

import json
from dataclasses import asdict, fields
from typing import Any

from gin_env.batch import EPISODES
from gin_env.game import actions as act
from gin_env.game.cards import NUM_CARDS, card_id, card_text
from gin_env.game.rules import Rules
from gin_env.game.state import OUTCOME_NAMES
from gin_env.records.games import GameRecord, HandRecord, Player, RecordError
from gin_env.support.checks import Text, is_integer

FORMAT = "gin-env game"
VERSION = 1
"""Raised whenever a line of before could not be read, or would be read otherwise."""

_CARD_IDS = {card_text(card): card for card in range(NUM_CARDS)}


def to_line(game: GameRecord) -> str:
    """The game as one line of JSON, without the newline."""
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
            "clairvoyant": game.clairvoyant,
            "hands": [_hand_as_dict(hand) for hand in game.hands],
            "finished": game.finished,
            "winner": game.winner,
            "scores": game.scores,
        }
    )


def _hand_as_dict(hand: HandRecord) -> dict[str, Any]:
    entries: dict[str, Any] = {
        "dealer": hand.dealer,
        "scores": hand.scores,
        "deck": " ".join(map(card_text, hand.deck)),
        "actions": [act.describe(action) for action in hand.actions],
        "outcome": hand.outcome,
        "winner": hand.winner,
        "knocker": hand.knocker,
        "points": hand.points,
        "deadwood": hand.deadwood,
    }
    if hand.counted is not None:
        entries["counted"] = {"winner": hand.counted[0], "points": hand.counted[1]}
    return entries


def from_line(line: str) -> GameRecord:
    """The game of a line. Raises RecordError, which names the entry, for what is no record of a game."""
    try:
        found = json.loads(line)
    except (ValueError, RecursionError) as error:
        raise RecordError(f"this is no JSON ({error})") from error
    return from_dict(found)


def from_dict(found: Any) -> GameRecord:
    """The game of what JSON holds, played again. Raises as `from_line` does."""
    if not isinstance(found, dict) or found.get("format") != FORMAT:
        raise RecordError(f"this is no record of a game: its format is not {FORMAT!r}")
    version = found.get("version")
    if not is_integer(version) or version != VERSION:
        raise RecordError(
            f"it is written in version {_short(version)} of the format, this release reads {VERSION}"
        )
    entries = _Entries(found, "")
    entries.names(
        "format", "version", "release", "source", "rules", "episode", "random", "players", "clairvoyant",
        "hands", "finished", "winner", "scores",
    )  # fmt: skip
    random = entries.entries("random")
    random.names("seed", "number", "twin")
    game = GameRecord(
        players=_two([_player(one) for one in entries.list_of_entries("players")], "players"),
        hands=tuple(_hand(one) for one in entries.list_of_entries("hands")),
        rules=_rules(entries.entries("rules")),
        episode=entries.choice("episode", EPISODES),
        seed=random.integer("seed", 0, 2**64 - 1),
        number=random.integer("number", 0, 2**64 - 1),
        twin=random.switch("twin"),
        clairvoyant=entries.switch("clairvoyant"),
        source=entries.text_or_null("source"),
        release=entries.text("release"),
    )
    game.check()
    for name, told, value in (
        ("finished", entries.switch("finished"), game.finished),
        ("winner", entries.player_or_null("winner"), game.winner),
        ("scores", entries.pair("scores"), game.scores),
    ):
        if told != value:
            raise RecordError(f"{name} is {told!r}, but the hands give {value!r}")
    return game


def _rules(entries: _Entries) -> Rules:
    """The rules of a record; one that it lacks has its default, so that new rules leave old records valid."""
    entries.names(*(field.name for field in fields(Rules)))
    try:
        return Rules(**entries.found)
    except (ValueError, TypeError) as error:
        raise RecordError(str(error)) from error


def _player(entries: _Entries) -> Player:
    entries.names("name", "bot")
    return Player(entries.text("name"), entries.text_or_null("bot"))


def _hand(entries: _Entries) -> HandRecord:
    entries.names(
        "dealer", "scores", "deck", "actions", "outcome", "winner", "knocker", "points", "deadwood", "counted"
    )
    counted = None
    if "counted" in entries.found:
        other = entries.entries("counted")
        other.names("winner", "points")
        counted = other.integer("winner", 0, 1), other.integer("points", 0, 30_000)
    return HandRecord(
        dealer=entries.integer("dealer", 0, 1),
        scores=entries.pair("scores"),
        deck=_deck(entries),
        actions=_actions(entries),
        outcome=entries.choice("outcome", OUTCOME_NAMES),
        winner=entries.player_or_null("winner"),
        knocker=entries.player_or_null("knocker"),
        points=entries.integer("points", 0, 30_000),
        deadwood=None if entries.get("deadwood") is None else entries.pair("deadwood"),
        counted=counted,
    )


def _deck(entries: _Entries) -> tuple[int, ...]:
    words = entries.text("deck").split(" ")
    try:
        deck = tuple([_CARD_IDS[word] if word in _CARD_IDS else card_id(word) for word in words])
    except ValueError as error:
        raise RecordError(f"{entries.path('deck')}: {error}") from error
    if len(set(deck)) < len(deck):
        twice = sorted({card for card in deck if deck.count(card) > 1})
        raise RecordError(f"{entries.path('deck')}: named twice: {' '.join(map(card_text, twice))}")
    return deck


def _actions(entries: _Entries) -> tuple[int, ...]:
    found = entries.get("actions")
    if not isinstance(found, list):
        raise RecordError(f"{entries.path('actions')} is a list of actions in words, not {_short(found)}")
    try:
        return tuple([act.parse(text) for text in found])
    except (ValueError, TypeError) as error:
        raise RecordError(f"{entries.path('actions')}: {error}") from error


def _two(players: list[Player], name: str) -> tuple[Player, Player]:
    if len(players) != 2:
        raise RecordError(f"{name} are two, not {len(players)}")
    return players[0], players[1]


def _short(value: object) -> str:
    text = repr(value)
    return text if len(text) <= 60 else text[:57] + "..."


class _Entries:
    """The entries of a JSON object, each asked for by its name and type; errors name it by its path."""

    def __init__(self, found: Any, where: str) -> None:
        if not isinstance(found, dict):
            raise RecordError(f"{where} is an object with named entries, not {_short(found)}")
        self.found: dict[str, Any] = found
        self.where = where

    def path(self, name: str) -> str:
        return f"{self.where}.{name}" if self.where else name

    def names(self, *known: str) -> None:
        """Refuse entries of other names: they would be lost."""
        unknown = [name for name in self.found if name not in known]
        if unknown:
            raise RecordError(f"{self.path(unknown[0])} is no entry of version {VERSION} of the format")

    def get(self, name: str) -> Any:
        if name not in self.found:
            raise RecordError(f"{self.path(name)} is missing")
        return self.found[name]

    def entries(self, name: str) -> _Entries:
        return _Entries(self.get(name), self.path(name))

    def list_of_entries(self, name: str) -> list[_Entries]:
        found = self.get(name)
        if not isinstance(found, list):
            raise RecordError(f"{self.path(name)} is a list, not {_short(found)}")
        return [_Entries(one, f"{self.path(name)}[{index}]") for index, one in enumerate(found)]

    def integer(self, name: str, least: int, most: int) -> int:
        return self._integer(self.path(name), self.get(name), least, most)

    def pair(self, name: str) -> tuple[int, int]:
        """Two numbers, those of players 0 and 1."""
        found = self.get(name)
        if not isinstance(found, list) or len(found) != 2:
            raise RecordError(f"{self.path(name)} is a list of two numbers, not {_short(found)}")
        return self._integer(self.path(name), found[0], 0, 30_000), self._integer(
            self.path(name), found[1], 0, 30_000
        )

    def player_or_null(self, name: str) -> int | None:
        return None if self.get(name) is None else self.integer(name, 0, 1)

    def switch(self, name: str) -> bool:
        found = self.get(name)
        if not isinstance(found, bool):
            raise RecordError(f"{self.path(name)} is true or false, not {_short(found)}")
        return found

    def text(self, name: str) -> str:
        found = self.get(name)
        if not isinstance(found, str):
            raise RecordError(f"{self.path(name)} is a text, not {_short(found)}")
        return found

    def text_or_null(self, name: str) -> str | None:
        return None if self.get(name) is None else self.text(name)

    def choice(self, name: str, choices: tuple[Text, ...]) -> Text:
        found = self.get(name)
        if found not in choices:
            raise RecordError(f"{self.path(name)} is {' or '.join(map(repr, choices))}, not {_short(found)}")
        return choices[choices.index(found)]

    @staticmethod
    def _integer(path: str, found: object, least: int, most: int) -> int:
        if not is_integer(found) or not least <= found <= most:
            raise RecordError(f"{path} is an integer from {least} to {most}, not {_short(found)}")
        return int(found)
