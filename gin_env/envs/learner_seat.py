"""A learner in one seat and bots in the other: the core of the Gymnasium, vector and SB3 environments.

The learner is player 0 in every game; the first dealer is random and the deal alternates, so both seats are
worth the same. The learner sees only its own turns: after each of its actions the opponents play until every
unfinished game waits for the learner again. Rewards accumulate in between, so the learner always sees the
outcome of a hand, no matter which player ended it.
"""

# mypy: disable-error-code="no-untyped-def,return-value"

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from functools import cached_property
from typing import Any, Literal, TypeAlias, get_args

import numpy as np
from gymnasium.spaces import Space

from gin_env.agents import Agent, AnyAgent, resolve
from gin_env.agents.policies.policy import describe_training
from gin_env.agents.turns import play_seated
from gin_env.batch import Episode, Games, Reward
from gin_env.envs import encoder
from gin_env.envs.encoder import Encoder, Observation
from gin_env.envs.snapshots import Restorable
from gin_env.estimators.base import Estimator
from gin_env.game.rules import RulesLike
from gin_env.game.state import OUTCOME_NAMES
from gin_env.game.streams import OPPONENT, check_seed, mix, stream, unit
from gin_env.support.checks import check_choice, is_integer
from gin_env.support.compilation import kernel

LEARNER, OPPONENT_SEAT = 0, 1
IllegalAction: TypeAlias = Literal["raise", "lose"]
MAX_SKIPPED = 1000
"""Maximum number of consecutive episodes skipped with a fixed dealer. Some combinations of rules and opponent
never give the learner a turn when it deals."""

_OUTCOMES = np.array([*OUTCOME_NAMES, "illegal"])
NO_RESULT = {"outcome": OUTCOME_NAMES[0], "won": False, "points": 0, "turns": 0}
"""The other entries of an info before the episode is over: every info has the same keys."""

Opponents: TypeAlias = AnyAgent | Sequence[AnyAgent]
"""One bot (name, path of a trained policy, or object), or several from which each hand draws one; with a
memory of earlier hands, each game."""


class Options(encoder.Options, total=False):
    """The keywords that all environments with one learner share; `LearnerSeat` has their defaults."""

    illegal_action: IllegalAction


class Seated(Restorable):
    """The common part of the environments with one learner, whose games are in `seat`."""

    seat: LearnerSeat

    def set_opponents(self, opponent: Opponents, weights: Sequence[float] | None = None) -> None:
        """Change the opponents, starting with the next hand of each game; see `LearnerSeat.set_opponents`."""
        self.seat.set_opponents(opponent, weights)

    def describe_training(self) -> dict[str, Any]:
        """Return what a model trained here must store: rules, episode, estimator and layout.

        Models of Stable-Baselines3 store it with the observation space.
        """
        return self.seat.describe_training()


