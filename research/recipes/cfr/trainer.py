"""Training of the full game's CFR strategies: ``python -m research train cfr``. The algorithm is in
`kernels`.

All randomness is a hash of the seed and the iteration's number. A run depends only on its settings, and a
resumed run equals an uninterrupted one.
"""

from __future__ import annotations

import time
from dataclasses import asdict, dataclass, fields
from datetime import date
from pathlib import Path

import numpy as np

from gin_env.agents.cfr.bot import StrategyTable
from gin_env.agents.cfr.strategy import CANDIDATES, DEFAULT_CANDIDATES, KINDS, Strategy, number_of_sets
from gin_env.game.rules import Rules
from gin_env.game.state import STATE
from gin_env.game.streams import check_seed
from gin_env.support.array_files import ArrayFileError, ArrayFormat
from gin_env.support.checks import check_choice, check_integer, check_number
from gin_env.support.version import __version__
from research.recipes import Progress, rules_option, silent
from research.recipes.cfr.kernels import iterate_many

_STEP = 200
"""Number of iterations between two progress reports; the result does not depend on it."""
_SECONDS_BETWEEN_CHECKPOINTS = 60
CHECKPOINT = ArrayFormat(
    kind="checkpoint",
    version=1,
    arrays={"regrets": (np.float64, ("information sets", 2)), "sums": (np.float64, ("information sets", 2))},
    described={
        "abstraction": str,
        "candidates": str,
        "seed": int,
        "exploration": int | float,
        "iterations": int,
    },
    command="python -m research train cfr",
)


@dataclass(frozen=True)
class CFRSettings:
    """Settings of a training run, except the number of iterations."""

    abstraction: str = "paper"
    """One of `gin_env.agents.cfr.strategy.KINDS`."""
    candidates: str | None = None
    """The cards among which a discard is chosen, one of `CANDIDATES` there; None: `DEFAULT_CANDIDATES`."""
    seed: int = 1
    """Random seed of all deals and choices."""
    exploration: float = 0.1
    """Probability that the traverser's decision in the sampled hand is random."""
    rules: str = "eaai"
    """The rules of the hands, as `Rules.parse` reads them."""

    def __post_init__(self) -> None:
        if self.candidates is None:
            object.__setattr__(self, "candidates", DEFAULT_CANDIDATES.get(self.abstraction, "least"))
        for name, choices in (("abstraction", KINDS), ("candidates", CANDIDATES)):
            check_choice(name, getattr(self, name), choices)
        check_seed(self.seed)
        check_number("exploration", self.exploration, 0, 1)
        Rules.parse(self.rules)

    @property
    def which(self) -> int:
        """The number of `candidates` for the kernels."""
        return CANDIDATES[self.candidates or DEFAULT_CANDIDATES[self.abstraction]]


class CFRTrainer:
    """A training run: its regrets and the average strategy so far.

    Attributes
    ----------
    iterations : number of completed iterations.
    regrets : float64 (sets, 2): cumulative regrets of acting and of not acting, never negative.
    sums : float64 (sets, 2): sum of the weighted probabilities of acting, and sum of the weights; their
        quotient is the average strategy.
    """

    def __init__(self, settings: CFRSettings | None = None) -> None:
        self.settings = settings if settings is not None else CFRSettings()
        self.iterations = 0
        self._kind = KINDS[self.settings.abstraction]
        size = number_of_sets(self._kind)
        self.regrets = np.zeros((size, 2))
        self.sums = np.zeros((size, 2))

    def run(self, iterations: int, progress: Progress = silent) -> None:
        """Run `iterations` more iterations; `progress` is called with the number since the last call."""
        last = self.iterations + check_integer("iterations", iterations, 1, 10**12)
        states = np.zeros(2, STATE)
        states["public"]["rules"] = Rules.parse(self.settings.rules).record()
        total = self.regrets.sum(axis=1)
        current = np.divide(self.regrets[:, 0], total, out=np.full(len(total), 0.5), where=total > 0)
        strategy = Strategy(current, self._kind, self.settings.which, purified=False)
        seed, exploration = np.uint64(self.settings.seed), float(self.settings.exploration)
        while self.iterations < last:
            stop = min(self.iterations + _STEP, last)
            iterate_many(states, self.iterations, stop, seed, exploration, strategy, self.regrets, self.sums)
            done, self.iterations = stop - self.iterations, stop
            progress(done)

    def table(self, command: str = "") -> StrategyTable:
        """Return the average strategy with its provenance."""
        weights = self.sums[:, 1]
        strategy = np.divide(self.sums[:, 0], weights, out=np.full(len(weights), -1.0), where=weights > 0)
        metadata = asdict(self.settings) | {
            "iterations": self.iterations,
            "command": command,
            "date": date.today().isoformat(),
            "version": __version__,
        }
        return StrategyTable(strategy, metadata)

    def save(self, path: str | Path) -> None:
        """Write a checkpoint atomically."""
        metadata = asdict(self.settings) | {"iterations": self.iterations}
        CHECKPOINT.write(path, {"regrets": self.regrets, "sums": self.sums}, metadata)

    @classmethod
    def resume(cls, path: str | Path) -> CFRTrainer:
        """Return the training run of a checkpoint.

        Raises FileNotFoundError if there is no file, or ArrayFileError if it is damaged.
        """
        arrays, metadata = CHECKPOINT.read(path)
        try:
            known = (field.name for field in fields(CFRSettings) if field.name in metadata)
            settings = CFRSettings(**{name: metadata[name] for name in known})
        except (TypeError, ValueError) as error:
            raise ArrayFileError(f"{path} is a checkpoint with invalid settings: {error}") from error
        trainer = cls(settings)
        if arrays["regrets"].shape != trainer.regrets.shape:
            raise ArrayFileError(f"{path} is a checkpoint of another abstraction")
        trainer.iterations = metadata["iterations"]
        trainer.regrets, trainer.sums = arrays["regrets"], arrays["sums"]
        return trainer


def train_table(
    iterations: int,
    settings: CFRSettings | None = None,
    *,
    checkpoint: Path | None = None,
    resume: bool = False,
    progress: Progress = silent,
) -> StrategyTable:
    """Train for a total of `iterations` with checkpoints, for ``python -m research train cfr``.

    With `resume`, the settings are those of the checkpoint, whose iterations count towards the total.
    Raises TypeError or ValueError if `iterations` is not an integer of at least 1.
    """
    check_integer("iterations", iterations, 1, 10**12)
    if resume:
        if checkpoint is None:
            raise ValueError("resume=True needs a checkpoint")
        trainer = CFRTrainer.resume(checkpoint)
        if trainer.iterations > iterations:
            raise ValueError(f"{checkpoint} has done {trainer.iterations} iterations, more than {iterations}")
        progress(trainer.iterations)
    else:
        trainer = CFRTrainer(settings)
    saved = time.monotonic()

    def report(done: int) -> None:
        nonlocal saved
        progress(done)
        if checkpoint is not None and time.monotonic() - saved > _SECONDS_BETWEEN_CHECKPOINTS:
            trainer.save(checkpoint)
            saved = time.monotonic()

    if iterations > trainer.iterations:
        trainer.run(iterations - trainer.iterations, report)
    if checkpoint is not None:
        trainer.save(checkpoint)
    settings = trainer.settings
    command = (
        f"python -m research train cfr {settings.abstraction}.npz --iterations {iterations} "
        f"--seed {settings.seed} --abstraction {settings.abstraction} --candidates {settings.candidates} "
        f"--exploration {settings.exploration}{rules_option(Rules.parse(settings.rules))}"
    )
    return trainer.table(command)
