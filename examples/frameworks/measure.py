"""Shared code of the scripts in this folder: options, counters, and a match before and after learning.

It is not part of gin-env; your own learner does not need it.

>>> run = Run("torch", opponent="random")  # reads the options
>>> run.begin(choose)  # plays the first match and starts the clock
>>> while not run.over():
...     run.count(masks, actions)  # whatever the framework chose
>>> run.finish()  # plays the second match and prints the line that `make compatibility` reads
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from importlib.metadata import version
from typing import Any, Self

import numpy as np

from gin_env import PlayerView, play_match

Choose = Callable[[np.ndarray, np.ndarray], Any]
"""(observations float32 (n, OBSERVATION_SIZE), masks bool (n, 107)) to actions, integers (n,)."""
Act = Callable[[PlayerView], Any]
"""Views (n,) to actions, integers (n,), as the method of a bot."""


class Run:
    """One run of a script; it is the bot of its matches too.

    Parameters
    ----------
    package : the framework's name on PyPI, for its version.
    opponent : the bot of both matches.
    more : further options with their defaults.
    """

    name = "learner"

    def __init__(self, package: str, opponent: str = "random", **more: Any) -> None:
        parser = argparse.ArgumentParser(formatter_class=argparse.ArgumentDefaultsHelpFormatter)
        parser.add_argument("--seconds", type=float, default=60.0, help="time to learn")
        parser.add_argument("--steps", type=int, default=10**9, help="decisions to learn from, at most")
        parser.add_argument("--games", type=int, default=2000, help="hands of each match")
        parser.add_argument("--seed", type=int, default=0)
        for name, default in more.items():
            parser.add_argument(f"--{name}", type=type(default), default=default)
        self.options = parser.parse_args()
        self.seed: int = self.options.seed
        self.package, self.opponent = package, opponent
        self.steps = self.masked = 0

    def begin(
        self, choose: Choose | None = None, act: Act | None = None, score: Callable[[], float] | None = None
    ) -> None:
        """Start the clock after the match before learning: by `choose` or `act`, or what `score` returns."""
        self.choose, self.decide = choose, act
        self.score = score or self.play_match
        self.started = time.perf_counter()
        self.before = self.score()
        self.steps = self.masked = 0
        self.started = time.perf_counter()

    def count(self, masks: Any, actions: Any) -> None:
        """Note decisions (n,) and which of them their masks (n, 107) forbid."""
        actions = np.asarray(actions).reshape(-1)
        masks = np.asarray(masks).reshape(len(actions), -1)
        self.steps += len(actions)
        self.masked += int((masks[np.arange(len(actions)), actions] == 0).sum())

    def over(self) -> bool:
        """Return whether time or steps are used up."""
        used = time.perf_counter() - self.started
        return used >= self.options.seconds or self.steps >= self.options.steps

    def finish(self, score: float | None = None) -> None:
        """Play the match after learning (unless `score` gives its result) and print the result."""
        rate = self.steps / (time.perf_counter() - self.started)
        after = self.score() if score is None else score
        print(
            f"{self.package} {version(self.package)}: {self.steps:,} steps, {rate:,.0f} steps/s, "
            f"masked actions chosen: {self.masked}, "
            f"return against {self.opponent} before {self.before:+.3f}, after {after:+.3f}"
        )

    def play_match(self) -> float:
        """Return the mean return of a hand: points / 100, negative if the opponent wins."""
        games = self.options.games
        result = play_match(self, self.opponent, games=games, seed=self.seed, episode="hand")
        return (result.points[0] - result.points[1]) / result.hands / 100

    def __deepcopy__(self, memo: dict[int, Any]) -> Self:
        return self  # a match copies other bots; this one is the program

    def act(self, view: PlayerView) -> np.ndarray:
        """Act as a bot. A masked action would stop the match with an error that names it."""
        if self.decide:
            actions = self.decide(view)
        elif self.choose:
            actions = self.choose(view.observations(), view.masks().astype(bool))
        else:
            raise RuntimeError("call begin() with choose or act first")
        return np.asarray(actions, np.int64).reshape(-1)
