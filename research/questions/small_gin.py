"""Exploitability over training in small decks, where it can be computed exactly.

The learner of `examples/ppo.py` trains by self-play with several weights of the entropy bonus, and with a
pull towards a moving average of its policy. Neural fictitious self-play (NFSP) trains the same network. CFR+
and magnetic mirror descent (MMD) solve the same game on its tree. The network sees candidates, not the whole
history, so it cannot represent every strategy.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Any

import numpy as np
import torch

from gin_env.batch import Games
from gin_env.support.threads import torch_threads
from gin_env.training.learner import Learner
from gin_env.training.settings import PPOSettings
from research.questions.learner_variants import MagnetLearner
from research.questions.nfsp import FictitiousPlay
from research.reproduce.experiment import Run
from research.reproduce.tables import Row, by
from research.small_games import CFRPlus, GameTree, MagneticMirrorDescent, exploitability
from research.small_games.gin_tree import GinTree, deck_tree, strategy_vector
from research.small_games.small_gin import DECKS

ENTROPY = (0.01, 0.1, 0.2)
"""Weights of the entropy bonus."""
PULL_COEF, PULL_RATE, PULLED_ENTROPY = 0.2, 0.05, 0.03
"""Parameters of `research.questions.learner_variants.MagnetLearner`, and the entropy bonus with it."""
SEEDS = (1, 2, 3, 4, 5)
DECISIONS = (12_500, 25_000, 50_000, 100_000, 200_000, 400_000, 1_000_000, 2_000_000, 4_000_000)
"""Numbers of decisions after which a learner is evaluated."""
ITERATIONS = (1, 2, 4, 8, 16, 32, 64, 128, 256)
"""Numbers of iterations after which a solver is evaluated."""
MOST_SECONDS = 300
"""Seconds after which a solver begins no further iterations."""

Point = tuple[int, float, float]
"""Positions visited, seconds of a core, and exploitability at this point of a run."""
Method = Callable[[GinTree, int, Sequence[int]], Iterator[Point]]
"""Yields the points of a run in a tree, with a seed, after these numbers of decisions or iterations."""


def measure_small_gin(run: Run, cards: int, only: Sequence[str] = ()) -> list[Row]:
    """Measure the solvers and the learners (default: all) in the deck of this many cards."""
    began = time.process_time()
    tree, rows = deck_tree(min(DECKS) if run.quick else cards), []
    unrolling = time.process_time() - began
    run.say(f"{len(tree):,} nodes, {len(tree.records):,} information sets")
    solvers = {solver.name: partial(solve, solver, unrolling) for solver in (CFRPlus, MagneticMirrorDescent)}
    methods: list[tuple[str, Method, Sequence[int], Sequence[int]]]
    methods = [(name, method, (0,), ITERATIONS) for name, method in solvers.items()]
    methods += [
        (name, method, SEEDS, DECISIONS) for name, method in learners().items() if not only or name in only
    ]
    for name, method, seeds, goals in methods:
        for seed in run.some(seeds, 1):
            curve = run.kept(f"{name}, seed {seed}", list, method(tree, seed, run.some(goals, 1)))
            about = {"cards": cards, "method": name, "seed": seed}
            for visited, seconds, value in curve:
                point = {"visited": visited, "seconds": round(seconds, 2), "exploitability": round(value, 5)}
                rows.append(about | point)
            run.say(
                f"{name}, seed {seed}: {rows[-1]['exploitability']:.4f} after {rows[-1]['seconds']:.0f} s"
            )
    return rows


def learners() -> dict[str, Method]:
    """Return the learners by name."""
    pulled = partial(MagnetLearner, coef=PULL_COEF, rate=PULL_RATE)
    return {
        **{f"PPO, entropy {ent_coef:g}": partial(learn, Learner, ent_coef) for ent_coef in ENTROPY},
        f"PPO, entropy {PULLED_ENTROPY:g}, pulled towards its average": partial(
            learn, pulled, PULLED_ENTROPY
        ),
        "NFSP": learn_fictitious_play,
    }


def solve(
    kind: Callable[[GameTree], Any], unrolling: float, tree: GinTree, seed: int, iterations: Sequence[int]
) -> Iterator[Point]:
    """Run a solver, which needs no seed, on a tree that took some seconds to unroll."""
    solver, seconds = kind(tree), unrolling
    for goal in iterations:
        if seconds > MOST_SECONDS:
            return
        began = time.process_time()
        solver.run(goal - solver.iterations)
        seconds += time.process_time() - began
        found = solver.average_vector() if isinstance(solver, CFRPlus) else solver.current_vector()
        yield solver.nodes_touched, seconds, exploitability(tree, found)


def learn(
    make_learner: Callable[[PPOSettings], Learner],
    ent_coef: float,
    tree: GinTree,
    seed: int,
    goals: Sequence[int],
) -> Iterator[Point]:
    """Train by PPO."""
    settings = PPOSettings(
        seed=seed, num_envs=256, num_steps=16, num_minibatches=4, learning_rate=2e-3, ent_coef=ent_coef,
        bfloat16=False, workers=1, bots=(), bots_share=0.0, past_share=0.0, match_reward=False,
        rules=(tree.game.rules.text,),
    )  # fmt: skip
    with torch_threads(1):
        learner, decisions, seconds = make_learner(settings), 0, 0.0
        learner.begin()
        for goal in goals:
            began = time.process_time()
            while decisions < goal:
                learner.collect()
                decisions += learner.update(1 - decisions / goals[-1])[0]
            seconds += time.process_time() - began
            yield decisions, seconds, exploitability(tree, network_vector(tree, learner.network))


def learn_fictitious_play(tree: GinTree, seed: int, goals: Sequence[int]) -> Iterator[Point]:
    """Train by NFSP; its strategy is the average one."""
    with torch_threads(1):
        learner, seconds = FictitiousPlay(tree.game.rules, seed), 0.0
        for goal in goals:
            began = time.process_time()
            while learner.decisions < goal:
                learner.step()
            seconds += time.process_time() - began
            yield learner.decisions, seconds, exploitability(tree, network_vector(tree, learner.policy))


def network_vector(tree: GinTree, network: Any) -> np.ndarray:
    """Return the strategy of a network that scores candidates, float64 (Q,)."""

    def chances(games: Games) -> np.ndarray:
        arrays = (torch.from_numpy(array) for array in games.candidates(games.everyone))
        with torch.inference_mode():
            return torch.softmax(network.action_logits(*arrays)[0].double(), dim=1).numpy()

    return strategy_vector(tree, chances)


POSITIONS = {"early": 400_000, "later": 4_000_000}
"""Numbers of positions after which all methods are compared."""
SECONDS = {"quick": 10, "slow": 60}
"""Seconds of a core after which all methods are compared."""


def with_ends(rows: Sequence[Row]) -> list[Row]:
    """Return the rows, of which some have their exploitability under more names.

    It is ``last`` in the last row of a seed, and a name of `POSITIONS` or `SECONDS` in the last row within
    this budget.
    """
    ends = {"last": by(rows, "cards", "method", "seed")}
    for key, budgets in (("visited", POSITIONS), ("seconds", SECONDS)):
        for name, budget in budgets.items():
            within = (row for row in rows if row[key] < 1.1 * budget)
            ends[name] = by(within, "cards", "method", "seed")
    return [
        row | {name: row["exploitability"] for name, rows_of in ends.items() if row in rows_of.values()}
        for row in rows
    ]
