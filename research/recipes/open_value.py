"""Training of `gin_env.matches.open_value`: how hands end, seen with all cards open.

The positions are those after each deal and each draw from the stock in hands between bots of several styles
(`PAIRS`). The network learns the class of the result by cross-entropy, with the suits permuted at random.
On one machine, the result depends only on the arguments.
"""

# mypy: disable-error-code="no-untyped-def,return-value"

from __future__ import annotations

from dataclasses import dataclass
from itertools import permutations
from pathlib import Path
from typing import Any

import numpy as np

from gin_env import agents
from gin_env.agents.turns import play_bot, play_seated
from gin_env.batch import Games
from gin_env.game.cards import NUM_RANKS, NUM_SUITS, SUIT_MASK
from gin_env.game.state import VOID
from gin_env.game.streams import check_seed
from gin_env.matches.luck import chance_of
from gin_env.matches.open_value import CLASSES, FORMAT, NUM_CLASSES, NUM_INPUTS, OpenValue, write_inputs
from gin_env.support.checks import check_integer
from gin_env.support.compilation import kernel
from gin_env.support.threads import torch_threads
from research.recipes import Progress, provenance, silent

import torch  # isort: skip
from torch.nn import functional  # isort: skip

PAIRS = (
    ("policy", "policy", 1),
    ("policy", "policy-1", 1),
    ("policy", "simple", 1),
    ("policy", "generation", 1),
    ("policy", "cfr-plus", 1),
    ("policy", "gold-standard", 1),
    ("marjj", "policy", 1),
    ("policy-1", "tonic", 1),
    ("utility", "policy-1", 1),
    ("simple", "tonic", 4),
)
"""Bots that play the hands, and the share of each pair: bots that decide quickly play more."""
HANDS, STEPS = 60_000, 6_000
"""Number of hands of a pair with share 1, and of steps, for the packaged network."""
SIZES = (384, 192)
BATCH_SIZE, LEARNING_RATE = 4096, 2e-3
_HELD_OUT = 40_000
_ORDERS = np.array(
    [sum(place << 2 * suit for suit, place in enumerate(order)) for order in permutations(range(NUM_SUITS))]
)
"""Each order of the suits as a number: two bits for each suit."""


@dataclass(frozen=True)
class TrainedValue:
    """A trained network and its metadata."""

    network: OpenValue
    metadata: dict[str, Any]

    def __str__(self) -> str:
        positions, explained = self.metadata["positions"], self.metadata["explained"]
        return f"{positions:,} positions; {explained:.1%} of the variance of points explained"

    def save(self, path: str | Path) -> None:
        """Write the network and the metadata as safetensors."""
        FORMAT.write(path, self.network, self.metadata)


