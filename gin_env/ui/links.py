"""A hand as a short text for an address, so that a link alone holds a replay.

``1.DECK.DEALER-SCORE-SCORE.ACTIONS.NAME~NAME.RULES``: a letter for each card of the deck in dealing order
and for each discard, ``0`` for a draw from the stock, ``1`` for the upcard, ``2`` for a pass, ``-`` before a
knock. The rules are missing if they are the default.
"""

from __future__ import annotations

import re
from string import ascii_letters
from urllib.parse import quote, unquote

from gin_env.game.rules import Rules
from gin_env.records import GameRecord, HandRecord, Player, RecordError
from gin_env.records.games import with_end

VERSION = "1"
MAX_LENGTH = 4000
_ACTIONS = [*ascii_letters, *(f"-{letter}" for letter in ascii_letters), "0", "1", "2"]
"""Texts of the actions, by action id."""
_ACTION = re.compile(r"-?[A-Za-z]|[012]")


def link_of(game: GameRecord, hand: int) -> str:
    """Return the text of one hand of a game (from 0)."""
    record = game.hands[hand]
    start = f"{record.dealer}-{record.scores[0]}-{record.scores[1]}"
    deck = "".join(ascii_letters[card] for card in record.deck)
    actions = "".join(_ACTIONS[action] for action in record.actions)
    text = ".".join(
        [VERSION, deck, start, actions, "~".join(_quoted(player.name) for player in game.players)]
    )
    return text if game.rules == Rules() else f"{text}.{_quoted(game.rules.text)}"


def _quoted(text: str) -> str:
    return quote(text, safe="").replace(".", "%2E").replace("~", "%7E")


def hand_of(link: str) -> GameRecord:
    """Return the hand that a text from `link_of` holds, replayed by the rules.

    Raises RecordError for any other text; TypeError unless it is a string.
    """
    if not isinstance(link, str):
        raise TypeError(f"a link must be a string, not {type(link).__name__}")
    parts = link.split(".")
    if len(link) > MAX_LENGTH or len(parts) not in (5, 6) or parts[0] != VERSION:
        raise RecordError("not the address of a hand: it is cut off, or of another version")
    _, deck, start, actions, names, *rules = parts
    try:
        dealer, *scores = (int(number) for number in re.findall("[0-9]+", start))
        first, second = (Player(unquote(name)) for name in names.split("~"))
        record = HandRecord(
            dealer,
            (scores[0], scores[1]),
            tuple(ascii_letters.index(letter) for letter in deck),
            tuple(map(_ACTIONS.index, _ACTION.findall(actions))),
        )
        found = Rules.parse(unquote(rules[0])) if rules else Rules()
        game = GameRecord((first, second), (with_end(record, found),), found, episode="hand")
        game.check()
    except (ValueError, IndexError) as error:
        raise RecordError(f"not the address of a hand: {error}") from error
    if "".join(_ACTIONS[action] for action in record.actions) != actions:
        raise RecordError("not the address of a hand: its actions are damaged")
    return game
