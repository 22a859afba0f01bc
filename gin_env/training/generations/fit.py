"""Experience, the returns of the decisions tried in positions, and fitting the network to it.

The loss has two parts. The first compares the candidates of one position, because their differences decide
the play: it is the squared error of the values after subtracting the position's mean, which removes the luck
of the deal that all candidates share. The second, with a small weight, is the squared error of the mean
itself. The suits of the observations are permuted at random in each batch, which augments the data 24-fold;
the features of candidates do not depend on suits.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import permutations
from pathlib import Path

import numpy as np
import torch

from gin_env.agents.generations.bot import GenerationNetwork, observe
from gin_env.game.cards import NUM_CARDS, NUM_RANKS, NUM_SUITS
from gin_env.observations.candidates import DISCARD_ROWS, DRAW_ROWS, new_arrays
from gin_env.observations.observation import NUM_PLANES
from gin_env.observations.views import VIEW, PlayerView
from gin_env.support.array_files import ArrayFileError, ArrayFormat

MEAN_WEIGHT = 0.3
LARGEST_STEP = 1.0
"""Norm to which gradients are clipped."""
_SUIT_ORDERS = torch.tensor(list(permutations(range(NUM_SUITS))))
PLANES_SIZE = NUM_PLANES * NUM_CARDS

UNTRIED = np.float32(np.nan)
_PARTS = ("draw", "discard")
_VIEW_FIELDS = str(VIEW.descr)
"""The layout of the `VIEW` records, stored with them to detect files of another layout."""
FORMAT = ArrayFormat(
    kind="experience",
    version=1,
    arrays={
        "draw_views": (np.uint8, ("draws", VIEW.itemsize)),
        "draw_returns": (np.float32, ("draws", DRAW_ROWS, 2)),
        "discard_views": (np.uint8, ("discards", VIEW.itemsize)),
        "discard_returns": (np.float32, ("discards", DISCARD_ROWS, 2)),
    },
    described={"view": str},
    command="gin-rummy train generations",
)


@dataclass(frozen=True)
class Experience:
    """Positions of one phase (all draws or all discards) and the returns of their candidates."""

    views: np.ndarray
    """`VIEW` records (n,)."""
    returns: np.ndarray
    """float32 (n, rows, 2): the learner's points / 100 at the end of the hand; NaN for untried candidates."""

    def __len__(self) -> int:
        return len(self.views)


def join_experiences(parts: Sequence[tuple[Experience, Experience]]) -> tuple[Experience, Experience]:
    """Return the draw positions and the discard positions of several parts, each in one."""
    draws, discards = (
        Experience(np.concatenate([one.views for one in each]), np.concatenate([one.returns for one in each]))
        for each in zip(*parts, strict=True)
    )
    return draws, discards


def save_experiences(experiences: tuple[Experience, Experience], path: Path) -> None:
    """Write the draw positions and the discard positions to a file (.npz)."""
    arrays = {}
    for name, experience in zip(_PARTS, experiences, strict=True):
        arrays[f"{name}_views"] = experience.views.view(np.uint8).reshape(-1, VIEW.itemsize)
        arrays[f"{name}_returns"] = experience.returns
    FORMAT.write(path, arrays, {"view": _VIEW_FIELDS})


def load_experiences(path: Path) -> tuple[Experience, Experience]:
    """Return the draw positions and the discard positions that `save_experiences` wrote.

    Raises FileNotFoundError if the file is missing, or ArrayFileError if it cannot be used.
    """
    arrays, metadata = FORMAT.read(path)
    if metadata["view"] != _VIEW_FIELDS:
        raise ArrayFileError(f"{path} holds views of another release; remove it and play them again")
    draws, discards = (
        Experience(arrays[f"{name}_views"].view(VIEW)[:, 0], arrays[f"{name}_returns"]) for name in _PARTS
    )
    return draws, discards


