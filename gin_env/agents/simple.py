"""``simple``: the baseline of all five papers, SimpleGinRummyPlayer of the EAAI 2021 challenge.

Source: the reference engine tneller/gin-rummy-eaai, and the sections on the Simple player in four papers.

- Draw: takes the upcard if a meld of hand + upcard contains it, otherwise draws from the stock.
- Discard: a card that leaves the least deadwood, ties broken at random. It does not repeat an unordered
  {drawn, discarded} pair of this hand while any other discard is allowed.
- Knock: as soon as its deadwood allows. ``knock_at`` lowers the threshold (the papers use 8, 6 and 4; 0 waits
  for gin).

``knock_at="variable"`` uses Tonic's thresholds (Larkin et al. 2021, "Approach to Knocking"). The paper does
not list them. It says that they begin at 10 and fall "gradually" "as we approach and exceed the estimated
average game length of six turns". It also reports that Tonic wins at least 68 % against Simple, 60 % against
the variable threshold and 68 % against a threshold of 4, and that against Simple these two thresholds are
"approximately equivalent" (the figure with the numbers is lost). Reading: `VARIABLE_KNOCK`, which is 10 up to
the bot's fourth turn and then falls by two each turn, down to 3. It comes closest to the reported figures.

Results: docs/results/larkin2021.md, "Knock thresholds".
"""

# mypy: disable-error-code="no-untyped-def,return-value"

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from gin_env.agents.base import act_by
from gin_env.batch import Games
from gin_env.game.actions import DRAW_STOCK, DRAW_UPCARD, KNOCK, is_discard
from gin_env.game.batch_kernels import play_and_score
from gin_env.game.cards import card_bit, pick_card
from gin_env.game.engine import decision_random, discards_allowed
from gin_env.game.hands import decline, own_turn
from gin_env.game.history import first_mover, next_mover, upcard_after
from gin_env.game.melds import completes_meld, least_deadwood_discards
from gin_env.game.rules import MAX_TURNS
from gin_env.game.state import DISCARD, OVER, STOCK_ONLY
from gin_env.observations.views import PlayerView
from gin_env.support.checks import check_integer, is_integer
from gin_env.support.compilation import kernel
from gin_env.support.specs import NamedObject, spell

MAX_POINTS = 100
"""Upper bound on the deadwood of a hand."""
VARIABLE_KNOCK = (10, 10, 10, 10, 8, 6, 4, 3)
"""Tonic's knock thresholds by turn, from the first; the last value holds for all later turns."""


class SimpleBot(NamedObject):
    """The Simple player.

    Parameters
    ----------
    knock_at : maximum deadwood to knock with (0 to 100; the rules' knock limit also applies), a sequence of
        such thresholds by turn, or ``"variable"`` for `VARIABLE_KNOCK`.
    """

    def __init__(self, knock_at: int | str | Sequence[int] = 10) -> None:
        self.knock_at = knock_at
        self.name = "simple" if knock_at == 10 else spell("simple", {"knock_at": knock_at})
        self.knock_limits = knock_limits(knock_at)

    def __init_subclass__(cls) -> None:
        if "act" in vars(cls) and "play_turns" not in vars(cls):
            cls.play_turns = None  # type: ignore[assignment]  # the inherited one would not match `act`

    def act(self, view: PlayerView) -> np.ndarray:
        return act_by(_act, view, self.knock_limits)

    def play_turns(self, games: Games, which: np.ndarray, both_seats: bool) -> None:
        """Play the rest of the turn in these games, integers (n,); with `both_seats` the rest of the hand.

        The actions are those of `act`. Raises IndexError for a game that is over or unknown.
        """
        wrong = _play_turns(games.state, which, both_seats, self.knock_limits, games.scoring)
        if wrong >= 0:
            raise IndexError(f"game {which[wrong]} is over or unknown")


