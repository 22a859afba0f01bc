"""Speed of the learning examples at collecting and learning: ``python -m research run ppo/speed``.

It is meaningful only with two idle cores. All measurements are repeated in alternation, so medians and ratios
come from the same period on the same machine.
"""

from __future__ import annotations

import statistics
import sys
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import torch
from sb3_contrib import MaskablePPO
from stable_baselines3.common.vec_env.base_vec_env import VecEnvStepReturn
from torch.profiler import ProfilerActivity, profile

from benchmarks.learning_scale import warm_up
from gin_env import agents
from gin_env.agents.turns import play_bot
from gin_env.batch import Games
from gin_env.envs.encoder import Observation
from gin_env.observations.candidates import DISCARD_ROWS, NUM_CONTEXT, NUM_FEATURES
from gin_env.support.allocator import keep_freed_memory
from gin_env.training.learner import Learner
from gin_env.training.ranks import Ranks, launch
from gin_env.training.settings import PPOSettings
from gin_env.wrappers.sb3 import GinRummyVecEnv

sys.path.insert(0, str(Path(__file__).parents[1] / "examples"))
import ppo_selfplay

POSITIONS = 1024
EXAMPLES = ((1, 1024), (1, 2048), (2, 1024), (2, 2048))
"""Numbers of workers and of games of examples/ppo.py; the minibatches grow with the games."""
UPDATES = 4
"""Number of updates in a measurement."""
PRODUCTS = ("aten::mm", "aten::addmm", "aten::baddbmm")
"""PyTorch's operations that multiply matrices."""
LARGE = 1024
"""Rows and columns of a matrix with which the processor multiplies as fast as it can."""
Rates = dict[str, float]
"""Rates per second, by kind of work."""


def collect_and_learn(settings: PPOSettings, ranks: Ranks) -> Rates:
    """Return the decisions collected and learned per second by all ranks, after three warm-up updates."""
    learner = Learner(settings, ranks)
    warm_up(learner)
    collected, learned, seconds = 0.0, 0, [0.0, 0.0]
    for _ in range(UPDATES):
        started = time.perf_counter()
        learner.collect()
        collected += float(ranks.sum(np.array(learner.batch.count)))
        between = time.perf_counter()
        learned += learner.update(1.0)[0]
        seconds[0] += between - started
        seconds[1] += time.perf_counter() - started
    name = f"ppo.py, workers {ranks.size}, {settings.num_envs:,} games"
    return {f"{name}: collected": collected / seconds[0], f"{name}: learned": learned / seconds[1]}


def learn_apart(settings: PPOSettings, ranks: Ranks) -> Rates:
    """Learn in every process alone: what the ranks would reach if communication took no time."""
    rates = collect_and_learn(settings, Ranks())
    total = float(ranks.sum(np.array(list(rates.values())[1])))
    return {f"{ranks.size} processes that learn apart, {settings.num_envs:,} games each: learned": total}


class FreeGames(GinRummyVecEnv):
    """Games without computation: after a number of real steps their observations repeat."""

    REAL_STEPS = 32

    def reset(self) -> Observation:
        self._seen: list[tuple[Any, np.ndarray]] = []
        self._step = 0
        return super().reset()

    def step_wait(self) -> VecEnvStepReturn:
        if len(self._seen) < self.REAL_STEPS:
            answer = super().step_wait()
            self._seen.append((answer[0], self._masks))
            return answer
        self._step += 1
        observation, self._masks = self._seen[self._step % self.REAL_STEPS]
        nothing = np.zeros(self.num_envs, np.float32), np.zeros(self.num_envs, bool)
        return observation, *nothing, [{} for _ in range(self.num_envs)]


def repeated(what: str, times: int, count: int, work: Callable[[], object]) -> Callable[[], Rates]:
    """Measure `times` repetitions of some work, which does `count` things; it is done once beforehand."""

    def measure() -> Rates:
        begun = time.perf_counter()
        for _ in range(times):
            work()
        return {what: times * count / (time.perf_counter() - begun)}

    work()
    return measure


