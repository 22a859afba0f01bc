"""Serve a bot over the line protocol: read requests from one stream, write answers to another."""

from __future__ import annotations

from typing import Any, TextIO

import numpy as np

from gin_env.agents import Agent, protocol
from gin_env.agents.protocol import ProtocolError
from gin_env.agents.turns import check_bot_actions
from gin_env.batch import Games


def serve(bot: Agent, questions: TextIO, answers: TextIO) -> None:
    """Answer every line until the questions end: one that cannot be answered with an error."""
    while text := questions.readline(protocol.MOST_CHARACTERS + 1):
        try:
            reply = _reply(bot, protocol.read_line(text))
        except ProtocolError as error:
            reply = {"type": "error", "message": str(error)}
            while text and not text.endswith("\n"):  # the rest of a line that is too long
                text = questions.readline(protocol.MOST_CHARACTERS)
        answers.write(protocol.line(reply))
        answers.flush()


def _reply(bot: Agent, message: dict[str, Any]) -> dict[str, Any]:
    """The answer to one message. Raises ProtocolError."""
    kind = message.get("type")
    if kind == "hello":
        if message.get("protocol") != protocol.VERSION:
            raise ProtocolError(
                f"this is version {protocol.VERSION} of the protocol, not {message.get('protocol')!r}"
            )
        _warm_up(bot)
        return {"type": "ready", "protocol": protocol.VERSION, "name": bot.name}
    if kind != "decide":
        raise ProtocolError("a message is of type 'hello' or 'decide'")
    number = message.get("number")
    if not isinstance(number, int):
        raise ProtocolError("a question has a number, by which its answer is known")
    view = protocol.read_question(message)
    try:
        action = check_bot_actions(bot, bot.act(view), 1)[0]
    except ValueError as error:  # other rules than those it was trained under, for example
        raise ProtocolError(f"{bot.name} cannot play this: {error}") from error
    return protocol.answer(number, int(action))


def _warm_up(bot: Agent) -> None:
    """Decide once before anybody counts the seconds: the first decision may compile kernels."""
    games = Games(1)
    games.start(games.everyone, np.zeros(1, np.uint64), np.zeros(1, np.uint64))
    bot.act(games.views(games.everyone))
