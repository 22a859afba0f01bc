"""Serve a bot over the line protocol: read requests from one stream, write answers to another."""

from __future__ import annotations

from contextlib import suppress
from typing import Any, TextIO

import numpy as np

from gin_env.agents import Agent, protocol
from gin_env.agents.protocol import ProtocolError
from gin_env.agents.turns import check_bot_actions
from gin_env.batch import Games


def serve(bot: Agent, questions: TextIO, answers: TextIO) -> None:
    """Answer every line until the input ends; answer an invalid line with an error."""
    while text := questions.readline(protocol.MAX_CHARACTERS + 1):
        try:
            reply = _reply(bot, protocol.read_line(text))
        except ProtocolError as error:
            reply = {"type": "error", "message": str(error)}
            while text and not text.endswith("\n"):  # skip the remainder of a line that is too long
                text = questions.readline(protocol.MAX_CHARACTERS)
        answers.write(protocol.line(reply))
        answers.flush()


def _reply(bot: Agent, message: dict[str, Any]) -> dict[str, Any]:
    """Return the answer to one message. Raises ProtocolError."""
    kind = message.get("type")
    if kind == "hello":
        version = message.get("protocol")
        if version not in protocol.VERSIONS:
            raise ProtocolError(f"protocol must be 1 or {protocol.VERSION}, not {version!r}")
        _warm_up(bot)
        return {"type": "ready", "protocol": version, "name": bot.name}
    if kind != "decide":
        raise ProtocolError(f"type must be 'hello' or 'decide', not {kind!r}")
    number = message.get("number")
    if not isinstance(number, int):
        raise ProtocolError(f"number must be an integer, not {number!r}")
    view = protocol.read_question(message)
    try:
        action = check_bot_actions(bot, bot.act(view), 1)[0]
    except ValueError as error:  # such as rules that it does not play
        raise ProtocolError(f"{bot.name} cannot play this: {error}") from error
    return protocol.answer(number, int(action))


def _warm_up(bot: Agent) -> None:
    """Decide once before the time limit applies: the first decision may compile kernels."""
    games = Games(1)
    games.start(games.everyone, np.zeros(1, np.uint64), np.zeros(1, np.uint64))
    with suppress(ValueError):  # a bot for other rules; the answer to a real question will say so
        bot.act(games.views(games.everyone))
