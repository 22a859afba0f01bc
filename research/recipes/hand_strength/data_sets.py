"""The data sets of Truong and Neller 2021: player's hand, opponent estimate, discounted score; identical
states averaged.

Source: "Scoring Metrics", equation 2, and "The Data". With `s` points to the winner and a discount γ, the
hand that a player keeps `q` discards before their last one has the value y = ±s γ^q. A state is stored as a
mask, 52 bytes and a number.

Readings:

- A hand is observed after each discard ("at the end of each round"): the ten cards that the network will
  later compare. The estimate is the player's estimate when choosing the discard.
- The paper does not give γ. It does not matter for the last stage alone (q = 0); for all stages it is
  `ALL_STAGES_DISCOUNT`.
- Void hands, which have no winner, and hands in which the player never discarded are left out.
- The Simple set holds one player of each hand, because the observations of both would not be independent.
- Best of N samples: the player keeps their ten cards, and all others are dealt again for each sample. The
  paper says "for each initial pair of hands", but of the ways tried only this one comes near the 779 rows of
  Random-256 in the authors' repository. The "-fitted" sets have three more numbers, chosen to match those
  rows (`research.recipes.hand_strength.simulation`; ``python -m research run truong2021/authors-networks``).
  Of equal scores, the first sample is kept.
- Two states are identical if their hands and their estimates, in steps of 1/255, are equal.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from contextlib import closing
from dataclasses import dataclass
from functools import lru_cache, partial
from itertools import count
from pathlib import Path
from typing import Any, Literal

import numpy as np

from gin_env import estimators
from gin_env.game.cards import NUM_CARDS
from gin_env.game.rules import Rules
from gin_env.game.state import STATE
from gin_env.game.streams import check_seed
from gin_env.observations.views import VIEW, PlayerView
from gin_env.support.array_files import ArrayFormat
from gin_env.support.checks import check_choice, check_integer, check_number
from gin_env.support.threads import torch_threads
from gin_env.support.version import __version__
from gin_env.support.workers import Workers, opened
from research.recipes import Progress, silent
from research.recipes.hand_strength import simulation
from research.recipes.hand_strength.simulation import EXPLORERS, MAX_OBSERVATIONS, Observations, explore_deals

DATA_SETS = {
    "simple": (simulation.SIMPLE, 1),
    "random-16": (simulation.RANDOM, 16),
    "random-256": (simulation.RANDOM, 256),
    "random-16-fitted": (simulation.FITTED, 16),
    "random-256-fitted": (simulation.FITTED, 256),
    "flat-monte-carlo-256": (simulation.FLAT_MONTE_CARLO, 256),
}
"""Name -> (explorer, number of samples or simulations for each deal)."""
STAGES = ("last", "all")
ALL_STAGES_DISCOUNT = 0.9
FORMAT = ArrayFormat(
    kind="data set",
    version=4,
    arrays={
        "hands": (np.uint64, ("states",)),
        "estimates": (np.uint8, ("states", NUM_CARDS)),
        "deadwood": (np.uint8, ("states",)),
        "scores": (np.float32, ("states",)),
        "counts": (np.uint32, ("states",)),
    },
    described={"name": str, "stages": str, "observations": int, "simulated_actions": int},
    command="python -m research hand-strength data",
)
_DEALS_PER_TASK = 1024
"""Number of deals in one task of a worker; changing it changes the data set of a seed."""


@dataclass
class DataSet:
    """States with their mean scores.

    Attributes
    ----------
    hands : uint64 (n,): the player's ten cards after the discard.
    estimates : uint8 (n, 52): 255 times the probability that the opponent holds the card.
    deadwood : uint8 (n,): deadwood of the hand; at the last discard, the scored deadwood after laying off.
    scores : float32 (n,): discounted points, the mean over all observations of the state.
    counts : uint32 (n,): number of observations of the state.
    metadata : name, explorer, samples, observations, seed, stages, discount, estimator, deals,
        simulated_actions, rules, version.
    """

    hands: np.ndarray
    estimates: np.ndarray
    deadwood: np.ndarray
    scores: np.ndarray
    counts: np.ndarray
    metadata: dict[str, Any]

    def __len__(self) -> int:
        return len(self.hands)

    def __str__(self) -> str:
        data = self.metadata
        return (
            f"data set {data['name']}, {data['stages']} stage(s): {len(self):,} states of "
            f"{data['observations']:,} observations, "
            f"score {self.scores.mean():.2f} ± {self.scores.std():.2f}, "
            f"{data['simulated_actions'] / data['observations']:,.0f} actions simulated for each"
        )

    def save(self, path: str | Path) -> None:
        """Write the data set to a file (.npz)."""
        FORMAT.write(path, {name: getattr(self, name) for name in FORMAT.arrays}, self.metadata)

    @classmethod
    def load(cls, path: str | Path) -> DataSet:
        """Read a data set.

        Raises FileNotFoundError, or ArrayFileError for a truncated, altered or foreign file.
        """
        arrays, metadata = FORMAT.read(path)
        return cls(**arrays, metadata=metadata)


def discounted_scores(points: np.ndarray, stages: np.ndarray, discount: float) -> np.ndarray:
    """Return equation 2, float32 (n,): signed points of the hand times γ to the number of later discards."""
    return (points * np.float64(discount) ** stages).astype(np.float32)


def average_identical(
    hands: np.ndarray, estimates: np.ndarray, deadwood: np.ndarray, scores: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Return (hands, estimates, deadwood, mean scores, counts) of the unique states, in order of occurrence.

    Two states are identical if their hands and estimates are equal; the deadwood is that of the first.
    """
    keys = np.concatenate([hands[:, None].view(np.uint8), estimates], axis=1)
    keys = np.ascontiguousarray(keys).view(np.dtype((np.void, keys.shape[1])))[:, 0]
    _, first, group = np.unique(keys, return_index=True, return_inverse=True)
    counts = np.bincount(group)
    means = np.bincount(group, weights=scores) / counts
    order = np.argsort(first)
    kept = first[order]
    scores, counts = means[order].astype(np.float32), counts[order].astype(np.uint32)
    return hands[kept], estimates[kept], deadwood[kept], scores, counts


