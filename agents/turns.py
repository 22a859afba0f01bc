"""Bots at many tables: the decisions of each are asked for in one call, checked, and played.

`play_bot` is one action in each game. `play_on` may play several, as matches and environments want: a bot
whose class has a method `play_turns` (such as `SimpleBot`, the baseline that most games are played against)
plays whole turns in one kernel, which saves copying views, checking legality and calls between actions.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from gin_env.agents.base import Agent, Clairvoyant, PlaysTurns
from gin_env.batch import Games


def play_bot(table: Games, bot: Agent, games: np.ndarray, clairvoyant: bool = False) -> None:
    """Let a bot decide and play one action in each of `games`, where it is to move.

    With `clairvoyant`, a bot that has the method `act_clairvoyantly` is told the opponents' hands: that is
    for measuring what knowing everything is worth, and whoever asks for it has to say so in the result.

    Raises TypeError, ValueError or IllegalActionError, naming the bot, if what it returns cannot be played.
    """
    games = table.check_different(games)
    view = table.views(games, checked=False)
    if clairvoyant and isinstance(bot, Clairvoyant):
        hands = table.state["private"]["hand"][games, 1 - table.to_move()[games]]
        actions = bot.act_clairvoyantly(view, hands)
    else:
        actions = bot.act(view)
    actions = check_bot_actions(bot, actions, len(games))
    table.play(games, actions, who=f"bot {bot.name!r}", checked=False)


def play_on(
    table: Games, bot: Agent, games: np.ndarray, both_seats: bool = False, clairvoyant: bool = False
) -> None:
    """Let a bot play in each of `games`, where it is to move: at least one action, at most its turn.

    With `both_seats` it sits on both sides, and may play to the end of the hand. The games come out the same
    as with `play_bot`, however often either is called; `clairvoyant` and errors are the same too.
    """
    if isinstance(bot, PlaysTurns):
        bot.play_turns(table, games, both_seats)
        table.deal_fixed_decks(games)
    else:
        play_bot(table, bot, games, clairvoyant)


def play_seated(
    table: Games,
    bots: Sequence[Agent],
    sitting: np.ndarray,
    games: np.ndarray,
    play: Callable[[Games, Agent, np.ndarray], None] = play_on,
) -> None:
    """Let whoever sits there play in each of `games`: bots[sitting[k]], which is to move in games[k].

    `play` is `play_on`, or `play_bot` for one action in each game.
    """
    if len(bots) == 1:
        play(table, bots[0], games)
        return
    for number, bot in enumerate(bots):
        mine = games[sitting == number]
        if len(mine):
            play(table, bot, mine)


def check_bot_actions(bot: Agent, actions: object, count: int) -> np.ndarray:
    """What a bot returned, as int64 (count,). Raises TypeError or ValueError that names the bot."""
    array = np.asarray(actions)
    if array.dtype.kind not in "iu":
        raise TypeError(f"bot {bot.name!r} returned {array.dtype} instead of integer actions")
    if array.shape != (count,):
        raise ValueError(f"bot {bot.name!r} returned shape {array.shape} for {count} views")
    return array.astype(np.int64, copy=False)
