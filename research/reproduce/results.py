"""Results of experiments: one JSON file for each, with everything that identifies what was measured."""

from __future__ import annotations

import hashlib
import json
import os
import subprocess
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field
from datetime import date
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from gin_env.batch import Games
from gin_env.matches.provenance import describe_bot
from gin_env.support.atomic import write_text
from gin_env.support.plots import origin_line
from gin_env.support.threads import torch_threads
from gin_env.support.version import __version__
from research.reproduce.changes import changes, describe_estimator, named_alike, not_compared
from research.reproduce.experiment import Experiment, Run
from research.reproduce.tables import Row


@dataclass(frozen=True)
class Result:
    """The rows that an experiment measured and their provenance. The fields are those of the file."""

    id: str
    command: str
    version: str
    """Release of gin-env."""
    commit: str | None = field(default=None, kw_only=True)
    """Commit of the checkout when the run began or was resumed, with ``-dirty`` if its code differed from the
    commit then or at the end; in older files the commit that stored the last rows, with ``-stored``."""
    date: str
    seed: int
    games: int
    """Number of games in each match, unless a row has its own; 0 without matches."""
    quick: bool
    """Whether the run had the smallest size; its figures are then meaningless."""
    seconds: float | None
    """Processor time of the run; None if it resumed an interrupted one."""
    keys: str
    """`deck_keys` of the release that measured the rows: with other keys, the same seed deals other cards."""
    stale: str | None
    """From which version the rows are, and why they are not measured again; None if they are those that the
    command measured at `commit`."""
    bots: list[dict[str, Any]]
    """`gin_env.matches.provenance.describe_bot` of each bot, and of the packaged bot of the same class as a
    bot that the experiment made."""
    estimators: list[dict[str, Any]]
    """`research.reproduce.changes.describe_estimator` of each measured estimator."""
    rows: list[Row]

    def save(self, folder: Path) -> Path:
        """Write the result to its file in a folder of results and return the path.

        A quick run is written to ``ID.quick.json`` and never replaces a full one.
        """
        path = path_of(folder, f"{self.id}.quick" if self.quick else self.id)
        path.parent.mkdir(parents=True, exist_ok=True)
        parts = []
        for name, value in asdict(self).items():
            text = json.dumps(value, ensure_ascii=False)
            if isinstance(value, list) and value:  # one record per line
                records = (f"    {json.dumps(record, ensure_ascii=False)}" for record in value)
                text = "[\n" + ",\n".join(records) + "\n  ]"
            parts.append(f'  "{name}": {text}')
        write_text(path, "{\n" + ",\n".join(parts) + "\n}\n")
        return path

    @property
    def digest(self) -> str:
        """Shortened SHA-256 of the rows, which pictures store to record the rows they were drawn from."""
        return hashlib.sha256(json.dumps(self.rows, sort_keys=True).encode()).hexdigest()[:32]

    @property
    def origin(self) -> str:
        """Command, games, seed and release in one line, for the footer of pictures."""
        sample = f"{self.command}: {self.games:,} games a match" if self.games else self.command
        return origin_line(sample, self.seed, self.version)

    def changes(self, experiment: Experiment) -> list[str]:
        """Return what has changed in the bots and estimators since, one line for each difference."""
        made, lines = experiment.makes(), []
        for one in [*self.bots, *self.estimators]:
            if "made_by" in one:
                lines += changes(one, made.get(one["bot"]))
            else:
                lines += _changes(json.dumps(one))
        return lines

    def not_compared(self, experiment: Experiment) -> list[str]:
        """Return what `changes` cannot see, in words."""
        made = experiment.makes()
        hidden = [not_compared(one, made.get(one["bot"])) for one in self.bots]
        return list(dict.fromkeys(one for one in hidden if one is not None))


@cache
def _changes(description: str) -> list[str]:
    """Compare each distinct description, as JSON, only once."""
    return changes(json.loads(description))


def path_of(folder: Path, experiment: str) -> Path:
    """Return the path of an experiment's file in a folder of results."""
    return folder / f"{experiment}.json"


def load(folder: Path, experiment: str, quick: bool = False) -> Result:
    """Read the result of an experiment, or of its quick run.

    Raises FileNotFoundError if there is no such file, and ValueError if it is not a result of the experiment.
    """
    path = path_of(folder, f"{experiment}.quick" if quick else experiment)
    try:
        found = Result(**json.loads(path.read_text()))
    except (TypeError, ValueError) as error:
        raise ValueError(f"{path} is not a result of `python -m research run` ({error})") from error
    if found.id != experiment:
        raise ValueError(f"{path} is the result of {found.id!r}, not of {experiment!r}: move it")
    return found