def train_value(
    hands: int = HANDS, steps: int = STEPS, seed: int = 1, progress: Progress = silent
) -> TrainedValue:
    """Train the network; `progress` receives numbers of hands played and of steps.

    Parameters
    ----------
    hands : number of hands of a pair of bots with share 1.
    steps : number of batches of `BATCH_SIZE` positions.
    """
    check_integer("hands", hands, 1, 1 << 24)
    check_integer("steps", steps, 100, 1 << 24)
    found = []
    for number, (a, b, share) in enumerate(PAIRS):
        found.append(collect_positions(a, b, share * hands, check_seed(seed + number)))
        progress(share * hands)
    positions, points = (np.concatenate(each) for each in zip(*found, strict=True))
    random = np.random.default_rng(seed)
    order = random.permutation(len(points))
    held_out, kept = np.split(order, [min(_HELD_OUT, len(order) // 10)])
    with torch_threads(), torch.random.fork_rng():
        torch.manual_seed(seed)
        network = OpenValue(*SIZES)
        _fit(network, positions[kept], points[kept], steps, random, progress)
        deals = positions[kept][positions["card"][kept] < 0]
        network.at_deal.copy_(torch.from_numpy(network.probabilities(deals).mean(axis=0, dtype=np.float64)))
        left = points[held_out] - network.probabilities(positions[held_out]) @ network.points.numpy()
    explained = round(1 - float(left.var() / points[held_out].var()), 4)
    about = {"sizes": SIZES, "positions": len(points), "explained": explained, "hands": hands, "steps": steps}
    players = dict.fromkeys(bot for pair in PAIRS for bot in pair[:2])
    command = f"open-value FILE --hands {hands} --steps {steps} --seed {seed}"
    return TrainedValue(network.eval(), about | provenance(command, seed, players, torch))


def collect_positions(a: str, b: str, hands: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Return the `CHANCE` records (n,) of hands between two bots, and the points of the player to move."""
    players = [agents.make(a), agents.make(b)]
    games = Games(hands)
    games.start(seed=seed)
    chances = [chance_of(games.state, 2 * games.everyone)]
    for running in games.until_over():
        play_seated(games, players, games.to_move()[running] ^ running % 2, running, play_bot)
        chances.append(chance_of(games.state[running], 2 * running))
    found, results = np.concatenate(chances), games.results
    hand = found["deal"]
    mover = np.where(found["is_a"], 0, 1)
    points = np.where(results["winner"][hand] == mover, 1, -1) * results["points"][hand].astype(np.int64)
    return found, np.where(results["outcome"][hand] == VOID, 0, points)


def classes_of(points: np.ndarray) -> np.ndarray:
    """Return the class of each result in points, negative for lost hands.

    >>> classes_of(np.array([-100, -1, 0, 1, 4, 5, 100]))
    array([ 0, 10, 11, 12, 12, 13, 22])
    """
    steps = np.searchsorted(CLASSES, np.abs(points), side="right")
    return np.where(points < 0, len(CLASSES) - steps, len(CLASSES) + steps)


def _fit(
    network: OpenValue,
    positions: np.ndarray,
    points: np.ndarray,
    steps: int,
    random: np.random.Generator,
    progress: Progress,
) -> None:
    """Train for `steps` batches, and set the mean points of each class."""
    labels = classes_of(points)
    sums, counts = np.bincount(labels, points, NUM_CLASSES), np.bincount(labels, minlength=NUM_CLASSES)
    network.points.copy_(torch.from_numpy(sums / np.maximum(counts, 1)))
    optimizer = torch.optim.AdamW(network.parameters(), LEARNING_RATE, weight_decay=1e-4)
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimizer, LEARNING_RATE, steps, pct_start=0.05)
    inputs = np.empty((BATCH_SIZE, NUM_INPUTS), np.float32)
    for _ in range(steps):
        chosen = random.integers(len(points), size=BATCH_SIZE)
        part = positions[chosen]
        permute_suits(part, _ORDERS[random.integers(len(_ORDERS), size=BATCH_SIZE)])
        write_inputs(part, inputs)
        optimizer.zero_grad()
        truth = torch.from_numpy(labels[chosen])
        functional.cross_entropy(network(torch.from_numpy(inputs)), truth).backward()
        optimizer.step()
        schedule.step()
        progress(1)


@kernel
def permute_suits(positions: np.ndarray, orders: np.ndarray) -> None:
    """Permute the suits of `CHANCE` records (n,) in place, each by its order in `orders`, int64 (n,)."""
    for index in range(len(positions)):
        position, order = positions[index], orders[index]
        position.mover = _permuted(position.mover, order)
        position.other = _permuted(position.other, order)
        position.pile = _permuted(position.pile, order)
        position.mover_shown = _permuted(position.mover_shown, order)
        position.other_shown = _permuted(position.other_shown, order)


@kernel
def _permuted(cards: int, order: int) -> int:
    found = np.int64(0)
    for suit in range(NUM_SUITS):
        found |= (cards >> NUM_RANKS * suit & SUIT_MASK) << NUM_RANKS * (order >> 2 * suit & 3)
    return found
