"""One seat for a learner, bots in the other: the core of the Gymnasium, vector and SB3 environments.

The learner is player 0 at every table (the first dealer is random and the deal alternates, so both seats
are worth the same). She sees her own turns only: after each of her actions the opponents play inside until
every unfinished game waits for her again. Rewards, hers and the opponents', add up in between, so she
always sees how a hand ended, no matter who ended it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal, TypeAlias, get_args

import numpy as np

from gin_env.agents import Agent, resolve
from gin_env.agents.base import Clairvoyant
from gin_env.agents.turns import play_seated
from gin_env.batch import Episode, Games, Reward
from gin_env.envs.estimate_plane import EstimatePlane
from gin_env.estimators.base import Estimator
from gin_env.game.rules import Rules
from gin_env.game.streams import OPPONENT, check_seed, mix, stream, unit
from gin_env.observations.candidates import DISCARD_ROWS, ENTRIES, NO_ACTION, NUM_FEATURES
from gin_env.observations.observation import OBSERVATION_SIZE
from gin_env.support.buffers import Buffers
from gin_env.support.checks import is_integer
from gin_env.support.compilation import kernel

LEARNER, OPPONENT_SEAT = 0, 1
IllegalAction: TypeAlias = Literal["raise", "lose"]
ILLEGAL_ACTION = get_args(IllegalAction)
MOST_SKIPPED = 1000
"""Episodes that may be skipped in a row where the dealer is fixed: rules and an opponent can be such that the
learner, if she deals, never has a turn."""

Opponents: TypeAlias = str | Agent | Sequence[str | Agent]
"""One bot (name, path of a trained policy, or object), or several to choose from for each hand."""


class LearnerSeat:
    """`num_games` tables with a learner at one side.

    Parameters
    ----------
    num_games, rules, episode, reward : see `gin_env.batch.Games`.
    opponent : one bot, or a list to choose from with equal probability for each hand.
    illegal_action : ``"raise"`` refuses an illegal action and changes nothing; ``"lose"`` ends the episode
        with reward -1.
    estimator : what fills the observations' estimate plane, see `gin_env.estimators.resolve`.
    """

    def __init__(
        self,
        num_games: int,
        opponent: Opponents = "simple",
        rules: Rules | None = None,
        episode: Episode = "hand",
        reward: Reward = "points",
        illegal_action: IllegalAction = "raise",
        estimator: str | Estimator = "uniform",
    ) -> None:
        if illegal_action not in ILLEGAL_ACTION:
            raise ValueError(
                f"unknown illegal_action {illegal_action!r}; choose from {', '.join(ILLEGAL_ACTION)}"
            )
        self.games = Games(num_games, rules, episode, reward)
        self._estimates = EstimatePlane(estimator, num_games)
        self._observations = Buffers((num_games, OBSERVATION_SIZE), np.float32)
        self._rows = Buffers((num_games, DISCARD_ROWS, NUM_FEATURES), np.float32)
        self.lose_on_illegal = illegal_action == "lose"
        self.rewards = np.zeros(num_games, np.float32)
        """float32 (num_games,): the learner's rewards of the last step."""
        self.seeds = np.random.SeedSequence().generate_state(num_games, np.uint64)
        self.episodes = np.zeros(num_games, np.uint64)
        self._bots: list[Agent] = []
        self._bot_of_game = np.zeros(num_games, np.intp)
        self.set_opponents(opponent)

    def __len__(self) -> int:
        return len(self.games)

    @property
    def done(self) -> np.ndarray:
        """bool (num_games,): the episode ended in the last step."""
        return self.games.done

    @property
    def estimator(self) -> Estimator:
        """What fills the estimate plane."""
        return self._estimates.estimator

    def set_opponents(self, opponent: Opponents, weights: Sequence[float] | None = None) -> None:
        """Choose opponents from this pool from the next hand of each game on; current hands are played out.

        `weights` are relative frequencies (default: equal). Raises TypeError or ValueError if the pool or the
        weights are invalid.
        """
        if isinstance(opponent, str) or not isinstance(opponent, Sequence):
            opponent = [opponent]
        pool = [resolve(bot, programs=True) for bot in opponent]
        if not pool:
            raise ValueError("the pool of opponents is empty")
        for bot in pool:
            if isinstance(bot, Clairvoyant):
                raise ValueError(
                    f"bot {bot.name!r} must be told its opponent's hand: "
                    "it plays in play_match(..., clairvoyant=True) only"
                )
        shares = np.ones(len(pool)) if weights is None else _check_weights(weights, len(pool))
        seated = np.unique(self._bot_of_game) if self._bots else np.empty(0, np.intp)
        self._bots = [self._bots[index] for index in seated] + pool
        self._bot_of_game = np.searchsorted(seated, self._bot_of_game)
        self._pool_start = len(seated)
        self._pool_shares = np.cumsum(shares / shares.sum())

    def reseed(self, game: int, seed: int | None) -> None:
        """The next episode of `game` is number 0 of this seed (None: the episode after the last one)."""
        if seed is not None:
            self.seeds[game] = check_seed(seed)
            self.episodes[game] = 0

    def reset(
        self,
        games: np.ndarray,
        seeds: Sequence[int | None],
        decks: Sequence[np.ndarray] = (),
        dealer: int | None = None,
    ) -> None:
        """`reseed` each of `games` and `begin` it; if `begin` refuses the deals, everything is as it was.

        `seeds` has an entry for every game there is.
        """
        before = self._copy() if len(decks) or dealer is not None else None
        for game in games.tolist():
            self.reseed(game, seeds[game])
        try:
            self.begin(games, decks, dealer)
        except ValueError:
            if before is not None:
                self._restore(before)
            raise

    def _copy(self) -> tuple[list[tuple[np.ndarray, np.ndarray]], dict[int, list[np.ndarray]]]:
        arrays = [*vars(self).values(), *vars(self.games).values()]
        decks = {game: list(decks) for game, decks in self.games.fixed_decks.items()}
        return [(array, array.copy()) for array in arrays if isinstance(array, np.ndarray)], decks

    def _restore(
        self, before: tuple[list[tuple[np.ndarray, np.ndarray]], dict[int, list[np.ndarray]]]
    ) -> None:
        arrays, self.games.fixed_decks = before
        for array, copy in arrays:
            array[:] = copy

    def begin(self, games: np.ndarray, decks: Sequence[np.ndarray] = (), dealer: int | None = None) -> None:
        """Begin the next episode in each of `games`; play the opponents' turns before the learner's first.

        An opponent may end a hand before the learner has had a turn (281 of 200,000 against `simple`).
        As an episode of one hand it would have no decision in it: it is skipped and the next one begins.
        `decks` and `dealer` (see `deals.check_deal_options`) fix the deals. Raises ValueError if with such a
        deck the opponent ends the hand before the learner has had a turn, and if with such a dealer that
        happens in `MOST_SKIPPED` episodes in a row.
        """
        fixed = len(decks) > 0 or dealer is not None
        began, skipped = games, 0
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
            skipped += 1
            if dealer is not None and len(games) and skipped >= MOST_SKIPPED:
                raise ValueError(
                    f"with this dealer the opponent ended {skipped} episodes in a row before the learner's "
                    "first turn: leave the option 'dealer' out, or change the rules or the opponent"
                )
        self._estimates.forget(began)

    def step(self, actions: np.ndarray, playing: np.ndarray | None = None) -> None:
        """Play the learner's int64 (num_games,) actions and the opponents' replies; set `rewards` and `done`.

        `playing` are the games in which she acts, none of which may be over (`begin` starts them); default:
        all. With ``illegal_action="raise"`` an IllegalActionError leaves everything as it was.
        """
        table = self.games
        if playing is None:
            playing = table.everyone
        else:
            actions = actions[playing]
        if self.lose_on_illegal:
            illegal = table.find_illegal(playing, actions)
            lost, playing, actions = playing[illegal], playing[~illegal], actions[~illegal]
            table.play_legal(playing, actions)
            table.rewards[lost] = -1
            table.done[lost] = True
            table.results["ended"][lost] = False
        else:
            table.play(playing, actions, checked=False)
        self._seat_opponents_of_new_hands(playing)
        self._play_opponents(playing)
        self.rewards = table.rewards.copy()
        table.rewards[:] = 0

    def observations(self, games: np.ndarray | None = None) -> np.ndarray:
        """float32 (k, OBSERVATION_SIZE): what the learner sees; no array that the caller still holds."""
        if games is not None:
            return self._estimates.observe(self.games, games, LEARNER)
        return self._estimates.observe(self.games, self.games.everyone, LEARNER, self._observations.take())

    def masks(self) -> np.ndarray:
        """int8 (num_games, 107): the learner's legal actions (all zero in a game that is over)."""
        masks = self.games.masks(self.games.everyone)
        if self.lose_on_illegal:
            masks[self.done] = 0
        return masks

    def candidates(self, games: np.ndarray | None = None) -> dict[str, np.ndarray]:
        """What the learner may do, as the `ENTRIES` of candidates (k, ...); no arrays that the
        caller still holds.

        There is no candidate in a game that is over.
        """
        rows = self._rows.take() if games is None else None
        games = self.games.everyone if games is None else games
        rows, actions, table = self.games.candidates(games, rows, player=LEARNER)
        if self.lose_on_illegal:
            over = self.done[games]
            rows[over], actions[over] = 0, NO_ACTION
        return dict(zip(ENTRIES, (rows, actions, table), strict=True))

    def _seat_opponents_of_new_hands(self, games: np.ndarray) -> None:
        """Where the last action ended one hand of a longer game, choose the opponent of the next."""
        table = self.games
        if table.whole_game:
            self._seat_opponents(games[table.results["ended"][games] & ~table.done[games]])

    def _play_opponents(self, games: np.ndarray) -> None:
        """Let the bots play until each of these games is over or waits for the learner."""
        waiting = self.games.waiting_for(OPPONENT_SEAT, games, checked=False)
        while len(waiting):
            play_seated(self.games, self._bots, self._bot_of_game[waiting], waiting)
            self._seat_opponents_of_new_hands(waiting)
            waiting = self.games.waiting_for(OPPONENT_SEAT, waiting, checked=False)

    def _seat_opponents(self, games: np.ndarray) -> None:
        """Choose the opponent of each game's current hand from the pool, by the hand's own random number."""
        if len(self._bots) == 1 or not len(games):
            return
        numbers = np.empty(len(games))
        _opponent_numbers(self.games.state, games, numbers)
        self._bot_of_game[games] = self._pool_start + np.searchsorted(
            self._pool_shares[:-1], numbers, side="right"
        )


