"""All experiments by id, in the order of ``gin-rummy reproduce --list``."""

from __future__ import annotations

import pkgutil
from importlib import import_module

from gin_env.reproduce import experiments, programs
from gin_env.reproduce.experiment import Experiment
from gin_env.support.checks import check_choice

_MODULES = [
    import_module(f"{experiments.__name__}.{module.name}")
    for module in pkgutil.iter_modules(experiments.__path__)
]

EXPERIMENTS: dict[str, Experiment] = {
    experiment.id: experiment
    for experiment in sorted(
        (experiment for module in (*_MODULES, programs) for experiment in getattr(module, "EXPERIMENTS", ())),
        key=lambda experiment: experiment.id,
    )
}


def find(name: str) -> Experiment:
    """Return an experiment by its id. Raises ValueError for an unknown id, with the choices."""
    return EXPERIMENTS[check_choice("experiment", name, EXPERIMENTS)]