def stored(folder: Path) -> list[str]:
    """Return the ids of the experiments with a result of a full run in the folder."""
    paths = (path for path in folder.rglob("*.json") if not path.name.endswith(".quick.json"))
    return sorted(path.relative_to(folder).with_suffix("").as_posix() for path in paths)


def measure(experiment: Experiment, run: Run) -> Result:
    """Run an experiment and return its result.

    Raises ValueError for an experiment that another program measures, or that combines other results.
    """
    if experiment.parts:
        raise ValueError(f"{experiment.id} is made of other results: measure {', '.join(experiment.parts)}")
    if experiment.measure is None:
        raise ValueError(f"{experiment.id} is measured by another program: {experiment.program}")
    begun, code = processor_seconds(), commit()
    with torch_threads():
        rows = experiment.measure(run)
    seeded = "" if run.seed == experiment.seed else f" --seed {run.seed}"
    command = f"python -m research run {experiment.id}{seeded}{' --quick' * run.quick}"
    seconds = None if run.resumed else processor_seconds() - begun
    return describe(experiment, run, rows, command, seconds, code)


def processor_seconds() -> float:
    """Return the processor time that this process and its finished children have used."""
    return sum(os.times()[:4])


def describe(
    experiment: Experiment,
    run: Run,
    rows: list[Row],
    command: str,
    seconds: float | None,
    begun_at: str | None = None,
) -> Result:
    """Return the result of a command that measured these rows, with all bots that took part in its run.

    `begun_at` is `commit()` when the command began, by default that of now.
    """
    run.say("describing the bots")
    now = commit()
    if begun_at not in (None, now):
        now = f"{str(begun_at).removesuffix('-dirty')}-dirty"
    named = {bot for bot in run.bots.values() if isinstance(bot, str)}
    alike = [named_alike(bot) for bot in run.bots.values() if not isinstance(bot, str)]
    stand_ins = [name for name in dict.fromkeys(alike) if name is not None and name not in named]
    return Result(
        id=experiment.id,
        command=command,
        version=__version__,
        commit=now,
        date=date.today().isoformat(),
        seed=run.seed,
        games=run.size(experiment.games),
        quick=run.quick,
        seconds=None if seconds is None else round(seconds, 1),
        keys=deck_keys(),
        stale=None,
        bots=[describe_bot(bot) for bot in [*run.bots.values(), *stand_ins]],
        estimators=[describe_estimator(estimator) for estimator in run.estimators],
        rows=rows,
    )


def commit() -> str | None:
    """Return the commit of the checkout that this package runs from; None outside one or without Git.

    It ends with ``-dirty`` if the code differs from the commit; stored results and other files do not matter.
    """
    folder = Path(__file__).resolve().parents[2]

    def git(*words: str) -> str:
        command = ["git", "-C", str(folder), *words]
        return subprocess.run(command, capture_output=True, text=True, check=True, timeout=30).stdout.strip()

    try:
        if Path(git("rev-parse", "--show-toplevel")) != folder:
            return None  # an installed package in the folder of another repository
        return git("rev-parse", "HEAD") + "-dirty" * bool(git("status", "--porcelain", "--", *CODE))
    except (OSError, subprocess.SubprocessError):
        return None


CODE = ("gin_env", "research", "benchmarks", "examples", ":(exclude)research/results")
"""The code on which a result depends, as paths for Git."""


def stale_results(
    folder: Path, experiments: Mapping[str, Experiment], progress: Callable[[str], object] | None = None
) -> dict[str, list[str]]:
    """Return what has changed since each stored result was measured: lines by experiment.

    Decks are not compared for results that are already marked as stale.
    """
    found = {}
    for name in filter(experiments.__contains__, stored(folder)):
        result = load(folder, name)
        if progress is not None:
            progress(name)
        found[name] = result.changes(experiments[name])
        if not result.stale and result.keys not in (deck_keys(), NO_KEYS):
            found[name].append(f"different decks now: {deck_keys()}, stored {result.keys}")
    return {name: lines for name, lines in found.items() if lines}


NO_KEYS = "not used"
"""`Result.keys` of a result for which no cards are dealt."""


@cache
def deck_keys() -> str:
    """Return a hash of the decks of sixteen games; it changes if seeds no longer deal the same cards."""
    games = Games(16)
    games.start(games.everyone, np.arange(16, dtype=np.uint64), np.arange(16, dtype=np.uint64))
    decks = np.stack([games.deck(game) for game in range(len(games))]).astype(np.uint8)
    return hashlib.sha256(decks.tobytes()).hexdigest()[:16]
