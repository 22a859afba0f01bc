"""Training of the estimator networks, with Adam on rounds of new positions from bots that play each other.

Source: Francis et al. 2021, which trains on games of two Simple players: "batch sizes and epochs were
hand-tuned" (no values). Readings: the loss is the cross-entropy over the unknown cards (all others are set to
0 or 1 anyway); no position is seen twice, so the network cannot overfit; the learning rate has a cosine decay
to 0.

``nn`` takes its own earlier estimates as inputs. They come from a copy of the network made at the end of the
previous generation; in the first generation they are the uniform estimate.
"""

from __future__ import annotations

import contextlib
import copy
import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from gin_env.estimators.networks import FORWARD_BATCH, NETWORKS, DenseNetwork, format_of
from gin_env.estimators.neural import walk_turns
from gin_env.estimators.public_history import known_cards, opponent_turns
from gin_env.game.cards import NUM_CARDS
from gin_env.game.rules import Rules
from gin_env.game.streams import check_seed
from gin_env.support.checks import check_choice
from gin_env.support.files import write_csv
from gin_env.support.plots import BLUE, GREY, new_figure, origin_line, save_figure
from gin_env.support.threads import torch_threads
from gin_env.training.estimators.positions import Positions
from research.recipes import Progress, derived_seed, provenance, rules_option, silent
from research.recipes.estimators.sampling import collect_positions

import torch  # isort: skip (networks.py says what to install if it is missing)
from torch.nn import functional  # isort: skip


@dataclass(frozen=True)
class Course:
    """Hyperparameters of one training run."""

    rounds: int
    """Number of rounds; each collects new positions and trains on them once."""
    hands: int = 10_000
    """Number of hands in a round; a tenth of their positions (`share`) are about five per hand."""
    batch_size: int = 256
    learning_rate: float = 2e-3
    generations: int = 1
    """Number of generations of input estimates (``nn`` only); the rounds are divided among them."""
    validation_hands: int = 4000
    share: float = 0.1
    """Share of the positions of each hand that are used."""
    all_cards: bool = False
    """Whether the loss covers all cards, for a network whose outputs are used without the known cards."""


COURSES = {
    "nn": Course(rounds=200, hands=10_000, learning_rate=5e-3, generations=5),
    "shankar-cnn": Course(rounds=100, hands=10_000),
    "suit-equivariant": Course(rounds=24, hands=4000, learning_rate=3e-3),
}
"""Courses of the packaged weights ``simple``; other sets may use shorter ones, given in their metadata."""

DEFAULT_GAMES = {name: course.rounds * course.hands for name, course in COURSES.items()}
"""Number of hands that the packaged weights ``simple`` were trained on."""

MIXED = "mixed"
"""Name of a set of weights trained on hands of several bots."""


@dataclass(frozen=True)
class LearningPoint:
    """One point of the learning curve of a network."""

    round: int
    positions: int
    """Number of positions learned from so far."""
    loss: float
    """Mean cross-entropy on the positions of this round, in nats per unknown card."""
    validation: float
    """Mean cross-entropy on the held-out positions after the round."""


@dataclass(frozen=True)
class TrainedNetwork:
    """A trained network with its learning curve and metadata."""

    name: str
    network: Any
    curve: tuple[LearningPoint, ...]
    metadata: dict[str, Any]

    def __str__(self) -> str:
        last = self.curve[-1]
        return (
            f"{self.name}: {last.positions:,} positions of {' and '.join(self.metadata['opponents'])}; "
            f"log loss {last.validation:.4f} for each unknown card in "
            f"{self.metadata['validation_positions']:,} held-out positions"
        )

    def save(self, path: str | Path) -> None:
        """Write the weights in half precision as safetensors, and the learning curve next to them.

        The curve is written as ``.curve.csv`` and, if matplotlib is installed, ``.curve.png``.
        """
        path = Path(path)
        format_of(self.name).write(path, copy.deepcopy(self.network).half(), self.metadata)
        lines = [(p.round, p.positions, f"{p.loss:.6f}", f"{p.validation:.6f}") for p in self.curve]
        write_csv(path.with_suffix(".curve.csv"), ("round", "positions", "loss", "validation"), lines)
        with contextlib.suppress(ImportError):
            hands = self.metadata["rounds"] * self.metadata["hands"]
            origin = origin_line(f"{hands:,} hands", self.metadata["seed"])
            draw_curve(self.curve, str(self), path.with_suffix(".curve.png"), origin)


def draw_curve(curve: Sequence[LearningPoint], title: str, path: str | Path, origin: str) -> None:
    """Draw the training and validation losses of a run by the number of positions learned from.

    `origin` is the line at the foot.
    """
    figure, [[axes]] = new_figure(7, 4.5)
    positions = [line.positions for line in curve]
    losses, validation = [line.loss for line in curve], [line.validation for line in curve]
    axes.plot(positions, losses, label="this round's positions", color=GREY, linestyle="--")
    axes.plot(positions, validation, label="held-out positions", color=BLUE, linestyle="-")
    axes.set(xlabel="positions learned from", ylabel="cross-entropy (nats for each unknown card)")
    axes.set_title(title, fontsize=8)
    axes.legend(fontsize=8)
    save_figure(figure, path, dpi=120, origin=origin)


def train(
    name: str, games: int, seed: int, opponents: Sequence[str], progress: Progress, rules: Rules | None
) -> TrainedNetwork:
    """Train on about `games` hands with one thread, for ``python -m research train estimator``."""
    course = COURSES[name]
    hands = max(1, min(course.hands, games))
    course = replace(course, rounds=max(1, round(games / hands)), hands=hands)
    with torch_threads():
        return train_network(name, opponents, seed, course, progress, rules)