class LearnerSeat(Restorable):
    """A batch of games with a learner in one seat.

    Parameters
    ----------
    num_games, rules, episode, reward : see `gin_env.batch.Games`.
    opponent : one bot, or a list from which each hand (with `memory`, each game) draws one with equal
        probability.
    illegal_action : ``"raise"`` refuses an illegal action and changes nothing; ``"lose"`` ends the episode
        with reward -1.
    estimator, candidates, flat, memory, mask : see `gin_env.envs.encoder.Encoder`.
    """

    _CHANGING = (
        "games", "encoder", "rewards", "seeds", "episodes", "_bot_of_game", "_pool_start", "_pool_shares"
    )  # fmt: skip
    _SHARED = ("_bots", "_names")

    def __init__(
        self,
        num_games: int,
        opponent: Opponents = "simple",
        rules: RulesLike = None,
        *,
        episode: Episode = "hand",
        reward: Reward = "points",
        illegal_action: IllegalAction = "raise",
        estimator: str | Estimator = "uniform",
        candidates: bool = False,
        flat: bool = False,
        memory: bool = False,
        mask: bool = True,
    ) -> None:
        check_choice("illegal_action", illegal_action, get_args(IllegalAction))
        self.games = Games(num_games, rules, episode, reward)
        self.encoder = Encoder(self.games, estimator, candidates, flat, memory, mask)
        self.lose_on_illegal = illegal_action == "lose"
        self.rewards = np.zeros(num_games, np.float32)
        """The learner's rewards of the last step: float32 (num_games,)."""
        self.seeds = np.random.SeedSequence().generate_state(num_games, np.uint64)
        self.episodes = np.zeros(num_games, np.uint64)
        self._bots: list[Agent] = []
        self._bot_of_game = np.zeros(num_games, np.intp)
        self.set_opponents(opponent)

    @property
    def done(self) -> np.ndarray:
        """Whether the episode ended in the last step: bool (num_games,)."""
        return self.games.done

    @cached_property
    def space(self) -> Space[Any]:
        """The space of an observation. A model stores it, and with it how the model was trained."""
        space: Any = self.encoder.space()
        with suppress(ValueError):  # an estimator without a name
            space.gin_env = self.describe_training()
        return space

    def describe_training(self) -> dict[str, Any]:
        """Return what a model trained here must store: rules, episode, estimator and layout."""
        games, encoder = self.games, self.encoder
        episode: Episode = "game" if games.whole_game else "hand"
        return describe_training(games.rules, episode, encoder.estimator, encoder.candidates, encoder.memory)

    def set_opponents(self, opponent: Opponents, weights: Sequence[float] | None = None) -> None:
        """Draw opponents from this pool, starting with the next hand of each game (or the next game).

        `weights` are relative frequencies (default: equal). Raises TypeError or ValueError if the pool or the
        weights are invalid.
        """
        if isinstance(opponent, str) or not isinstance(opponent, Sequence):
            opponent = [opponent]
        pool = [resolve(bot, programs=True) for bot in opponent]
        if not pool:
            raise ValueError("the pool of opponents is empty")
        shares = np.ones(len(pool)) if weights is None else _check_weights(weights, len(pool))
        seated = np.unique(self._bot_of_game) if self._bots else np.empty(0, np.intp)
        self._bots = [self._bots[index] for index in seated] + pool
        self._names = np.array([bot.name for bot in self._bots])
        self._bot_of_game = np.searchsorted(seated, self._bot_of_game)
        self._pool_start = len(seated)
        self._pool_shares = np.cumsum(shares / shares.sum())

    def opponent_names(self, games: np.ndarray | None = None) -> np.ndarray:
        """Return the name of the opponent of the current hand of each of `games` (default: all): str (k,)."""
        return self._names.take(self._bot_of_game if games is None else self._bot_of_game[games])

    def opponent_name(self, game: int) -> str:
        """Return the same for one game, faster."""
        return self._bots[self._bot_of_game[game]].name

    def reset(
        self,
        games: np.ndarray,
        seeds: Sequence[int | None],
        decks: Sequence[np.ndarray] = (),
        dealer: int | None = None,
    ) -> None:
        """Call `begin` for these games, with episode 0 of their seeds or, for None, with their next episode.

        `seeds` has an entry for every game of the batch. Nothing changes if `begin` refuses the deals.
        """
        before = self.get_state() if len(decks) or dealer is not None else None
        for game in games.tolist():
            seed = seeds[game]
            if seed is not None:
                self.seeds[game], self.episodes[game] = seed, 0
        try:
            self.begin(games, decks, dealer)
        except Exception:
            if before is not None:
                self.set_state(before)
            raise

    def _setting(self) -> tuple[Any, ...]:
        return "learner", self.lose_on_illegal

    def begin(self, games: np.ndarray, decks: Sequence[np.ndarray] = (), dealer: int | None = None) -> None:
        """Begin the next episode in each of `games` and play the opponents' turns before the learner's first.

        An opponent occasionally ends a hand before the learner's first turn. Such an episode of one hand has
        no decision, so it is skipped. `decks` and `dealer` (see `deals.check_deal_options`) fix the deals.
        Raises ValueError if the opponent ends the hand before the learner's first turn with these decks, or
        in `MAX_SKIPPED` consecutive episodes with this dealer.
        """
        fixed = len(decks) > 0 or dealer is not None
        started, num_skipped = games, 0
        while len(games):
            self.games.begin(games, self.seeds[games], self.episodes[games])
            self.episodes[games] += np.uint64(1)
            self.games.rewards[games] = 0
            for game in games if fixed else ():
                self.games.fix_deals(game, decks, dealer)
            self._seat_opponents(games)
            self._play_opponents(games)
            games = games[self.games.done[games]]
            if len(decks) and len(games):
                raise ValueError("with this deck the opponent ends the hand before the learner's first turn")
            num_skipped += 1
            if dealer is not None and len(games) and num_skipped >= MAX_SKIPPED:
                raise ValueError(
                    f"with this dealer the opponent ended {num_skipped} consecutive episodes before the "
                    "learner's first turn; omit the option 'dealer', or change the rules or the opponent"
                )
        self.encoder.forget(started)

    def step(self, actions: np.ndarray, playing: np.ndarray | None = None) -> None:
        """Play the learner's actions and the opponents' replies; set `rewards` and `done`.

        Parameters
        ----------
        actions : int64 array, shape (num_games,).
        playing : indices of the games in which the learner acts, none of which may be over; default: all.

        With ``illegal_action="raise"`` an IllegalActionError leaves everything unchanged.
        """
        games = self.games
        if playing is None:
            playing = games.everyone
        else:
            actions = actions[playing]
        if self.lose_on_illegal:
            illegal = games.find_illegal(playing, actions)
            lost, playing, actions = playing[illegal], playing[~illegal], actions[~illegal]
            games.play_legal(playing, actions)
            games.rewards[lost] = -1
            games.done[lost] = True
            games.results["ended"][lost] = False
        else:
            games.play(playing, actions, checked=False)
        self._seat_opponents_of_new_hands(playing)
        self._play_opponents(playing)
        self.rewards = games.rewards.copy()
        games.rewards[:] = 0

    def masks(self) -> np.ndarray:
        """Return the learner's action masks: int8 (num_games, 107), all zero in a game that is over."""
        masks = self.games.masks(self.games.everyone)
        if self.lose_on_illegal:
            masks[self.done] = 0
        return masks

    def observe(self, masks: np.ndarray, games: np.ndarray | None = None) -> Observation:
        """Return the learner's observations, for the masks of these games; see `Encoder.observe`."""
        return self.encoder.observe(LEARNER, masks, games)

    def hand_results(self, games: np.ndarray) -> dict[str, np.ndarray]:
        """Return how the last hands of games that are over ended for the learner, as info entries (k,).

        ``opponent`` is the opponent's name. ``outcome`` is one of `OUTCOME_NAMES`, or ``"illegal"`` if an
        illegal action ended the episode.
        """
        results = self.games.results[games]
        ended = results["ended"]
        return {
            "opponent": self.opponent_names(games),
            "outcome": _OUTCOMES.take(np.where(ended, results["outcome"], len(OUTCOME_NAMES))),
            "won": ended & (results["winner"] == LEARNER),
            "points": results["points"] * ended,
            "turns": results["turns"] * ended,
        }

    def pictures(self, most: int, width: int) -> list[np.ndarray]:
        """Return pictures of the first games, at most `most`, with both hands; see `ui.picture.image`."""
        from gin_env.ui import picture

        return [picture.image(game, width=width) for game in self.games.state[:most]]

    def _seat_opponents_of_new_hands(self, games: np.ndarray) -> None:
        """Draw the opponent of the next hand where the last action ended a hand but not the game."""
        if self.games.whole_game and not self.encoder.memory:
            self._seat_opponents(games[self.games.results["ended"][games] & ~self.done[games]])

    def _play_opponents(self, games: np.ndarray) -> None:
        """Play the bots' turns until each of these games is over or waits for the learner."""
        waiting = self.games.waiting_for(OPPONENT_SEAT, games, checked=False)
        while len(waiting):
            play_seated(self.games, self._bots, self._bot_of_game[waiting], waiting)
            self._seat_opponents_of_new_hands(waiting)
            waiting = self.games.waiting_for(OPPONENT_SEAT, waiting, checked=False)

    def _seat_opponents(self, games: np.ndarray) -> None:
        """Draw the opponent of each game's current hand with the random number of that hand."""
        if len(self._bots) == 1 or not len(games):
            return
        chances = np.empty(len(games))
        _draw_chances(self.games.state, games, chances)
        self._bot_of_game[games] = self._pool_start + np.searchsorted(
            self._pool_shares[:-1], chances, side="right"
        )


