"""Training of the second network of `policy`, which predicts what discards and knocks gain.

The network learns the values of the actions tried in the positions of `research.recipes.action_values`, by
the squared error of their differences from the mean of the position, and the opponent's cards by
cross-entropy. Single values are mostly luck, so it takes millions of positions.

It trains with AdamW for `EPOCHS` passes; the learning rate falls linearly. One block in `HELD_OUT` is held
out. On one machine, the result depends only on the arguments, not on the number of workers.
"""

# mypy: disable-error-code="no-untyped-def,return-value"

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from gin_env.agents.policies.improved_policy import FORMAT, GainNetwork, Tried, candidate_inputs
from gin_env.game.cards import NUM_CARDS, NUM_RANKS, NUM_SUITS
from gin_env.game.streams import check_seed
from gin_env.observations.candidates import DISCARD_ROWS, NO_ACTION, new_arrays, write_context, write_discards
from gin_env.observations.observation import NUM_PLANES, OBSERVATION_SIZE, PLANES, write_observation
from gin_env.observations.parts import describe_parts
from gin_env.support.checks import check_integer
from gin_env.support.compilation import kernel
from gin_env.support.threads import torch_threads
from gin_env.support.workers import Workers
from research.recipes import Progress, provenance, silent
from research.recipes.action_values import Blocks, collect_block, view_records

import torch  # isort: skip
from torch.nn import functional  # isort: skip

NUM_BLOCKS = 240
"""Number of blocks by default; the packaged network has learned from 80."""
EPOCHS, BATCH_SIZE, LEARNING_RATE = 1, 1024, 3e-3
LAST_RATE = 0.02
"""Share of the learning rate that is left at the end."""
BELIEF_WEIGHT = 100.0
"""Weight of the cross-entropy; values are in percentage points, and their squared errors about 100."""
HELD_OUT = 20
TOGETHER = 8
"""Number of blocks whose positions are shuffled together."""
NUM_THREADS = 1
MARGIN = 0.3
"""For the reported gain: percentage points by which an action must be better than the policy's."""


@dataclass(frozen=True)
class TrainedGains:
    """A trained network and its metadata."""

    network: GainNetwork
    metadata: dict[str, Any]

    def __str__(self) -> str:
        judged = self.metadata["held_out"]
        return (
            f"{self.metadata['discards']:,} discards; in {judged['discards']:,} others, the network's "
            f"choices gain {judged['gain']:.3f} percentage points (standard error at least "
            f"{judged['error']:.3f}), and differ from the policy's in {100 * judged['changed']:.1f} %"
        )

    def save(self, path: str | Path) -> None:
        """Write the network and the metadata as safetensors."""
        reads = describe_parts("row", "context", "observation")
        reads["observation"] = [part for part in reads["observation"] if part[0] in PLANES]
        sizes = {"hidden": self.network.hidden, "channels": self.network.channels}
        FORMAT.write(path, self.network, sizes | {"reads": reads, "provenance": self.metadata})


def train_gains(
    folder: Path,
    blocks: int = NUM_BLOCKS,
    policy: str = "policy",
    seed: int = 1,
    workers: Workers | None = None,
    progress: Progress = silent,
) -> TrainedGains:
    """Train on `blocks` blocks of positions, which are kept in `folder`.

    `progress` receives numbers of blocks: each counts once when it is made and once for each of `EPOCHS`.
    """
    check_integer("blocks", blocks, 2, 1 << 20)
    folder.mkdir(parents=True, exist_ok=True)
    source = Blocks(folder, policy, check_seed(seed))
    missing = []
    for block in range(blocks):
        if source.path(block).exists():
            source.read(block)  # raises for a block of another seed or policy before others are made
        else:
            missing.append((source, block))
    progress(blocks - len(missing))
    for _ in (workers or Workers()).map(_make_block, missing):
        progress(1)
    held_out = [block for block in range(blocks) if block % HELD_OUT == 0]
    learned = [block for block in range(blocks) if block % HELD_OUT]
    with torch_threads(NUM_THREADS):
        with torch.random.fork_rng():
            torch.manual_seed(seed)
            network, count = _train(source, learned, progress)
        network.eval()
        judged = _evaluate(network, source, held_out)
        progress(EPOCHS * len(held_out))
    command = f"gains policy-gains.safetensors --blocks {blocks} --policy {policy} --seed {seed}"
    about = {"blocks": blocks, "discards": count, "held_out": judged, "epochs": EPOCHS}
    return TrainedGains(network, about | provenance(command, seed, [policy], torch))


def _make_block(task: tuple[Blocks, int]) -> None:
    source, block = task
    source.write(block, collect_block(source.policy, source.seed, block))


