"""All experiments by id, in the order of ``python -m research list``."""

from __future__ import annotations

import pkgutil
from importlib import import_module

from gin_env.support.checks import check_choice
from research import papers, questions
from research.reproduce import programs
from research.reproduce.experiment import Experiment

PROGRAMS = ("research.questions.learning_runs", "research.questions.learning_speed")
"""Programs with commands of their own."""
_MODULES = [
    import_module(module.name)
    for package in (papers, questions)
    for module in pkgutil.walk_packages(package.__path__, f"{package.__name__}.")
    if module.name not in PROGRAMS
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