def train_network(
    name: str,
    bots: Sequence[str] = ("simple",),
    seed: int = 1,
    course: Course | None = None,
    progress: Progress = silent,
    rules: Rules | None = None,
) -> TrainedNetwork:
    """Train the network of the estimator `name` on hands of `bots` against each other.

    `progress` is called after each round with the number of hands played in it. Uses torch's current number
    of threads. On one machine, the result depends only on the arguments. Raises ValueError for an unknown
    network or bot.
    """
    check_choice("network", name, NETWORKS)
    course = course or COURSES[name]
    seed = check_seed(seed)
    with torch.random.fork_rng():
        torch.manual_seed(seed)
        network: Any = NETWORKS[name]()
    network = network.to(memory_format=torch.channels_last)
    held_out = collect_positions(bots, course.validation_hands, derived_seed(seed, 0), course.share, rules)
    optimizer = torch.optim.Adam(network.parameters(), lr=course.learning_rate)
    curve: list[LearningPoint] = []
    seen, before, validation = 0, None, prepare(network, held_out, None, course.all_cards)
    for number in range(course.rounds):
        if number and number * course.generations % course.rounds < course.generations:
            before = copy.deepcopy(network)  # a new generation
            validation = prepare(network, held_out, before, course.all_cards)
        positions = collect_positions(bots, course.hands, derived_seed(seed, number + 1), course.share, rules)
        batches = prepare(network, positions, before, course.all_cards)
        loss = learn(network, batches, course, optimizer, number)
        seen += len(batches[-1])
        if number == course.rounds - 1:
            round_to_half_precision(network)
        curve.append(LearningPoint(number + 1, seen, loss, evaluate(network, validation)))
        progress(course.hands)
    about = {
        "estimator": name,
        "opponents": list(bots),
        "rules": (rules or Rules()).text,
        "positions": seen,
        "validation_log_loss": round(curve[-1].validation, 6),
        "validation_positions": len(validation[-1]),
    }
    file = f"{name.replace('-', '_')}_{bots[0] if len(bots) == 1 else MIXED}.safetensors"
    command = f"estimator {name} {file} --games {course.rounds * course.hands} --seed {seed} "
    command += f"--opponents {'+'.join(bots)}{rules_option(rules)}"
    metadata = asdict(course) | about | provenance(command, seed, bots, torch)
    return TrainedNetwork(name, network.eval(), tuple(curve), metadata)


def prepare(
    network: Any, positions: Positions, before: Any, all_cards: bool = False
) -> tuple[torch.Tensor, ...]:
    """Return (unseen, missing, network inputs..., truth) of the positions for which the network has inputs.

    Those of ``nn`` are the opponent's last turn and the estimates before it by `before`, the network of its
    previous generation, uniform if it is None. With `all_cards` every card counts as unseen.
    """
    if isinstance(network, DenseNetwork):
        ready = np.flatnonzero(opponent_turns(positions.view)[1])
        positions = Positions(positions.view[ready], positions.hands[ready])
        estimate = np.empty((len(ready), NUM_CARDS), np.float32)
        none_done = np.zeros(len(ready), np.int64)
        inputs: tuple[np.ndarray, ...] = (
            walk_turns(positions.view, before and before.probabilities, none_done, estimate),
        )
    else:
        inputs = network.inputs(positions.view)
    _, unseen, missing = known_cards(positions.view)
    return tuple(map(torch.from_numpy, (unseen | all_cards, missing, *inputs, positions.truth())))


def learn(network: Any, data: tuple[torch.Tensor, ...], course: Course, optimizer: Any, number: int) -> float:
    """Train on the data once, in their order, and return the mean loss."""
    network.train()
    total, size = 0.0, len(data[-1])
    steps = math.ceil(size / course.batch_size)
    for step in range(steps):
        part = slice(step * course.batch_size, (step + 1) * course.batch_size)
        done = (number + step / steps) / course.rounds
        warm_up = min(1.0, (number * steps + step + 1) / 200)
        for group in optimizer.param_groups:
            group["lr"] = course.learning_rate * warm_up * (1 + math.cos(math.pi * done)) / 2
        loss = cross_entropy(network, tuple(tensor[part] for tensor in data))
        optimizer.zero_grad()
        loss.backward()
        torch.nn.utils.clip_grad_norm_(network.parameters(), 1.0)
        optimizer.step()
        total += loss.item() * len(data[-1][part])
    network.eval()
    return total / max(size, 1)


def cross_entropy(network: Any, data: tuple[torch.Tensor, ...]) -> torch.Tensor:
    """Return the mean cross-entropy over the unknown cards of `prepare`'s data."""
    unseen, missing, *inputs, truth = data
    logits = network.card_logits(unseen, missing, *inputs)
    every_card = functional.binary_cross_entropy_with_logits(logits, truth, reduction="none")
    return (every_card * unseen).sum() / unseen.sum()


def round_to_half_precision(network: torch.nn.Module) -> None:
    """Round the weights as `TrainedNetwork.save` does, so that measurements match the network as loaded."""
    with torch.no_grad():
        for weights in network.parameters():
            weights.copy_(weights.half().float())


def evaluate(network: Any, data: tuple[torch.Tensor, ...]) -> float:
    """Return `cross_entropy` over all the data, without gradients."""
    total = weight = 0.0
    with torch.inference_mode():
        for start in range(0, len(data[-1]), FORWARD_BATCH):
            part = tuple(tensor[start : start + FORWARD_BATCH] for tensor in data)
            cards = float(part[0].sum())
            total += float(cross_entropy(network, part)) * cards
            weight += cards
    return total / max(weight, 1)
