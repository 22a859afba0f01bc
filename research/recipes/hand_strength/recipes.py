"""Hand-strength networks by name: the architecture and the data set of each.

They are the rows of Truong and Neller 2021's Table 1, three additional networks (message passing between
cards, and flat Monte Carlo as the explorer), and `CONTROLS`. ``python -m research train hand-strength NAME``
trains one of them.
"""

from __future__ import annotations

import tomllib
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from gin_env.game.rules import Rules
from gin_env.matches.provenance import describe_bot
from gin_env.support.checks import check_choice
from gin_env.support.workers import Workers
from research.recipes import Progress, rules_option, silent
from research.recipes.hand_strength.data_sets import DataSet, generate

if TYPE_CHECKING:
    from research.recipes.hand_strength.selection import Contestant
    from research.recipes.hand_strength.trainer import HandStrengthTrainer

OBSERVATIONS = 200_000
"""Number of observations; enough for the fast schedule of three epochs. The paper uses a million."""
ESTIMATOR = "bayes-isru"


@dataclass(frozen=True)
class Recipe:
    """The architecture and the training data of a network."""

    architecture: str
    """One of `gin_env.agents.hand_strength.networks.ARCHITECTURES` or `architectures`."""
    data_set: str
    """One of `data_sets.DATA_SETS`."""
    stages: str = "last"
    augmented: bool = False
    independently: bool = False
    """How to augment (see `trainer.HandStrengthSettings`)."""


_DATA = tomllib.loads(Path(__file__).with_name("recipes.toml").read_text(encoding="utf-8"))
TABLE_1, CONTROLS = (
    {name: Recipe(**one) for name, one in _DATA[part].items()} for part in ("table_1", "controls")
)
"""The rows of the paper's Table 1 with three networks of ours, and controls."""
RECIPES = TABLE_1 | CONTROLS


def find_recipe(name: str) -> Recipe:
    """Return a recipe by name. Raises ValueError for an unknown name."""
    return RECIPES[check_choice("network", name, RECIPES)]


def data_file(
    folder: Path,
    data_set: str,
    stages: str,
    estimator: str,
    observations: int,
    seed: int,
    rules: Rules | None,
) -> Path:
    """Return the path of a data set in a folder."""
    name = f"{data_set}_{stages}_{estimator.replace('/', '-')}_{observations}_{seed}"
    return folder / f"{name}{'' if rules in (None, Rules()) else f'_{rules.text}'}.npz"


def load_or_generate(
    folder: Path,
    data_set: str,
    stages: str = "last",
    *,
    estimator: str = ESTIMATOR,
    observations: int = OBSERVATIONS,
    seed: int = 0,
    rules: Rules | None = None,
    workers: int | Literal["all"] | Workers = 1,
    progress: Progress = silent,
) -> DataSet:
    """Return the data set of these settings, loaded from its file or generated and saved there.

    Raises ValueError if the file holds other data.
    """
    how: dict[str, Any] = {"stages": stages, "estimator": estimator, "seed": seed, "rules": rules}
    path = data_file(folder, data_set, stages, estimator, observations, seed, rules)
    if path.exists():
        data = DataSet.load(path)
        expected = how | {"name": data_set, "observations": observations, "rules": (rules or Rules()).text}
        for key, value in expected.items():
            if data.metadata.get(key, value) != value:
                raise ValueError(
                    f"{path} holds other data: {key} {data.metadata[key]}, not {value}; remove it"
                )
        return data
    data = generate(data_set, observations, **how, workers=workers, progress=progress)
    folder.mkdir(parents=True, exist_ok=True)
    data.save(path)
    return data


def provenance(
    name: str, trainer: HandStrengthTrainer, schedule: str, epochs: int | None, candidates: list[Contestant]
) -> dict[str, Any]:
    """Return the metadata of a network, the best of `candidates`, with the command to reproduce it."""
    data = trainer.data.metadata
    command = (
        f"python -m research train hand-strength {name} {name}.safetensors "
        f"--observations {data['observations']} --estimator {data['estimator']} "
        f"--data-seed {data['seed']} --schedule {schedule} "
        f"--seed {candidates[0].seed} --candidates {len(candidates)}"
    )
    if epochs is not None:
        command += f" --epochs {epochs}"
    command += rules_option(Rules.parse(data.get("rules", "eaai")))
    players = ("random-discard", "simple") if data["explorer"] == "random" else ("simple",)
    return trainer.describe() | {
        "name": name,
        "command": command,
        "candidates": [asdict(candidate) for candidate in candidates],
        "players": [describe_bot(bot) for bot in players],
    }