def _check_weights(weights: Any, count: int) -> np.ndarray:
    """float64 (count,), at most 1: relative frequencies. Raises ValueError for what are none."""
    wrong = f"expected {count} weights >= 0, not all of them 0, got {weights!r}"
    try:
        shares = np.asarray(weights, float)
    except (OverflowError, TypeError, ValueError) as error:
        raise ValueError(wrong) from error
    if shares.shape != (count,) or not np.isfinite(shares).all() or (shares < 0).any() or not shares.any():
        raise ValueError(wrong)
    return shares / shares.max()  # their sum may be too large for a float


def check_seeds(seed: Any, num_games: int) -> list[int | None]:
    """One seed for each game, as Gymnasium's vector environments read the argument: n means n, n+1, ...

    Raises TypeError or ValueError for an invalid seed or a list of the wrong length.
    """
    if seed is None:
        return [None] * num_games
    if is_integer(seed):
        first = check_seed(seed)
        check_seed(first + num_games - 1)
        return [first + index for index in range(num_games)]
    if not isinstance(seed, Sequence | np.ndarray) or isinstance(seed, str):
        raise TypeError(f"a seed is a non-negative integer, or a sequence of one for each game, not {seed!r}")
    if len(seed) != num_games:
        raise ValueError(f"expected {num_games} seeds, got {len(seed)}")
    return [None if one is None else check_seed(one) for one in seed]


@kernel
def _opponent_numbers(state, games, numbers):
    """Random numbers in [0, 1), one for each game's current hand."""
    for k in range(len(games)):
        game = state[games[k]]
        key = stream(game.hidden.deal_key, game.public.hand_number, OPPONENT)
        numbers[k] = unit(mix(key, 0))
