"""A bot at many tables: its decisions are asked for in one call, checked, and played.

`play_bot` is one action in each game. `play_on` may play several, as matches and environments want: a bot whose
class has a method `play_turns` (such as `SimpleBot`, the baseline that most games are played against) plays whole
turns in one kernel, which spares the copying of views, the check of legality and the calls between two actions.
"""

from __future__ import annotations

import numpy as np

from gin_env.agents import Agent
from gin_env.batch import Games


def play_bot(table: Games, bot: Agent, games: np.ndarray, clairvoyant: bool = False) -> None:
    """Let a bot decide and play one action in each of `games`, where it is to move.

    With `clairvoyant`, a bot that has the method `act_clairvoyantly` is told the opponents' hands: that is for measuring
    what knowing everything is worth, and whoever asks for it has to say so in the result.

    Raises TypeError, ValueError or IllegalActionError, naming the bot, if what it returns cannot be played.
    """
    view = table.views(games)
    if clairvoyant and is_clairvoyant(bot):
        hands = table.state["private"]["hand"][games, 1 - table.to_move()[games]]
        actions = bot.act_clairvoyantly(view, hands)  # type: ignore[attr-defined]
    else:
        actions = bot.act(view)
    actions = check_bot_actions(bot, actions, len(games))
    table.play(games, actions, who=f"bot {bot.name!r}")


def is_clairvoyant(bot: Agent) -> bool:
    """Whether a bot can be told the opponents' hands (such as `ClairvoyantSafeDiscardBot`)."""
    return hasattr(bot, "act_clairvoyantly")


def play_on(
    table: Games, bot: Agent, games: np.ndarray, both_seats: bool = False, clairvoyant: bool = False
) -> None:
    """Let a bot play at least one action in each of `games`, where it is to move, and at most to the end of its turn.

    With `both_seats` it sits on both sides, and may play to the end of the hand. The games come out the same as
    with `play_bot`, however often either is called; `clairvoyant` and errors are the same too.
    """
    play_turns = vars(type(bot)).get("play_turns")  # not inherited: a subclass may decide otherwise
    if play_turns is None:
        play_bot(table, bot, games, clairvoyant)
    else:
        play_turns(bot, table, games, both_seats)
        table.deal_fixed_decks(games)


def check_bot_actions(bot: Agent, actions: object, count: int) -> np.ndarray:
    """What a bot returned, as int64 (count,). Raises TypeError or ValueError that names the bot."""
    array = np.asarray(actions)
    if array.dtype.kind not in "iu":
        raise TypeError(f"bot {bot.name!r} returned {array.dtype} instead of integer actions")
    if array.shape != (count,):
        raise ValueError(f"bot {bot.name!r} returned shape {array.shape} for {count} views")
    return array.astype(np.int64, copy=False)