def _train(source: Blocks, blocks: list[int], progress: Progress) -> tuple[GainNetwork, int]:
    """Return the network and the number of discards that it has learned from."""
    network = GainNetwork()
    optimizer = torch.optim.AdamW(network.parameters(), LEARNING_RATE, weight_decay=0)
    random = np.random.default_rng(source.seed)
    total = 0
    for epoch in range(EPOCHS):
        for first in range(0, len(blocks), TOGETHER):
            together = blocks[first : first + TOGETHER]
            positions = np.concatenate([source.read(block) for block in together])
            total += len(positions)
            minibatches = np.array_split(random.permutation(len(positions)), -(-len(positions) // BATCH_SIZE))
            for number, minibatch in enumerate(minibatches):
                share = (first + number / len(minibatches) * len(together)) / len(blocks)
                rate = LEARNING_RATE * max(1 - (epoch + share) / EPOCHS, LAST_RATE)
                optimizer.param_groups[0]["lr"] = rate
                loss = _loss(network, Inputs(positions[minibatch]))
                optimizer.zero_grad()
                loss.backward()
                torch.nn.utils.clip_grad_norm_(network.parameters(), 1.0)
                optimizer.step()
            progress(len(together))
    return network, total // EPOCHS


class Inputs:
    """The network's inputs for `POSITION` records (n,) and what it learns."""

    def __init__(self, positions: np.ndarray) -> None:
        count = len(positions)
        rows, actions, context = new_arrays(count, DISCARD_ROWS)
        planes = np.empty((count, NUM_PLANES * NUM_CARDS), np.float32)
        _write_inputs(view_records(positions), rows, actions, context, planes)
        tried = Tried(positions["actions"].astype(np.int64), positions["log_chances"])
        log_chances, cards, places = candidate_inputs(actions, tried)
        self.network = [
            torch.from_numpy(rows),
            torch.from_numpy(log_chances),
            torch.from_numpy(context),
            torch.from_numpy(planes).view(count, NUM_PLANES, NUM_SUITS, NUM_RANKS),
            torch.from_numpy(cards),
        ]
        self.tried = torch.from_numpy(tried.actions != NO_ACTION)
        self.places = torch.from_numpy(places)
        self.values = torch.from_numpy(100 * positions["values"])
        hands = np.ascontiguousarray(positions["opponent_hand"]).view(np.uint8).reshape(count, 8)
        bits = np.unpackbits(hands, axis=1, bitorder="little")[:, :NUM_CARDS]
        self.opponent_hand = torch.from_numpy(bits.astype(np.float32))

    def gains(self, network: GainNetwork) -> tuple[torch.Tensor, torch.Tensor]:
        """Return the network's gains of the tried actions (n, k), and its logits of the cards (n, 52)."""
        gains, belief = network(*self.network)
        return gains.gather(1, self.places), belief


def _loss(network: GainNetwork, inputs: Inputs) -> torch.Tensor:
    gains, belief = inputs.gains(network)
    difference = _differences(gains, inputs.tried) - _differences(inputs.values, inputs.tried)
    possible = (inputs.network[3][:, -1].flatten(1) > 0).float()
    error = functional.binary_cross_entropy_with_logits(
        belief, inputs.opponent_hand, weight=possible, reduction="sum"
    )
    return difference.square().sum() / len(gains) / BELIEF_WEIGHT + error / possible.sum()


def _differences(values: torch.Tensor, tried: torch.Tensor) -> torch.Tensor:
    """Return the values of the tried actions minus their mean, and 0 for the others."""
    mean = (values * tried).sum(1, keepdim=True) / tried.sum(1, keepdim=True)
    return (values - mean) * tried


def _evaluate(network: GainNetwork, source: Blocks, blocks: list[int]) -> dict[str, float]:
    """Return how much the network's choices gain over the policy's in these blocks, in percentage points.

    The error counts discards as independent, though some are of the same hand.
    """
    gained = []
    for block in blocks:
        positions = source.read(block)
        for part in np.array_split(positions, -(-len(positions) // (8 * BATCH_SIZE))):
            inputs = Inputs(part)
            with torch.inference_mode():
                gains = inputs.gains(network)[0].masked_fill(~inputs.tried, -np.inf)
                gains[:, 0] += MARGIN
            chosen = gains.argmax(1, keepdim=True)
            gained.append(torch.cat([inputs.values.gather(1, chosen) - inputs.values[:, :1], chosen], 1))
    gain, chosen = torch.cat(gained).double().numpy().T
    return {
        "discards": len(gain),
        "gain": round(float(gain.mean()), 4),
        "error": round(float(gain.std(ddof=1) / len(gain) ** 0.5), 4),
        "changed": round(float((chosen > 0).mean()), 4),
    }


@kernel
def _write_inputs(views, rows, actions, context, planes) -> None:
    """Write the candidates and the card planes."""
    after = np.empty((NUM_CARDS, NUM_CARDS), np.int64)
    observation = np.zeros(OBSERVATION_SIZE, np.float32)
    for index in range(len(views)):
        view = views[index]
        player = np.int64(view.player)
        write_context(view.public, view.private, player, context[index])
        write_discards(view.public, view.private, player, rows[index], actions[index], after)
        write_observation(view.public, view.private, player, observation)
        planes[index] = observation[: planes.shape[1]]