def fit(
    network: GenerationNetwork,
    experiences: tuple[Experience, Experience],
    epochs: int,
    seed: int,
    batch_size: int = 2048,
    learning_rate: float = 1e-3,
    progress: Callable[[int], object] | None = None,
) -> dict[str, float]:
    """Train `network` in place on draw and discard positions, and return the held-out losses.

    One twentieth of the positions is held out. Those of earlier generations may have been learned before, if
    `network` begins as one of their champions. The learning rate follows a one-cycle schedule.
    `progress` is called with the number of positions seen since the last call.
    """
    random = np.random.default_rng(seed)
    split = [hold_out(len(experience), random) for experience in experiences]
    positions = sum(len(train) for train, _ in split)
    steps = max(positions // batch_size, 1)
    optimizer = torch.optim.AdamW(network.parameters(), lr=learning_rate, weight_decay=1e-4)
    schedule = torch.optim.lr_scheduler.OneCycleLR(
        optimizer, learning_rate, total_steps=epochs * steps + 1, pct_start=0.1
    )
    network.train()
    for _ in range(epochs):
        shuffled = [np.array_split(random.permutation(train), steps) for train, _ in split]
        for step in range(steps):
            suits = _SUIT_ORDERS[random.integers(len(_SUIT_ORDERS))]
            loss = torch.zeros(())
            for experience, chunks in zip(experiences, shuffled, strict=True):
                if len(chunks[step]):
                    differences, means = losses(network, experience, chunks[step], suits)
                    loss = loss + differences.sum() + MEAN_WEIGHT * means.sum()
            count = sum(len(chunks[step]) for chunks in shuffled)
            optimizer.zero_grad()
            (loss / count).backward()
            torch.nn.utils.clip_grad_norm_(network.parameters(), LARGEST_STEP)
            optimizer.step()
            schedule.step()
            if progress is not None:
                progress(count)
    network.eval()
    return mean_losses(network, experiences, [held for _, held in split])


def hold_out(count: int, random: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Return the shuffled indices of the positions to train on, and those of one twentieth held out."""
    order = random.permutation(count)
    return order[count // 20 :], order[: count // 20]


def losses(
    network: GenerationNetwork, experience: Experience, chosen: np.ndarray, suits: torch.Tensor
) -> tuple[torch.Tensor, torch.Tensor]:
    """Return two squared errors (k,) of these positions: of the candidates' differences, and of the means."""
    view = PlayerView(experience.views[chosen])
    rows = view.candidates(*new_arrays(len(view), experience.returns.shape[1]))[0]
    observations = permute_suits(torch.from_numpy(observe(view)), suits)
    returns = torch.from_numpy(experience.returns[chosen]).flatten(1)
    tried = ~returns.isnan()
    with torch.autocast("cpu", torch.bfloat16):
        values = network(observations, torch.from_numpy(rows))
    values = values.float().flatten(1)
    count = tried.sum(1, keepdim=True)
    errors = torch.where(tried, values - returns.nan_to_num(), 0.0)
    mean = errors.sum(1, keepdim=True) / count
    differences = torch.where(tried, errors - mean, 0.0)
    return (differences**2).sum(1), mean.squeeze(1) ** 2


def permute_suits(observations: torch.Tensor, suits: torch.Tensor) -> torch.Tensor:
    """Return observations (n, OBSERVATION_SIZE) with the suits of all planes in the order `suits` (4,)."""
    planes = observations[:, :PLANES_SIZE].view(-1, NUM_PLANES, NUM_SUITS, NUM_RANKS)
    return torch.cat([planes[:, :, suits].flatten(1), observations[:, PLANES_SIZE:]], dim=1)


@torch.no_grad()
def mean_losses(
    network: GenerationNetwork, experiences: tuple[Experience, Experience], held: list[np.ndarray]
) -> dict[str, float]:
    """Return the mean losses of the held-out positions."""
    unchanged = _SUIT_ORDERS[0]
    sums, count = np.zeros(2), 0
    for experience, chosen in zip(experiences, held, strict=True):
        for chunk in np.array_split(chosen, len(chosen) // 8192 + 1):
            if len(chunk):
                sums += [float(loss.sum()) for loss in losses(network, experience, chunk, unchanged)]
                count += len(chunk)
    differences, means = sums / max(count, 1)
    return {"differences": float(differences), "means": float(means)}
