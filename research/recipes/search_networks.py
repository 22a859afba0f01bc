"""Training of the small networks of the bot ``search``, on games of `policy` against its opponent models.

- ``opponents`` (`OpponentModels`) learns which model the opponent is, by cross-entropy.
- A network for each model (`HandShapes`) learns to tell the opponent's true hand from `NUM_DRAWN` hands drawn
  from the model's estimator, by the cross-entropy of a softmax over all of them.

All train with AdamW for `EPOCHS` epochs; the learning rate rises and falls once. The last tenth of the games
is held out. On one machine, the result depends only on the arguments.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from gin_env import agents
from gin_env.agents.search.belief import Belief, Worlds
from gin_env.agents.search.small_networks import (
    FORMAT,
    MODELS,
    NUM_CONDUCT,
    NUM_SHAPE,
    SmallNetwork,
    write_conduct,
    write_shapes,
)
from gin_env.agents.turns import play_bot, play_seated
from gin_env.batch import Games
from gin_env.game.state import STATE, STOCK_ONLY
from gin_env.game.streams import check_seed
from gin_env.observations.views import PlayerView
from gin_env.support.checks import check_integer
from gin_env.support.threads import torch_threads
from gin_env.training.estimators.positions import Positions
from research.recipes import Progress, provenance, silent

import torch  # isort: skip
from torch import nn  # isort: skip
from torch.nn import functional  # isort: skip

GAMES = 8000
"""Number of games against each opponent for the packaged networks."""
SHARE = 0.06
"""Probability that a decision of `policy` is used: about four per game."""
NUM_DRAWN = 24
WIDTH = 32
EPOCHS, BATCH_SIZE, LEARNING_RATE = 8, 256, 4e-3
ESTIMATE_BATCH = 256


@dataclass(frozen=True)
class TrainedNetworks:
    """Trained networks by name, and their metadata."""

    networks: dict[str, SmallNetwork]
    metadata: dict[str, Any]

    def __str__(self) -> str:
        return "\n".join(
            f"{name}: {one['positions']:,} positions; cross-entropy {one['validation_loss']:.4f} in held-out "
            f"games, {one['uniform_loss']:.4f} with equal probabilities"
            for name, one in self.metadata["networks"].items()
        )

    def save(self, path: str | Path) -> None:
        """Write the weights and the metadata as safetensors."""
        tensors = {
            f"{name}.{part}": torch.from_numpy(array)
            for name, network in self.networks.items()
            for part, array in network._asdict().items()
        }
        FORMAT.write_tensors(path, tensors, self.metadata)


def train_opponents(games: int = GAMES, seed: int = 1, progress: Progress = silent) -> TrainedNetworks:
    """Train all networks on `games` games against each model; `progress` receives numbers of games played."""
    networks, about, conduct = {}, {}, []
    for bot, estimator in MODELS.items():
        positions = collect_decisions(bot, games, seed, progress)
        networks[bot], about[bot] = _train_shapes(positions, estimator, seed)
        rows = np.zeros((len(positions), NUM_CONDUCT), np.float32)
        for view, row in zip(positions.view.array, rows, strict=True):
            write_conduct(view, np.zeros(1, STATE), row)
        conduct.append(rows)
    networks["opponents"], about["opponents"] = _train_recognition(conduct, seed)
    command = f"opponents opponents.safetensors --games {games} --seed {seed}"
    metadata = {"networks": about, "games": games, "epochs": EPOCHS, "estimators": MODELS}
    return TrainedNetworks(networks, metadata | provenance(command, seed, MODELS, torch))


def _train_shapes(positions: Positions, estimator: str, seed: int) -> tuple[SmallNetwork, dict[str, Any]]:
    """Train the network of one model's hands."""
    belief = Belief(estimator)
    rows = np.empty((len(positions), 1 + NUM_DRAWN, NUM_SHAPE), np.float32)
    for first in range(0, len(positions), ESTIMATE_BATCH):
        part = np.arange(first, min(first + ESTIMATE_BATCH, len(positions)))
        estimates = belief.estimator.estimate(positions.view[part])
        for index, estimate in zip(part.tolist(), estimates, strict=True):
            random = np.random.default_rng([seed, index])
            worlds = Worlds(belief, positions.view[[index]], NUM_DRAWN, random, estimate)
            write_shapes(worlds.view, worlds.with_hand(int(positions.hands[index])), rows[index])

    def loss(network: nn.Module, part: torch.Tensor) -> torch.Tensor:
        scores = network(inputs[part])[..., 0]
        return functional.cross_entropy(scores, torch.zeros(len(part), dtype=torch.long))

    inputs = torch.from_numpy(rows)
    return _train(inputs, 1, loss, seed, 1 + NUM_DRAWN)


