"""Exploitability over training in a deck of eight cards, where it can be computed exactly.

The learner of `examples/ppo.py` trains by self-play in `research.small_games.small_gin.TINY`, with four
weights of the entropy bonus, and with a pull towards a moving average of its policy. CFR+ and magnetic mirror
descent (MMD) solve the same game on its tree. The learner's network sees candidates, not the whole history,
so it cannot represent every strategy.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Hashable, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from gin_env.batch import Games
from research.reproduce.experiment import Run
from research.reproduce.tables import Row, by
from research.small_games import CFRPlus, GameTree, MagneticMirrorDescent, exploitability
from research.small_games.game import Strategy
from research.small_games.small_gin import TINY, GinState, SmallGin, decision_states

if TYPE_CHECKING:
    from gin_env.training.learner import Learner
    from gin_env.training.settings import PPOSettings

ENTROPY = (0.0, 0.01, 0.1, 0.2)
"""Weights of the entropy bonus."""
PULL_COEF, PULL_RATE, PULLED_ENTROPY = 0.2, 0.05, 0.03
"""Parameters of `research.questions.learner_variants.MagnetLearner`, and the entropy bonus with it."""
SEEDS = (1, 2, 3, 4, 5)
DECISIONS = (12_500, 25_000, 50_000, 100_000, 200_000, 400_000, 1_000_000, 2_000_000, 4_000_000)
"""Numbers of decisions after which the learner is evaluated."""
ITERATIONS = (1, 2, 4, 8, 16, 32, 64, 128, 256)
"""The same for the solvers."""


def measure_small_gin(run: Run) -> list[Row]:
    """Measure both solvers, and the learner with each regulariser and seed."""
    from gin_env.support.threads import torch_threads
    from gin_env.training.learner import Learner
    from research.questions.learner_variants import MagnetLearner

    game, began = SmallGin(TINY), time.process_time()
    tree = GameTree(game)
    unrolling, states = time.process_time() - began, decision_states(game)
    rows = []
    for solver in (CFRPlus(tree), MagneticMirrorDescent(tree)):
        seconds = unrolling
        for iterations in run.some(ITERATIONS):
            began = time.process_time()
            solver.run(iterations - solver.iterations)
            seconds += time.process_time() - began
            found = solver.average_strategy() if isinstance(solver, CFRPlus) else solver.strategy()
            rows.append(row_of(solver.name, 0, solver.nodes_touched, seconds, exploitability(tree, found)))
            run.say(f"{solver.name}, {iterations} iterations: {rows[-1]['exploitability']:.4f}")
    learners: list[tuple[str, Callable[[PPOSettings], Learner], float]] = [
        *((f"PPO, entropy {ent_coef:g}", Learner, ent_coef) for ent_coef in ENTROPY),
        (
            f"PPO, entropy {PULLED_ENTROPY:g}, pulled towards its average",
            partial(MagnetLearner, coef=PULL_COEF, rate=PULL_RATE),
            PULLED_ENTROPY,
        ),
    ]
    for method, make_learner, ent_coef in learners:
        for seed in run.some(SEEDS, 1):
            with torch_threads(1):
                curve = train(run, tree, states, make_learner, ent_coef, seed)
            rows += [row_of(method, seed, *point) for point in curve]
            run.say(f"{method}, seed {seed}: {rows[-1]['exploitability']:.4f}")
    return rows


def row_of(method: str, seed: int, visited: int, seconds: float, value: float) -> Row:
    """Return a row of the result; a solver has no seed."""
    about = {"method": method, "seed": seed, "visited": visited, "seconds": round(seconds, 2)}
    return about | {"exploitability": round(value, 5)}


def train(
    run: Run,
    tree: GameTree,
    states: dict[Hashable, GinState],
    make_learner: Callable[[PPOSettings], Learner],
    ent_coef: float,
    seed: int,
) -> list[tuple[int, float, float]]:
    """Return (decisions learned, seconds, exploitability) at each of `DECISIONS` of a run."""
    from gin_env.training.settings import PPOSettings

    settings = PPOSettings(
        seed=seed, num_envs=256, num_steps=16, num_minibatches=4, ent_coef=ent_coef, bfloat16=False,
        workers=1, bots=(), bots_share=0.0, past_share=0.0, match_reward=False, rules=(TINY.text,),
    )  # fmt: skip
    learner, decisions, seconds, found = make_learner(settings), 0, 0.0, []
    learner.begin()
    goals = run.some(DECISIONS, 1)
    for goal in goals:
        began = time.process_time()
        while decisions < goal:
            learner.collect()
            decisions += learner.update(1 - decisions / goals[-1])[0]
        seconds += time.process_time() - began
        value = exploitability(tree, network_strategy(learner.network, tree, states))
        found.append((decisions, seconds, value))
    return found


def network_strategy(network: Any, tree: GameTree, states: dict[Hashable, GinState]) -> Strategy:
    """Return the probabilities of a network that scores candidates, at each information set."""
    import torch

    games = Games(len(tree.information_sets), TINY)
    games.state[:] = np.concatenate([states[key].record for key in tree.information_sets])
    arrays = (torch.from_numpy(array) for array in games.candidates(games.everyone))
    with torch.inference_mode():
        chances = torch.softmax(network.action_logits(*arrays)[0].double(), dim=1).numpy()
    rows = (row[list(actions)] for row, actions in zip(chances, tree.actions, strict=True))
    return {key: row / row.sum() for key, row in zip(tree.information_sets, rows, strict=True)}


POSITIONS = {"early": 400_000, "later": 4_000_000}
"""Numbers of positions after which all methods are compared."""
SECONDS = {"quick": 10, "slow": 60}
"""Seconds of a core after which all methods are compared."""


def with_ends(rows: Sequence[Row]) -> list[Row]:
    """Return the rows, of which some have their exploitability under more names.

    It is ``last`` in the last row of a seed, and a name of `POSITIONS` or `SECONDS` in the last row within
    this budget.
    """
    ends = {"last": by(rows, "method", "seed")}
    for key, budgets in (("visited", POSITIONS), ("seconds", SECONDS)):
        for name, budget in budgets.items():
            ends[name] = by((row for row in rows if row[key] < 1.1 * budget), "method", "seed")
    return [
        row | {name: row["exploitability"] for name, rows_of in ends.items() if row in rows_of.values()}
        for row in rows
    ]
