"""Convert recorded games to lines of JSON and back. docs/records.md describes the format."""

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
"""Increased when a change makes old lines unreadable or changes their meaning."""

_CARD_IDS = {card_text(card): card for card in range(NUM_CARDS)}


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
    entries = _Entries(data, "")
    entries.names(
        "format", "version", "release", "source", "rules", "episode", "random", "players", "hands",
        "finished", "winner", "scores",
        "clairvoyant",  # of earlier releases
    )  # fmt: skip
    random = entries.entries("random")
    random.names("seed", "number", "twin")
    rules = _rules(entries.entries("rules"))
    num_hands = len(entries.list_of_entries("hands"))
    if num_hands > rules.max_hands:
        raise RecordError(
            f"hands must have at most {rules.max_hands:,} entries (max_hands), not {num_hands:,}"
        )
    game = GameRecord(
        players=_pair([_player(entry) for entry in entries.list_of_entries("players")], "players"),
        hands=tuple(_hand(entry) for entry in entries.list_of_entries("hands")),
        rules=rules,
        episode=entries.choice("episode", EPISODES),
        seed=random.integer("seed", 0, 2**64 - 1),
        number=random.integer("number", 0, 2**64 - 1),
        twin=random.switch("twin"),
        source=entries.text_or_null("source"),
        release=entries.text("release"),
    )
    game.check()
    for name, recorded, value in (
        ("finished", entries.switch("finished"), game.finished),
        ("winner", entries.player_or_null("winner"), game.winner),
        ("scores", entries.pair("scores"), game.scores),
    ):
        if recorded != value:
            raise RecordError(f"{name} is {recorded!r}, but the hands give {value!r}")
    return game


def _rules(entries: _Entries) -> Rules:
    """Return the rules of a record; missing rules take their defaults, so old records stay valid."""
    entries.names(*(field.name for field in fields(Rules)))
    try:
        return Rules(**entries.data)
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
    if "counted" in entries.data:
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
    if len(words) > NUM_CARDS:
        raise RecordError(f"{entries.path('deck')} must have at most {NUM_CARDS} cards, not {len(words):,}")
    try:
        deck = tuple([_CARD_IDS[word] if word in _CARD_IDS else card_id(word) for word in words])
    except ValueError as error:
        raise RecordError(f"{entries.path('deck')}: {error}") from error
    if len(set(deck)) < len(deck):
        duplicates = sorted({card for card in deck if deck.count(card) > 1})
        raise RecordError(
            f"{entries.path('deck')} has duplicate cards: {' '.join(map(card_text, duplicates))}"
        )
    return deck


def _actions(entries: _Entries) -> tuple[int, ...]:
    texts = entries.get("actions")
    if not isinstance(texts, list):
        raise RecordError(f"{entries.path('actions')} must be a list of actions as text, not {_short(texts)}")
    try:
        return tuple([act.parse(text) for text in texts])
    except (ValueError, TypeError) as error:
        raise RecordError(f"{entries.path('actions')}: {error}") from error


def _pair(players: list[Player], name: str) -> tuple[Player, Player]:
    if len(players) != 2:
        raise RecordError(f"{name} must have two entries, not {len(players)}")
    return players[0], players[1]


def _short(value: object) -> str:
    text = repr(value)
    return text if len(text) <= 60 else text[:57] + "..."


class _Entries:
    """Typed access to the entries of a JSON object; errors name the path of the entry."""

    def __init__(self, data: Any, where: str) -> None:
        if not isinstance(data, dict):
            raise RecordError(f"{where} must be an object, not {_short(data)}")
        self.data: dict[str, Any] = data
        self.where = where

    def path(self, name: str) -> str:
        return f"{self.where}.{name}" if self.where else name

    def names(self, *known: str) -> None:
        """Refuse entries with other names, which would be lost."""
        unknown = [name for name in self.data if name not in known]
        if unknown:
            name = unknown[0] if unknown[0].isprintable() and len(unknown[0]) <= 60 else _short(unknown[0])
            raise RecordError(f"{self.path(name)} is not an entry of version {VERSION} of the format")

    def get(self, name: str) -> Any:
        if name not in self.data:
            raise RecordError(f"{self.path(name)} is missing")
        return self.data[name]

    def entries(self, name: str) -> _Entries:
        return _Entries(self.get(name), self.path(name))

    def list_of_entries(self, name: str) -> list[_Entries]:
        items = self.get(name)
        if not isinstance(items, list):
            raise RecordError(f"{self.path(name)} must be a list, not {_short(items)}")
        return [_Entries(item, f"{self.path(name)}[{index}]") for index, item in enumerate(items)]

    def integer(self, name: str, low: int, high: int) -> int:
        return self._integer(self.path(name), self.get(name), low, high)

    def pair(self, name: str) -> tuple[int, int]:
        """Return the numbers of players 0 and 1."""
        values = self.get(name)
        if not isinstance(values, list) or len(values) != 2:
            raise RecordError(f"{self.path(name)} must be a list of two numbers, not {_short(values)}")
        first, second = (self._integer(self.path(name), value, 0, 30_000) for value in values)
        return first, second

    def player_or_null(self, name: str) -> int | None:
        return None if self.get(name) is None else self.integer(name, 0, 1)

    def switch(self, name: str) -> bool:
        value = self.get(name)
        if not isinstance(value, bool):
            raise RecordError(f"{self.path(name)} must be true or false, not {_short(value)}")
        return value

    def text(self, name: str) -> str:
        value = self.get(name)
        if not isinstance(value, str):
            raise RecordError(f"{self.path(name)} must be a string, not {_short(value)}")
        return value

    def text_or_null(self, name: str) -> str | None:
        return None if self.get(name) is None else self.text(name)

    def choice(self, name: str, choices: tuple[Text, ...]) -> Text:
        value = self.get(name)
        if value not in choices:
            names = " or ".join(map(repr, choices))
            raise RecordError(f"{self.path(name)} must be {names}, not {_short(value)}")
        return choices[choices.index(value)]

    @staticmethod
    def _integer(path: str, value: object, low: int, high: int) -> int:
        if not is_integer(value) or not low <= value <= high:
            raise RecordError(f"{path} must be an integer from {low} to {high}, not {_short(value)}")
        return int(value)