def _train_recognition(conduct: Sequence[np.ndarray], seed: int) -> tuple[SmallNetwork, dict[str, Any]]:
    """Train the network that recognises the model, on float32 (n, NUM_CONDUCT) of each in order of games."""
    rows, labels = np.concatenate(conduct), np.repeat(np.arange(len(conduct)), [len(one) for one in conduct])
    # Interleaved, so that the last tenth has games of every model.
    order = np.argsort(np.concatenate([np.linspace(0, 1, len(one)) for one in conduct]), kind="stable")
    inputs, truth = torch.from_numpy(rows[order]), torch.from_numpy(labels[order])

    def loss(network: nn.Module, part: torch.Tensor) -> torch.Tensor:
        return functional.cross_entropy(network(inputs[part]), truth[part])

    return _train(inputs, len(conduct), loss, seed, len(conduct))


def collect_decisions(opponent: str, games: int, seed: int, progress: Progress = silent) -> Positions:
    """Return a random `SHARE` of the decisions of `policy` in games against a bot, in order of the games."""
    players = [agents.make("policy"), agents.make(opponent)]
    batch = Games(check_integer("games", games, 1, 1 << 24), episode="game")
    batch.start(seed=check_seed(seed))
    random = np.random.default_rng(seed)
    views, hands, numbers = [], [], []
    before = games
    for running in batch.until_over():
        movers = batch.to_move()[running]
        kept = running[(movers == 0) & (random.random(len(running)) < SHARE)]
        kept = kept[batch.state["public"]["phase"][kept] != STOCK_ONLY]
        views.append(batch.views(kept, 0).array)
        hands.append(batch.state["private"]["hand"][kept, 1])
        numbers.append(kept)
        play_seated(batch, players, movers, running, play_bot)
        if len(running) < before:
            progress(before - len(running))
            before = len(running)
    progress(before)
    order = np.argsort(np.concatenate(numbers), kind="stable")
    return Positions(PlayerView.of_array(np.concatenate(views)[order]), np.concatenate(hands)[order])


def _train(
    inputs: torch.Tensor,
    num_outputs: int,
    loss: Callable[[nn.Module, torch.Tensor], torch.Tensor],
    seed: int,
    num_choices: int,
) -> tuple[SmallNetwork, dict[str, Any]]:
    """Train with the loss of the rows with these indices; return the network and its losses."""
    num_inputs, num_rows = inputs.shape[-1], len(inputs)
    kept = torch.arange(num_rows - num_rows // 10)
    held_out = torch.arange(len(kept), num_rows)
    flat = inputs[kept].reshape(-1, num_inputs)
    mean, scale = flat.mean(0), flat.std(0) + 1e-6
    inputs.sub_(mean).div_(scale)
    with torch_threads(), torch.random.fork_rng():
        torch.manual_seed(seed)
        first, second = nn.Linear(num_inputs, WIDTH), nn.Linear(WIDTH, WIDTH)
        last = nn.Linear(WIDTH, num_outputs)
        network = nn.Sequential(first, nn.ReLU(), second, nn.ReLU(), last)
        optimizer = torch.optim.AdamW(network.parameters(), lr=LEARNING_RATE, weight_decay=1e-3)
        steps = -(-len(kept) // BATCH_SIZE)
        schedule = torch.optim.lr_scheduler.OneCycleLR(optimizer, LEARNING_RATE, EPOCHS * steps)
        for _ in range(EPOCHS):
            for part in torch.randperm(len(kept)).split(BATCH_SIZE):
                optimizer.zero_grad()
                loss(network, part).backward()
                optimizer.step()
                schedule.step()
    with torch_threads(), torch.inference_mode():
        found = {
            "positions": num_rows,
            "validation_loss": round(float(loss(network, held_out)), 4),
            "uniform_loss": round(float(np.log(num_choices)), 4),
        }
    with torch.no_grad():  # the network's own inputs are not scaled
        first.weight.div_(scale)
        first.bias.sub_(first.weight @ mean)
    arrays = (array for layer in (first, second, last) for array in (layer.weight.T, layer.bias))
    return SmallNetwork(*(array.detach().contiguous().numpy() for array in arrays)), found
