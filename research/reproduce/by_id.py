"""All experiments by id, in the order of ``python -m research list``.

They are declared in the files ``experiments.toml`` of their folders. A table of such a file is an experiment,
and its fields are those of `research.reproduce.experiment.Experiment`. A function is given by its name, such
as ``"fitness.measure_shapley"`` for the module ``fitness`` of the folder, or by a list of its name and its
first arguments. Its module is imported when it is called. ``arguments`` are further arguments of ``measure``.
``makes`` is a function or a table of names and bots, such as ``module:Class`` with parameters.

Many experiments need no functions of their own: the fields of `research.reproduce.declared.Matches` take the
place of ``measure``, and those of `research.reproduce.declared.Table` the place of ``table``; a list of
``tables`` with these fields makes several tables, and ``table_like`` names an experiment of the file with the
same table. A picture is drawn by a function, or has the fields of
`research.reproduce.charts.Lines` or, with a ``label``, of `research.reproduce.charts.Dots`.
"""

from __future__ import annotations

import tomllib
from collections.abc import Callable, Mapping
from dataclasses import fields
from functools import partial
from pathlib import Path
from typing import Any

from gin_env.support.checks import check_choice
from research.reproduce.charts import Dots, Lines
from research.reproduce.declared import Matches, Table, function, made_bots, show
from research.reproduce.experiment import Experiment
from research.reproduce.listing import PAPERS, with_name

RESEARCH = Path(__file__).parents[1]
_FUNCTIONS = ("measure", "table", "on_page")


def read(file: Path) -> list[Experiment]:
    """Return the experiments that a file declares."""
    package = ".".join(file.relative_to(RESEARCH.parent).parent.parts)
    declared = tomllib.loads(file.read_text(encoding="utf-8"))
    return [
        _experiment(package, name, one, declared[one.get("table_like", name)])
        for name, one in declared.items()
    ]


def _experiment(package: str, name: str, declared: dict[str, Any], shown: dict[str, Any]) -> Experiment:
    own: dict[str, Any] = {"measure": None} | _part(declared, Experiment)
    own |= {key: function(package, declared[key]) for key in _FUNCTIONS if key in declared}
    if "makes" in declared:
        own["makes"] = partial(made_bots, package, declared["makes"])
    own["pictures"] = {path: _picture(package, one) for path, one in declared.get("pictures", {}).items()}
    own["parts"] = tuple(declared.get("parts", ()))
    if "arguments" in declared:
        own["measure"] = partial(own["measure"], **declared["arguments"])
    if matches := _part(declared, Matches):
        games = own.get("games", Experiment.games)
        own["measure"] = partial(Matches(**matches).measure, games, own.get("makes", Experiment.makes))
    if "table" not in declared:
        tables = shown.get("tables") or [_part(shown, Table)]
        own["table"] = partial(show, package, [Table(**one) for one in tables])
    return Experiment(name, **own)


def _picture(package: str, declared: Any) -> Callable[..., None]:
    if not isinstance(declared, dict):
        return function(package, declared)
    return partial((Dots if "label" in declared else Lines)(**declared).draw, package)


def _part(declared: Mapping[str, Any], kind: type) -> dict[str, Any]:
    """Return the declared fields of a dataclass."""
    return {field.name: declared[field.name] for field in fields(kind) if field.name in declared}


EXPERIMENTS: dict[str, Experiment] = {
    experiment.id: experiment
    for experiment in sorted(
        (experiment for file in RESEARCH.glob("**/experiments.toml") for experiment in read(file)),
        key=lambda experiment: (experiment.id.split("/")[0] not in PAPERS, experiment.id),
    )
}


def find(name: str) -> Experiment:
    """Return an experiment by its id, which may begin with the number of a paper instead of its name.

    Raises ValueError for an unknown id, with the choices.
    """
    return EXPERIMENTS[check_choice("experiment", with_name(name), EXPERIMENTS)]
