"""The line protocol for bots in other languages: one line of JSON per question, one line per answer.

``gin-rummy serve-bot NAME`` answers questions with a bot of this package (`serve`). A bot named
``process:COMMAND`` starts a program and sends it the questions (`gin_env.agents.process`). `docs/protocol.md`
describes the messages, and `docs/protocol.schema.json` is their schema. Each question contains the whole hand
as one player saw it, so a program does not need to keep any state. Cards are written as rank and suit
(``TH``), actions as in `gin_env.game.actions.describe`.
"""

from __future__ import annotations

import json
from contextlib import suppress
from dataclasses import asdict
from typing import Any, TextIO

import numpy as np

from gin_env.agents.base import Agent
from gin_env.agents.turns import check_bot_actions
from gin_env.batch import Games
from gin_env.estimators.public_history import first_hands
from gin_env.game import actions as act
from gin_env.game.cards import card_id, card_text, cards_of, mask_of
from gin_env.game.rules import Rules
from gin_env.game.state import NO_CARD
from gin_env.observations.views import PlayerView
from gin_env.support.checks import printable

VERSION = 2
"""Version of the protocol. Programs of version 1 are played too: their questions have no ``memory``."""
VERSIONS = (1, VERSION)
MAX_CHARACTERS = 100_000
"""Maximum length of a line; longer lines are rejected."""


class ProtocolError(ValueError):
    """Raised for an invalid line; the message says what is wrong with it."""


def question(view: PlayerView, number: int) -> dict[str, Any]:
    """Return the question to a player as a JSON object; `view` is a single view whose player is to move."""
    record = view.array[0]
    public, player = record["public"], int(record["player"])
    draws = iter(view.stock_draws())
    events = []
    for event in view.history():
        entry: dict[str, Any] = {"player": event.player, "action": act.describe(event.action)}
        if event.action == act.DRAW_STOCK and event.player == player:
            entry["card"] = card_text(next(draws))
        elif event.action == act.DRAW_UPCARD:
            entry["card"] = card_text(event.card)
        events.append(entry)
    hand, upcard = int(record["private"]["hand"]), int(public["upcard"])
    return {
        "type": "decide",
        "number": number,
        "rules": asdict(view.rules),
        "player": player,
        "dealer": int(public["dealer"]),
        "hand_number": int(public["hand_number"]),
        "scores": [int(score) for score in public["scores"]],
        "dealt": _texts(int(first_hands(view)[0])),
        "first_upcard": card_text(int(public["first_upcard"])),
        "events": events,
        "hand": _texts(hand),
        "upcard": None if upcard == NO_CARD else card_text(upcard),
        "stock_left": int(public["stock_left"]),
        "legal": [act.describe(action) for action in view.masks()[0].nonzero()[0].tolist()],
        "random": int(record["random"]),
        "memory": [{name: int(counts[name]) for name in counts.dtype.names} for counts in public["memory"]],
    }


def read_question(message: dict[str, Any]) -> PlayerView:
    """Return the view of a question created by `question`. Raises ProtocolError for anything else."""
    try:
        player, events = message["player"], message["events"]
        drawn = [
            card_id(event["card"])
            for event in events
            if event["player"] == player and event["action"] == act.describe(act.DRAW_STOCK)
        ]
        view = PlayerView.from_history(
            mask_of(card_id(card) for card in message["dealt"]),
            card_id(message["first_upcard"]),
            [act.parse(event["action"]) for event in events],
            drawn,
            player=player,
            dealer=message["dealer"],
            scores=tuple(message["scores"]),
            hand_number=message["hand_number"],
            rules=Rules(**message["rules"]),
            random=message["random"],
            memory=message.get("memory", ({}, {})),
        )
    except KeyError as error:
        raise ProtocolError(f"the question lacks {error}") from error
    except (TypeError, ValueError, AttributeError) as error:
        raise ProtocolError(f"the request describes an impossible hand: {error}") from error
    if not view.masks().any():
        raise ProtocolError(f"player {player} has nothing to decide")
    return view


def read_answer(message: dict[str, Any], number: int) -> int:
    """Return the action in the answer to question `number`. Raises ProtocolError for anything else."""
    if message.get("type") == "error":
        raise ProtocolError(f"it answered with an error: {printable(message.get('message'), 200)}")
    if message.get("type") != "action" or not isinstance(message.get("action"), str):
        raise ProtocolError(f'an answer is {{"type": "action", "number": {number}, "action": ...}}')
    if message.get("number") != number:
        raise ProtocolError(
            f"it answered question {printable(message.get('number'), 20)} instead of {number}"
        )
    try:
        return act.parse(message["action"])
    except ValueError as error:
        raise ProtocolError(str(error)) from error


def line(message: dict[str, Any]) -> str:
    """Return a message as a line of JSON, including the newline."""
    return json.dumps(message, separators=(",", ":")) + "\n"


def read_line(text: str) -> dict[str, Any]:
    """Return the message in a line. Raises ProtocolError unless the line is one complete JSON object."""
    if len(text) > MAX_CHARACTERS:
        raise ProtocolError(f"the line has more than {MAX_CHARACTERS:,} characters")
    if not text.endswith("\n"):
        raise ProtocolError(f"the line does not end with a newline: {text[:80]!r}")
    try:
        message = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise ProtocolError(f"the line is not valid JSON ({error}): {text[:80]!r}") from error
    if not isinstance(message, dict):
        raise ProtocolError(f"the line is not a JSON object: {text[:80]!r}")
    return message


# --- Serving a bot ------------------------------------------------------------------------------------


def serve(bot: Agent, questions: TextIO, answers: TextIO) -> None:
    """Answer every line until the input ends; answer an invalid line with an error."""
    while text := questions.readline(MAX_CHARACTERS + 1):
        try:
            reply = _reply(bot, read_line(text))
        except ProtocolError as error:
            reply = {"type": "error", "message": str(error)}
            while text and not text.endswith("\n"):  # skip the remainder of a line that is too long
                text = questions.readline(MAX_CHARACTERS)
        answers.write(line(reply))
        answers.flush()


def _reply(bot: Agent, message: dict[str, Any]) -> dict[str, Any]:
    """Return the answer to one message. Raises ProtocolError."""
    kind = message.get("type")
    if kind == "hello":
        version = message.get("protocol")
        if version not in VERSIONS:
            raise ProtocolError(f"protocol must be 1 or {VERSION}, not {version!r}")
        games = Games(1)
        games.start(games.everyone, np.zeros(1, np.uint64), np.zeros(1, np.uint64))
        with suppress(ValueError):  # a bot for other rules; the answer to a real question will say so
            # The first decision may compile kernels, which must not count for the time limit.
            bot.act(games.views(games.everyone))
        return {"type": "ready", "protocol": version, "name": bot.name}
    if kind != "decide":
        raise ProtocolError(f"type must be 'hello' or 'decide', not {kind!r}")
    number = message.get("number")
    if not isinstance(number, int):
        raise ProtocolError(f"number must be an integer, not {number!r}")
    view = read_question(message)
    try:
        action = check_bot_actions(bot, bot.act(view), 1)[0]
    except ValueError as error:  # such as rules that it does not play
        raise ProtocolError(f"{bot.name} cannot play this: {error}") from error
    return {"type": "action", "number": number, "action": act.describe(int(action))}


# --- Texts --------------------------------------------------------------------------------------------


def _texts(hand: int) -> list[str]:
    return [card_text(card) for card in cards_of(hand)]
