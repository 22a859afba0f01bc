"""Let bots play in many games: ask for all decisions in one call, check them, and play them.

`play_bot` plays one action in each game. `play_turns` may play more: a bot with a method `play_turns` plays
whole turns in one kernel, which saves copying views, checking actions, and calls between actions.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from gin_env.agents.base import Agent
from gin_env.batch import Games
from gin_env.observations.views import PlayerView


def play_bot(games: Games, bot: Agent, which: np.ndarray) -> None:
    """Let a bot decide and play one action in each of these games, where it is to move.

    Parameters
    ----------
    which : indices of games, integers (n,).

    Raises TypeError, ValueError or IllegalActionError, naming the bot, if its actions cannot be played.
    """
    which = games.check_different(which)
    view = games.views(which, checked=False)
    try:
        actions = check_bot_actions(bot, bot.act(view), len(which))
    except Exception as error:
        first = f"the first of {len(which)} positions" if len(which) > 1 else "the position"
        error.add_note(
            f"bot {bot.name!r} was to decide in game {games.numbers[which[0]]}, {first}:\n{view[0]}"
        )
        raise
    games.play(which, actions, who=f"bot {bot.name!r}", checked=False)


def play_turns(games: Games, bot: Agent, which: np.ndarray, both_seats: bool = False) -> None:
    """Let a bot play at least one action, and at most its turn, in each of these games, where it is to move.

    With `both_seats` it plays for both players, and may play to the end of the hand. The games are the same
    as with `play_bot`, however often either is called; so are the errors.
    """
    whole_turns = getattr(bot, "play_turns", None)
    if whole_turns is not None:
        whole_turns(games, which, both_seats)
        games.deal_fixed_decks(which)
    else:
        play_bot(games, bot, which)


def play_seated(
    games: Games,
    bots: Sequence[Agent],
    bot_indices: np.ndarray,
    which: np.ndarray,
    play: Callable[[Games, Agent, np.ndarray], None] = play_turns,
) -> None:
    """Let bots[bot_indices[k]] play in the game which[k], where it is to move.

    `play` is `play_turns`, or `play_bot` for one action in each game.
    """
    if len(bots) == 1:
        play(games, bots[0], which)
        return
    for index, bot in enumerate(bots):
        seated = which[bot_indices == index]
        if len(seated):
            play(games, bot, seated)


def check_bot_actions(bot: Agent, actions: object, count: int) -> np.ndarray:
    """Return a bot's actions as int64 (count,). Raises TypeError or ValueError that names the bot."""
    array = np.asarray(actions)
    if array.dtype.kind not in "iu":
        raise TypeError(f"bot {bot.name!r} must return integer actions, not {array.dtype}")
    if array.shape != (count,):
        raise ValueError(f"bot {bot.name!r} must return shape ({count},), not {array.shape}")
    return array.astype(np.int64, copy=False)


def chosen_actions(bot: Agent, view: PlayerView) -> np.ndarray:
    """Return a bot's actions, int64 (n,). Raises as `check_bot_actions`, and ValueError for illegal ones."""
    actions, masks = check_bot_actions(bot, bot.act(view), len(view)), view.masks()
    possible = (actions >= 0) & (actions < masks.shape[1])
    illegal = ~possible | (masks[np.arange(len(view)), np.where(possible, actions, 0)] == 0)
    if illegal.any():
        raise ValueError(f"bot {bot.name!r} plays illegally in {illegal.sum()} of {len(view)} positions")
    return actions
