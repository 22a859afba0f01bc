"""Fuzzing of public calls: each call must work or raise a documented error.

Used by test_fuzz.py with a small budget and by soak.py with a large one.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable
from typing import Any

import gymnasium
import numpy as np
from gymnasium.error import ResetNeeded

import gin_env
from gin_env import actions, agents, cards, estimators, gin_rummy_v0, melds, observation
from gin_env.batch import Games
from gin_env.envs.gymnasium_env import GinRummyEnv
from gin_env.envs.vector_env import GinRummyVectorEnv
from gin_env.game.deals import check_deal_options, check_deck
from gin_env.game.rules import Rules
from gin_env.observations.compact import COMPACT, expand, expand_masks
from gin_env.observations.views import VIEW, PlayerView

MEANT = (TypeError, ValueError, IndexError, FileNotFoundError, ResetNeeded)
"""What a bad call may raise (IllegalActionError is a ValueError)."""
BOTS = ("random", "simple", "tonic", "utility", "medium", "safe-discard", "heuristics", "cfr-plus")
SMALL = Rules(ranks=6, suits=3, hand_size=4, knock_limit=6, opening_offer=False)


class CallFailedError(AssertionError):
    """A call raised an unexpected error, or was refused but changed something."""


def odd_value(rng: random.Random) -> Any:
    """Return a value that is invalid for almost any argument."""
    return rng.choice(
        [
            None,
            True,
            -1,
            10**400,
            2**63,
            2**64,
            -(2**63),
            0.5,
            float("nan"),
            float("inf"),
            1j,
            "",
            "AS",
            "simple",
            "x" * 1000,
            b"AS",
            [],
            [[]],
            [5_000_000],
            (1, 2),
            {},
            {"deck": 1},
            object(),
            int,
            np.timedelta64(3),
            np.datetime64("2020-01-01"),
            np.bool_(True),
            np.float32(2),
            np.uint64(2**64 - 1),
            np.int8(-1),
            np.array(3),
            np.array([]),
            np.array([5_000_000]),
            np.array([-1]),
            np.zeros((2, 2), np.int64),
            np.array(["1"]),
            np.array([None]),
            np.full(3, np.nan),
            np.arange(3, dtype=np.uint8),
            np.arange(4)[::2],
            np.zeros(3, VIEW),
            np.zeros(3, COMPACT),
            np.zeros(3, np.uint64),
            random_records(rng, VIEW),
            random_records(rng, COMPACT),
        ]
    )


def random_records(rng: random.Random, dtype: np.dtype) -> np.ndarray:
    """Return records (3,) of random bytes."""
    return np.frombuffer(rng.randbytes(3 * dtype.itemsize), dtype).copy()


class Fuzzer:
    """Random calls; `count` holds how often each was made and how often it was refused."""

    def __init__(self, seed: int) -> None:
        self.rng = random.Random(seed)
        self.made: Counter[str] = Counter()
        self.refused: Counter[str] = Counter()
        self.games = Games(5, self.rng.choice([None, SMALL]), self.rng.choice(["hand", "game"]))
        seeds = np.arange(5, dtype=np.uint64)
        self.games.start(self.games.everyone, seeds, seeds)
        self.aec = [gin_rummy_v0.raw_env(), gin_rummy_v0.env(episode="game")]
        self.single: list[Any] = [GinRummyEnv(), GinRummyEnv(["simple", "random"], episode="game")]
        self.vector = GinRummyVectorEnv(3)
        for env in (*self.aec, *self.single):
            env.reset(seed=1)
        self.vector.reset(seed=1)
        self.targets: list[Callable[[], None]] = [
            self.text,
            self.numbers,
            self.table,
            self.table,
            self.records,
            self.deals,
            self.pettingzoo,
            self.gymnasium,
            self.batch,
            self.by_name,
        ]

    def run(self, calls: int) -> None:
        """Make the given number of calls."""
        for _ in range(calls):
            self.rng.choice(self.targets)()

    def or_odd(self, value: Any, often: float = 0.3) -> Any:
        return odd_value(self.rng) if self.rng.random() < often else value

    def call(self, function: Callable[..., Any], *args: Any, state: Any = None, **kwargs: Any) -> Any:
        """Make a call. If it is refused, `state()` (bytes) must not change, and None is returned."""
        name = getattr(function, "__qualname__", repr(function))
        before = state() if state is not None else None
        self.made[name] += 1
        try:
            return function(*args, **kwargs)
        except MEANT:
            self.refused[name] += 1
            if state is not None and state() != before:
                raise CallFailedError(f"{name}{args}{kwargs} was refused and changed something") from None
        except Exception as error:
            raise CallFailedError(f"{name}{args}{kwargs} raised {error!r}") from error
        return None

    # --- What is called ---------------------------------------------------------------------------------

    def text(self) -> None:
        rng = self.rng
        self.call(
            rng.choice([cards.card_id, cards.parse]), self.or_odd(rng.choice(["AS", "TD 5C", "1S", "AS AS"]))
        )
        self.call(rng.choice([cards.card_text, actions.describe, actions.check_action]), self.or_odd(51))
        self.call(rng.choice([cards.format, cards.cards_of]), self.or_odd(rng.getrandbits(53)))
        self.call(cards.mask_of, self.or_odd([3, 7, self.or_odd(9)]))

    def numbers(self) -> None:
        rng = self.rng
        hand = cards.mask_of(rng.sample(range(52), rng.randrange(12)))
        self.call(rng.choice([melds.deadwood, melds.best_melds]), self.or_odd(hand))
        self.call(melds.layoff, self.or_odd(hand), self.or_odd(hand >> 13))
        name = rng.choice(["ranks", "hand_size", "knock_limit", "max_turns", "opening_offer", "target_score"])
        self.call(Rules, **{name: self.or_odd(rng.randrange(-2, 130))})
        vector = np.zeros((2, observation.OBSERVATION_SIZE), np.float32)
        self.call(rng.choice([observation.planes, observation.scalars]), self.or_odd(vector))
        self.call(observation.part, self.or_odd(vector), self.or_odd("hand"))

    def table(self) -> None:
        rng, games = self.rng, self.games

        def state() -> bytes:
            return b"".join(array.tobytes() for array in (games.state, games.rewards, games.done))

        some = np.flatnonzero(np.array([rng.random() < 0.6 for _ in range(5)]))
        if rng.random() < 0.1:
            some = rng.choice([some[::-1], some - 3, np.repeat(some, 2), np.append(some, 5)])
        some = self.or_odd(some, 0.1)
        number = rng.randrange(6)
        if number == 0:
            numbers = self.or_odd(np.arange(rng.choice([5, np.size(some)]), dtype=np.uint64))
            self.call(games.start, some, numbers, self.or_odd(numbers, 0.1), state=state)
        elif number == 1:
            deck = rng.sample(cards.cards_of(games.rules.deck_mask), games.rules.deck_size)
            dealer = self.or_odd(rng.randrange(2))
            self.call(games.set_deck, self.or_odd(rng.randrange(6)), self.or_odd(deck), dealer, state=state)
            self.call(games.deck, self.or_odd(3))
        elif number == 2:
            self.call(games.masks, some, self.or_odd(None))
            self.call(
                rng.choice([games.views, games.compact_observations]), some, self.or_odd(rng.randrange(3))
            )
            self.call(
                rng.choice([games.observations, lambda one, player: games.waiting_for(player, one)]),
                some,
                self.or_odd(rng.randrange(3)),
            )
        else:
            masks = self.call(games.masks, some)
            if masks is None:
                return
            legal = [int(rng.choice(np.flatnonzero(mask))) if mask.any() else 7 for mask in masks]
            chosen = np.array(legal, np.int64)
            if len(chosen) and rng.random() < 0.3:
                chosen[rng.randrange(len(chosen))] = rng.randrange(-200, 300)
            chosen = self.or_odd(chosen, 0.1)
            self.call(games.find_illegal, some, chosen, state=state)
            self.call(games.play, some, chosen, state=state)

    def records(self) -> None:
        rng = self.rng
        player = rng.choice([0, 1, None])
        compact = self.games.compact_observations(self.games.everyone, player)
        views = self.games.views(self.games.everyone, player).records.copy()
        for records in (compact, views):
            place = rng.randrange(records.nbytes)
            if rng.random() < 0.8:
                records.view(np.uint8).reshape(-1)[place] ^= 1 << rng.randrange(8)
        self.call(rng.choice([expand, expand_masks]), self.or_odd(compact))
        view = self.call(PlayerView, self.or_odd(views))
        if view is not None:
            view.masks(), view.observations(), [view.history(index) for index in range(len(view))]
            acting = view[np.flatnonzero(view.masks().any(axis=1))]
            if len(acting):
                self.call(agents.make(rng.choice(BOTS)).act, acting)
        self.call(PlayerView.__getitem__, self.games.views(self.games.everyone), self.or_odd(2))

    def deals(self) -> None:
        rng = self.rng
        deck = rng.sample(range(52), 52)
        self.call(check_deck, self.or_odd(deck), Rules())
        options = {"deck": self.or_odd(deck), "dealer": self.or_odd(1)}
        self.call(check_deal_options, self.or_odd(options), Rules(), rng.random() < 0.5)

    def pettingzoo(self) -> None:
        rng = self.rng
        env = rng.choice(self.aec)
        games = env.unwrapped.games
        if rng.random() < 0.1 or not env.agents or env.terminations[env.agent_selection]:
            deck = rng.sample(range(52), 52)
            options = self.or_odd({"deck": self.or_odd(deck), "dealer": self.or_odd(0)})
            self.call(env.reset, self.or_odd(3), options, state=games.state.tobytes)
            return
        seen = self.call(env.observe, self.or_odd(env.agent_selection, 0.1))
        if seen is not None:
            seen["action_mask"][:] = rng.randrange(2)
        env.infos[env.agent_selection]["action_mask"][:] = rng.randrange(2)
        legal = int(rng.choice(np.flatnonzero(games.masks(np.array([0]))[0])))
        if env is self.aec[0]:
            self.call(env.step, self.or_odd(legal), state=games.state.tobytes)
        else:
            env.step(legal)
            if games.rewards[0] or env.rewards["player_0"] == -1:
                raise CallFailedError("a legal action was taken for an illegal one")

    def gymnasium(self) -> None:
        rng = self.rng
        env = rng.choice(self.single)
        state = env.seat.games.state.tobytes
        if rng.random() < 0.1 or env.seat.done[0]:
            options = self.or_odd({"deck": self.or_odd(rng.sample(range(52), 52)), "dealer": self.or_odd(1)})
            self.call(env.reset, seed=self.or_odd(3), options=options, state=state)
        elif env.action_masks().any():
            legal = int(rng.choice(np.flatnonzero(env.action_masks())))
            self.call(env.step, self.or_odd(legal), state=state)

    def batch(self) -> None:
        rng, env = self.rng, self.vector
        state = env.seat.games.state.tobytes
        number = rng.randrange(10)
        if number == 0:
            seed = rng.choice([2**64 - 2, [1, 2, 3], [1, None, self.or_odd(2)], self.or_odd(5)])
            options = self.or_odd({"deck": self.or_odd(rng.sample(range(52), 52))})
            self.call(env.reset, seed=seed, options=options, state=state)
        elif number == 1:
            weights = self.or_odd([1, self.or_odd(2)])
            self.call(env.set_opponents, self.or_odd(["simple", "random"]), weights, state=state)
        else:
            masks = env.action_masks()
            legal = np.array([int(rng.choice(np.flatnonzero(mask))) for mask in masks])
            self.call(env.step, self.or_odd(legal), state=state)

    def by_name(self) -> None:
        rng = self.rng
        bot = rng.choice(
            ["simple", "random", "simple:knock_at=4", "nobody", "simple:x=1", "a.zip", ":", "=,"]
        )
        self.call(agents.make, self.or_odd(bot))
        self.call(estimators.make, self.or_odd(rng.choice(["uniform", "bayes", "none", "uniform:x=2"])))
        self.call(agents.make, "simple", knock_at=self.or_odd(5))
        options = {rng.choice(["games", "seed", "episode", "rules", "clairvoyant"]): odd_value(rng)}
        if not isinstance(options.get("games"), np.uint64 | int):
            self.call(gin_env.play_match, "simple", "simple", **({"games": 2} | options))
        name = rng.choice(
            ["rules", "episode", "reward", "opponent", "illegal_action", "estimator", "num_envs"]
        )
        if name != "num_envs":
            make = lambda **options: gymnasium.make("gin_env/GinRummy-v0", **options)  # noqa: E731
            self.call(make, **{name: odd_value(rng)})
