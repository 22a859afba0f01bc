"""Training of the hand-strength networks with mean squared error on a data set.

Source: Truong and Neller 2021, "Offensive Score": "batch size of 64. The training-validation ratio was 80:20.
The initial learning rate was 10^-3 and was scheduled to decay by a factor of 0.1 every 32 epochs. All models
were trained over 96 epochs. Other training parameters were set as default" (Adam with Keras's epsilon of 1e-7
is the reading). That is `SCHEDULES["paper"]`, which takes half an hour for Dual Inception with a million
observations on one core. The default, `SCHEDULES["fast"]`, has three epochs and takes seconds with 200,000
observations; its players are also better (see `gin_env.agents.hand_strength`).

Augmentation (Table 1c: "for every matrix hand representation given to a model, we also gave the model 4! = 24
row-permutations"): each epoch shows each state in one random order of suits, with x and o permuted together.
Over many epochs this is equivalent, and an epoch takes no longer than without augmentation, instead of 24
times as long. The paper's count differs: "this increases the input size 24² times" implies that x and o are
permuted independently. `HandStrengthSettings.independently` does that.

Each epoch shuffles with its own generator, so that a resumed run is bit-identical to an uninterrupted one.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import torch

from gin_env.agents.hand_strength.bots import FORMAT
from gin_env.agents.hand_strength.features import HITS, hand_features
from gin_env.agents.hand_strength.networks import HandStrength
from gin_env.game.streams import check_seed
from gin_env.support.checks import check_choice, check_integer
from gin_env.support.tensor_files import TensorFileError
from gin_env.training.checkpoints import by_prefix, optimizer_tensors, prefixed, restore_optimizer
from research.recipes import Progress, silent
from research.recipes.hand_strength.architectures import build
from research.recipes.hand_strength.data_sets import DataSet
from research.recipes.hand_strength.suits import CARD_ORDERS

VALIDATION_SHARE = 0.2
_EVALUATION_BATCH = 4096
_UNPACKED = 64
"""Number of batches unpacked together."""
_CHECKPOINT = replace(FORMAT, kind="hand-strength checkpoint")


@dataclass(frozen=True)
class Schedule:
    """Epochs, batch size and learning rate of a training run."""

    epochs: int
    batch_size: int
    learning_rate: float
    decay: float
    """Factor by which the learning rate is multiplied after every `decay_every` epochs."""
    decay_every: int
    """Number of epochs between two decays."""

    def rate(self, epoch: int) -> float:
        """Return the learning rate of an epoch, counted from 0."""
        return self.learning_rate * self.decay ** (epoch // self.decay_every)


SCHEDULES = {
    "paper": Schedule(epochs=96, batch_size=64, learning_rate=1e-3, decay=0.1, decay_every=32),
    "fast": Schedule(epochs=3, batch_size=64, learning_rate=1e-3, decay=0.1, decay_every=2),
}


def find_schedule(name: str, epochs: int | None = None) -> Schedule:
    """Return a schedule by name; with `epochs`, it has that many and decays after each third of them.

    Raises ValueError for an unknown name.
    """
    schedule = SCHEDULES[check_choice("schedule", name, SCHEDULES)]
    if epochs is None:
        return schedule
    epochs = check_integer("epochs", epochs, 1, 100_000)
    return replace(schedule, epochs=epochs, decay_every=max(-(-epochs // 3), 1))


@dataclass(frozen=True)
class HandStrengthSettings:
    """Settings of a training run, except its data."""

    architecture: str
    schedule: Schedule
    augmented: bool = False
    seed: int = 0
    independently: bool = False
    """With `augmented`: permute x and o by independent orders, as the paper's 24² implies."""
    hits: str = HITS[0]
    """How hits are counted, one of `features.HITS`."""
    scored_deadwood: bool = False
    """Use the scored deadwood (`DataSet.deadwood`) as the macro-feature, as in the authors' data."""

    @property
    def features(self) -> tuple[str, bool]:
        """The last arguments of `batch_of` and `predict`."""
        return self.hits, self.scored_deadwood