def of_stable_baselines(free: bool, folder: Path) -> Callable[[], Rates]:
    """Measure decisions learned per second by examples/ppo_selfplay.py, against Simple or in free games."""
    settings = ppo_selfplay.Settings(folder)
    model: MaskablePPO = ppo_selfplay.make_model(settings)
    games = (FreeGames if free else GinRummyVecEnv)(
        settings.num_envs, "simple", seed=settings.seed, candidates=True
    )
    model.set_env(games)
    _, callback = model._setup_learn(10**12)

    def learn() -> None:
        model.collect_rollouts(games, callback, model.rollout_buffer, settings.num_steps)
        model.train()

    name = f"Stable-Baselines3, {'free' if free else 'our'} games: learned"
    return repeated(name, 1, settings.num_envs * settings.num_steps, learn)


def positions() -> Games:
    """Hands of Simple against itself after fourteen actions each: half of the players have to discard."""
    games = Games(POSITIONS)
    games.start(games.everyone, np.full(POSITIONS, 1, np.uint64), np.arange(POSITIONS, dtype=np.uint64))
    bot = agents.make("simple")
    for step in range(15):
        waiting = games.everyone[~games.done]
        play_bot(games, bot, waiting[waiting % 2 == 0] if step == 14 else waiting)
    return games


def of_candidates() -> Callable[[], Rates]:
    """Candidates of all players to move, written into existing arrays."""
    games = positions()
    rows = np.empty((POSITIONS, DISCARD_ROWS, NUM_FEATURES), np.float32)
    actions = np.empty((POSITIONS, DISCARD_ROWS, 2), np.int64)
    table = np.empty((POSITIONS, NUM_CONTEXT), np.float32)
    write = partial(games.candidates, games.everyone, rows, actions, table)
    return repeated("candidates written", 200, POSITIONS, write)


def of_the_policy() -> Callable[[], Rates]:
    """Decisions of the bot `policy-1`, in batches of 1,024."""
    games, bot = positions(), agents.make("policy-1")
    view = games.views(games.everyone[~games.done])
    return repeated("decisions of policy-1", 50, len(view), partial(bot.act, view))


def of_products() -> Callable[[], Rates]:
    """Floating-point operations per second of a large matrix product, and of the learner's with one worker.

    The learner's are divided by the time in these products, and by all time of the learner.
    """
    settings = PPOSettings(num_envs=1024, workers=1)
    learner = Learner(settings)
    warm_up(learner)
    large = torch.randn(LARGE, LARGE, dtype=torch.bfloat16 if settings.bfloat16 else torch.float32)
    limit = repeated("GFLOP of large matrix products", 20, 2 * LARGE**3, lambda: large @ large)

    def learn() -> float:
        begun = time.perf_counter()
        learner.collect()
        learner.update(1.0)
        return time.perf_counter() - begun

    def measure() -> Rates:
        with profile(activities=[ProfilerActivity.CPU], with_flops=True) as profiler:
            learn()
        products = [each for each in profiler.key_averages() if each.key in PRODUCTS]
        operations = sum(each.flops for each in products)
        multiplying = sum(each.self_cpu_time_total for each in products) / 1e6
        rates = limit() | {
            "GFLOP of the learner's matrix products": operations / multiplying,
            "GFLOP of the learner": operations / learn(),
        }
        return {name: rate / 1e9 for name, rate in rates.items()}

    return measure


def measure(folder: Path, num_rounds: int) -> list[dict[str, Any]]:
    """Return the median, slowest and fastest rate of each kind of work; the folder is for the runs."""
    torch.set_num_threads(1)
    keep_freed_memory()
    measures: list[Callable[[], Rates]] = [
        *(
            partial(launch, collect_and_learn, PPOSettings(num_envs=games), workers)
            for workers, games in EXAMPLES
        ),
        partial(launch, learn_apart, PPOSettings(num_envs=1024), 2),
        of_stable_baselines(False, folder),
        of_stable_baselines(True, folder),
        of_candidates(),
        of_the_policy(),
        of_products(),
    ]
    rounds = [
        {name: rate for measure in measures for name, rate in measure().items()} for _ in range(num_rounds)
    ]
    rows = []
    for name in rounds[0]:
        rates = [measured[name] for measured in rounds]
        about = {"what": name, "a_second": round(statistics.median(rates))}
        ends = {"slowest": round(min(rates)), "fastest": round(max(rates))}
        rows.append(about | ends | {"rounds": len(rounds)})
    return rows