def data_set_of(
    columns: Sequence[np.ndarray], metadata: dict[str, Any], rules: Rules | None = None
) -> DataSet:
    """Return the data set of observations with identical states averaged.

    The columns, (n,), are hands, estimates, deadwood and scores.
    """
    about = {"observations": len(columns[-1]), "rules": (rules or Rules()).text, "version": __version__}
    return DataSet(*average_identical(*columns), metadata | about)


def generate(
    name: str,
    observations: int = 1_000_000,
    *,
    stages: str = "last",
    discount: float | None = None,
    estimator: str = "bayes-isru",
    seed: int = 0,
    rules: Rules | None = None,
    workers: int | Literal["all"] | Workers = 1,
    progress: Progress = silent,
) -> DataSet:
    """Play hands and return a data set of `observations` observations.

    The `workers` (a number of processes, or `Workers`) play the hands and do not change the result.
    `progress` is called with the number of new observations. Raises ValueError for unknown names and for
    numbers out of range.
    """
    check_choice("data set", name, DATA_SETS)
    check_choice("stages", stages, STAGES)
    observations = check_integer("observations", observations, 1, 1 << 40)
    seed = check_seed(seed)
    if discount is None:
        discount = ALL_STAGES_DISCOUNT if stages == "all" else 1.0
    discount = check_number("discount", discount, 0.0, 1.0)
    explorer, samples = DATA_SETS[name]
    estimators.make(estimator)  # raise for an unknown name here, not in a worker
    play = partial(_explore, seed, _DEALS_PER_TASK, explorer, samples, stages, estimator, rules or Rules())
    tasks = count(0, _DEALS_PER_TASK)
    with opened(workers) as crew, closing(crew.map(play, tasks)) as explored:
        (*columns, points, left), simulated, num_tasks = collect(explored, observations, progress)
    columns.append(discounted_scores(points, left, discount))
    metadata = {"name": name, "explorer": EXPLORERS[explorer], "samples": samples, "stages": stages}
    metadata |= {"discount": discount, "estimator": estimator, "seed": seed}
    metadata |= {"deals": num_tasks * _DEALS_PER_TASK, "simulated_actions": simulated}
    return data_set_of(columns, metadata, rules)


def collect(
    parts: Iterable[tuple[Any, ...]], observations: int, progress: Progress = silent
) -> tuple[list[np.ndarray], int, int]:
    """Return the columns of `observations` observations, the actions simulated for them, and the parts used.

    A part has columns of some observations and the number of actions simulated for them.
    """
    used: list[list[np.ndarray]] = []
    found = simulated = 0
    for *part, actions in parts:
        used.append(part)
        simulated += actions
        new = min(len(part[0]), observations - found)
        found += new
        progress(new)
        if found == observations:
            break
    columns = [np.concatenate(column)[:observations] for column in zip(*used, strict=True)]
    return columns, simulated, len(used)


_estimator = lru_cache(maxsize=2)(estimators.make)


def _explore(
    seed: int, deals: int, explorer: int, samples: int, stages: str, estimator: str, rules: Rules, first: int
) -> tuple[Any, ...]:
    """Return (hands, estimates, deadwood, points, stages, actions simulated) of the deals of a task."""
    estimate, every = _estimator(estimator).estimate, stages == "all"
    states = np.zeros(4, STATE)
    states["public"]["rules"] = rules.record()
    room = deals * (8 if every else 1) + MAX_OBSERVATIONS
    dtypes = (np.uint64, np.int16, np.uint8, np.uint8)
    arrays = Observations(np.zeros(room, VIEW), *(np.empty(room, dtype) for dtype in dtypes))
    deal, last = first, first + deals
    parts = []
    simulated = 0
    while deal < last:
        left = last - deal
        done, rows, actions = explore_deals(states, seed, deal, left, explorer, samples, every, arrays)
        with torch_threads():
            estimates = quantised(estimate(PlayerView(arrays.views[:rows])))
        others = (array[:rows].copy() for array in (arrays.deadwood, arrays.scores, arrays.stages))
        parts.append((arrays.hands[:rows].copy(), estimates, *others))
        deal += done
        simulated += actions
    return *(np.concatenate(column) for column in zip(*parts, strict=True)), simulated


def quantised(estimates: np.ndarray) -> np.ndarray:
    """Return probabilities as uint8 in steps of 1/255, clipped to [0, 1]."""
    return np.rint(np.clip(estimates, 0.0, 1.0) * 255).astype(np.uint8)