class HandStrengthTrainer:
    """A training run: call `run_epoch` until `finished`.

    Attributes
    ----------
    network : the network in training.
    train_losses, validation_losses : mean squared error in points² of each completed epoch; the training loss
        is a running mean over the epoch, as Keras reports it.
    training, validation : int64, indices of the training and validation states in the data set.
    """

    def __init__(self, data: DataSet, settings: HandStrengthSettings) -> None:
        check_seed(settings.seed)
        if len(data) < 2:
            raise ValueError(f"a data set of {len(data)} states cannot be split for training and validation")
        self.data, self.settings = data, settings
        self.network: HandStrength = build(settings.architecture, settings.seed)
        self.optimizer = torch.optim.Adam(
            self.network.parameters(), lr=settings.schedule.learning_rate, eps=1e-7, fused=True
        )
        order = np.random.default_rng([settings.seed, 0]).permutation(len(data))
        validation = max(int(len(data) * VALIDATION_SHARE), 1)
        self.validation, self.training = np.sort(order[:validation]), np.sort(order[validation:])
        self.train_losses: list[float] = []
        self.validation_losses: list[float] = []

    @property
    def epoch(self) -> int:
        """Number of completed epochs."""
        return len(self.train_losses)

    @property
    def finished(self) -> bool:
        return self.epoch >= self.settings.schedule.epochs

    def run_epoch(self, progress: Progress = silent) -> None:
        """Train on each training state once; `progress` is called with numbers of states."""
        schedule = self.settings.schedule
        generator = np.random.default_rng([self.settings.seed, 1 + self.epoch])
        order = generator.permutation(self.training)
        for group in self.optimizer.param_groups:
            group["lr"] = schedule.rate(self.epoch)
        self.network.train()
        total = 0.0
        for x, macro, o, y in self._batches(order, generator):
            loss = torch.nn.functional.mse_loss(self.network(x, macro, o), y)
            self.optimizer.zero_grad()
            loss.backward()
            self.optimizer.step()
            total += loss.item() * len(y)
            progress(len(y))
        self.train_losses.append(total / len(order))
        predicted = predict(self.network, self.data, self.validation, *self.settings.features)
        residuals = self.data.scores[self.validation] - predicted
        self.validation_losses.append(float(np.mean(residuals.astype(np.float64) ** 2)))

    def _batches(
        self, order: np.ndarray, generator: np.random.Generator
    ) -> Iterator[tuple[torch.Tensor, ...]]:
        """Yield batches of these states, as from `batch_of`; unpacking many of them together is faster."""
        size, independently = self.settings.schedule.batch_size, self.settings.independently
        for first in range(0, len(order), size * _UNPACKED):
            rows = order[first : first + size * _UNPACKED]
            own = other = None
            if self.settings.augmented:
                lengths = [len(batch) for batch in np.split(rows, range(size, len(rows), size))]
                drawn = [generator.integers(0, len(CARD_ORDERS), (1 + independently, n)) for n in lengths]
                own, other = np.concatenate(drawn, axis=1)[[0, -1]]
            columns = batch_of(self.data, rows, own, other, *self.settings.features)
            yield from zip(*(part.split(size) for part in columns), strict=True)

    def describe(self) -> dict[str, Any]:
        """Return the training metadata of a weights file."""
        losses = {"train_losses": self.train_losses, "validation_losses": self.validation_losses}
        return asdict(self.settings) | losses | {"data": self.data.metadata}

    def save_checkpoint(self, path: str | Path) -> None:
        """Write network, optimiser and losses to a safetensors file, atomically."""
        tensors = prefixed("network", self.network.state_dict())
        tensors |= prefixed("adam", optimizer_tensors(self.optimizer))
        _CHECKPOINT.write_tensors(path, tensors, self.describe())

    @classmethod
    def resume(cls, path: str | Path, data: DataSet, settings: HandStrengthSettings) -> HandStrengthTrainer:
        """Return the run of a checkpoint.

        Raises FileNotFoundError if there is no file, or TensorFileError if it is damaged or of another run.
        """
        tensors, metadata = _CHECKPOINT.read_tensors(path)
        trainer = cls(data, settings)
        for key, value in trainer.describe().items():
            if not key.endswith("losses") and metadata.get(key) != json.loads(json.dumps(value)):
                raise TensorFileError(f"{path} is a checkpoint of another run: its {key} differs")
        try:
            groups = by_prefix(tensors)
            trainer.network.load_state_dict(groups["network"])
            restore_optimizer(trainer.optimizer, groups.get("adam", {}))
            trainer.train_losses = [float(loss) for loss in metadata["train_losses"]]
            trainer.validation_losses = [float(loss) for loss in metadata["validation_losses"]]
        except (RuntimeError, ValueError, TypeError, KeyError) as error:
            raise TensorFileError(f"{path} does not match its own architecture ({error})") from error
        return trainer


def batch_of(
    data: DataSet,
    rows: np.ndarray,
    own: np.ndarray | None = None,
    other: np.ndarray | None = None,
    hits: str = HITS[0],
    scored_deadwood: bool = False,
) -> tuple[torch.Tensor, ...]:
    """Return (x, m, o, y) of these states, unpacked from the compact data.

    `own` and `other`, int64 (k,) or None, are the suit orders (indices of `suits.SUIT_ORDERS`) of x and
    of o.
    """
    x, macro = hand_features(data.hands[rows], hits)
    if scored_deadwood:
        macro[:, 0] = data.deadwood[rows]
    o = data.estimates[rows].astype(np.float32) / np.float32(255)
    if own is not None:
        x = np.take_along_axis(x, CARD_ORDERS[own], axis=1)
    if other is not None:
        o = np.take_along_axis(o, CARD_ORDERS[other], axis=1)
    return tuple(map(torch.from_numpy, (x, macro, o, data.scores[rows])))


def predict(
    network: HandStrength, data: DataSet, rows: np.ndarray, hits: str = HITS[0], scored_deadwood: bool = False
) -> np.ndarray:
    """Return float32 (k,): the network's values of these states of a data set."""
    network.eval()
    values = []
    with torch.no_grad():
        for first in range(0, len(rows), _EVALUATION_BATCH):
            part = rows[first : first + _EVALUATION_BATCH]
            x, macro, o, _ = batch_of(data, part, None, None, hits, scored_deadwood)
            values.append(network(x, macro, o).numpy())
    return np.concatenate(values)


def train(
    data: DataSet,
    settings: HandStrengthSettings,
    *,
    checkpoint: str | Path | None = None,
    resume: bool = False,
    progress: Progress = silent,
) -> HandStrengthTrainer:
    """Train to the end of the schedule, and write a checkpoint after each epoch if a file is given."""
    if resume:
        if checkpoint is None:
            raise ValueError("resume=True needs a checkpoint")
        trainer = HandStrengthTrainer.resume(checkpoint, data, settings)
        progress(trainer.epoch * len(trainer.training))
    else:
        trainer = HandStrengthTrainer(data, settings)
    while not trainer.finished:
        trainer.run_epoch(progress)
        if checkpoint is not None:
            trainer.save_checkpoint(checkpoint)
    return trainer
