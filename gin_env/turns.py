"""A bot at many tables: its decisions are asked for in one call, checked, and played.

`play_bot` is one action in each game. `play_on` may play several, as matches and environments want: where
the bot is `simple`, the baseline that most games are played against, one kernel plays its whole turns and
spares the copying of views, the check of legality and the calls between two actions of the same player.
The decisions are those of the same scalar function (`simple.simple_action`), which is given the public part
and the player's own private part, never the state.
"""

from __future__ import annotations

import numpy as np

from gin_env.agents import Agent
from gin_env.agents.hands import own_turn
from gin_env.agents.simple import SimpleBot, simple_action
from gin_env.batch import Games, play_and_score
from gin_env.compilation import kernel
from gin_env.engine import decision_random


def play_bot(table: Games, bot: Agent, games: np.ndarray) -> None:
    """Let a bot decide and play one action in each of `games`, where it is to move.

    Raises TypeError, ValueError or IllegalActionError, naming the bot, if what it returns cannot be played.
    """
    view = table.views(games)
    clairvoyant = getattr(bot, "act_clairvoyantly", None)
    if clairvoyant is None:
        actions = bot.act(view)
    else:  # `ClairvoyantSafeDiscardBot`, to see what knowing everything is worth
        actions = clairvoyant(view, table.state["private"]["hand"][games, 1 - table.to_move()[games]])
    actions = check_bot_actions(bot, actions, len(games))
    table.play_checked(games, actions, who=f"bot {bot.name!r}")


def play_on(table: Games, bot: Agent, games: np.ndarray, both_seats: bool = False) -> None:
    """Let a bot play at least one action in each of `games`, where it is to move, and at most to the end of its turn.

    With `both_seats` it sits on both sides, and may play to the end of the hand. The games come out the same as
    with `play_bot`, however often either is called; errors are the same too.
    """
    if type(bot) is not SimpleBot:  # exactly: a subclass may decide otherwise
        play_bot(table, bot, games)
        return
    _play_simple_turns(
        table.state,
        games,
        both_seats,
        bot.knock_limits,
        table.whole_game,
        table.win_reward,
        table.rewards,
        table.done,
        table.results,
    )
    table.deal_fixed_decks(games)


def check_bot_actions(bot: Agent, actions: object, count: int) -> np.ndarray:
    """What a bot returned, as int64 (count,). Raises TypeError or ValueError that names the bot."""
    array = np.asarray(actions)
    if array.dtype.kind not in "iu":
        raise TypeError(f"bot {bot.name!r} returned {array.dtype} instead of integer actions")
    if array.shape != (count,):
        raise ValueError(f"bot {bot.name!r} returned shape {array.shape} for {count} views")
    return array.astype(np.int64, copy=False)


@kernel
def _play_simple_turns(
    state, games, both_seats, knock_limits, whole_game, win_reward, rewards, done, results
):
    for k in range(len(games)):
        index = games[k]
        game = state[index]
        public = game.public
        mover = public.to_move
        while True:
            player = public.to_move
            limit = knock_limits[own_turn(public)]
            random = decision_random(game, player)
            action = simple_action(public, game.private[player], player, random, limit)
            reward, over = play_and_score(game, action, whole_game, win_reward, results[index])
            rewards[index] += reward
            done[index] = over
            if results[index].ended or (public.to_move != mover and not both_seats):
                break