def knock_limits(knock_at: int | str | Sequence[int]) -> np.ndarray:
    """Return the knock threshold for each turn of the player, int64 (MAX_TURNS,).

    Turns are counted from 1; entry 0 is unused.

    Raises TypeError or ValueError unless `knock_at` is an integer from 0 to `MAX_POINTS`, a sequence of
    them, or ``"variable"``.
    """
    if isinstance(knock_at, str) and knock_at == "variable":
        return points_by_turn("knock_at", VARIABLE_KNOCK, MAX_POINTS)
    if isinstance(knock_at, Sequence) and not isinstance(knock_at, str):
        return points_by_turn("knock_at", knock_at, MAX_POINTS)
    if not is_integer(knock_at):
        raise TypeError(
            f"knock_at must be an integer, 'variable' or a list of integers (one per turn), not {knock_at!r}"
        )
    return np.full(MAX_TURNS, check_integer("knock_at", knock_at, 0, MAX_POINTS), np.int64)


def points_by_turn(name: str, points: Sequence[int], most: int) -> np.ndarray:
    """Return `points` by turn, with the last entry repeated for all later turns, int64 (MAX_TURNS,).

    Turns are counted from 1; entry 0 is unused. `name` is the parameter's name for error messages. Raises
    TypeError or ValueError unless `points` is a sequence of integers from 0 to `most`.
    """
    if isinstance(points, str) or not isinstance(points, Sequence) or not 0 < len(points) < MAX_TURNS:
        raise TypeError(f"{name} must be a sequence of integers, one per turn, not {points!r}")
    checked = [check_integer(name, entry, 0, most) for entry in points]
    return np.array([0, *checked, *checked[-1:] * (MAX_TURNS - 1 - len(checked))])


@kernel
def simple_draw(public, private) -> int:
    """Return Simple's draw: the upcard if it completes or extends a meld, otherwise decline it."""
    if public.phase != STOCK_ONLY and completes_meld(np.int64(private.hand), public.upcard):
        return DRAW_UPCARD
    return decline(public)


@kernel
def repeated_discards(public, private, player: int) -> int:
    """Return the mask of discards that would repeat an unordered {drawn, discarded} pair of this player.

    Only a card taken from the pile can repeat a pair, since a card from the stock is new to the hand.
    """
    repeated = np.int64(0)
    if public.taken < 0:
        return repeated
    upcard, mover = np.int64(public.first_upcard), first_mover(public)
    drawn = np.int64(-1)
    draws = 0
    for index in range(public.history_length - 1):  # the last entry is the draw just made
        action = np.int64(public.history[index])
        upcard = upcard_after(action, upcard)
        if mover == player:
            if is_discard(action):
                if drawn == public.taken:
                    repeated |= card_bit(upcard)
                elif upcard == public.taken:
                    repeated |= card_bit(drawn)
            elif action == DRAW_STOCK:
                drawn = np.int64(private.stock_draws[draws])
                draws += 1
            elif action == DRAW_UPCARD:
                drawn = upcard
        mover = next_mover(action, mover)
    return repeated


@kernel
def simple_action(public, private, player: int, random: int, knock_at: int) -> int:
    """Return the Simple player's action."""
    if public.phase != DISCARD:
        return simple_draw(public, private)
    allowed = discards_allowed(public, private)
    fresh = allowed & ~repeated_discards(public, private, player)
    best, least = least_deadwood_discards(np.int64(private.hand), fresh if fresh else allowed)
    card = pick_card(best, random)
    return card + (KNOCK if least <= min(knock_at, public.knock_limit) else 0)


@kernel
def _act(views, limits, actions):
    for index, view in enumerate(views):
        knock_at = limits[own_turn(view.public)]
        actions[index] = simple_action(view.public, view.private, view.player, view.random, knock_at)


@kernel
def _play_turns(state, games, both_seats, knock_limits, scoring):
    """Play the turns and return -1, or the position in `games` of a game that is over or unknown.

    In the second case nothing is played.
    """
    whole_game, pays, rewards, done, results = scoring
    for k in range(len(games)):
        if games[k] < 0 or games[k] >= len(state) or state[games[k]].public.phase == OVER:
            return k
    for k in range(len(games)):
        index = games[k]
        game = state[index]
        public = game.public
        mover = public.to_move
        while public.phase != OVER:
            player = public.to_move
            limit = knock_limits[own_turn(public)]
            random = decision_random(game, player)
            action = simple_action(public, game.private[player], player, random, limit)
            reward, over = play_and_score(game, action, whole_game, pays, results[index])
            rewards[index] += reward
            done[index] = over
            if results[index].ended or (public.to_move != mover and not both_seats):
                break
    return -1