def _check_weights(weights: Any, size: int) -> np.ndarray:
    """Return weights scaled to a maximum of 1: float64 (size,). Raises ValueError for invalid weights."""
    message = f"weights must be {size} finite numbers >= 0, not all 0, not {weights!r}"
    try:
        shares = np.asarray(weights, float)
    except (OverflowError, TypeError, ValueError) as error:
        raise ValueError(message) from error
    if shares.shape != (size,) or not np.isfinite(shares).all() or (shares < 0).any() or not shares.any():
        raise ValueError(message)
    return shares / shares.max()  # their sum may be too large for a float


def check_seeds(seed: Any, num_games: int) -> list[int | None]:
    """Return one seed for each game; as in Gymnasium's vector environments, n means n, n + 1, ...

    Raises TypeError or ValueError for an invalid seed or a list of the wrong length.
    """
    if seed is None:
        return [None] * num_games
    if is_integer(seed):
        first = check_seed(seed)
        check_seed(first + num_games - 1)
        return [first + index for index in range(num_games)]
    if not isinstance(seed, Sequence | np.ndarray) or isinstance(seed, str):
        raise TypeError(f"seed must be a non-negative integer or one for each game, not {seed!r}")
    if len(seed) != num_games:
        raise ValueError(f"expected {num_games} seeds, got {len(seed)}")
    return [None if game_seed is None else check_seed(game_seed) for game_seed in seed]


@kernel
def _draw_chances(state, games, chances):
    """Write a random number in [0, 1) for each game's current hand."""
    for k in range(len(games)):
        game = state[games[k]]
        key = stream(game.hidden.deal_key, game.public.hand_number, OPPONENT)
        chances[k] = unit(mix(key, 0))
