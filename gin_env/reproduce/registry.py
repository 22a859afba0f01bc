"""All experiments by their id, in the order in which ``gin-rummy reproduce --list`` shows them."""

from __future__ import annotations

from gin_env.reproduce import bots, claims, estimators, fitness, hand_strength
from gin_env.reproduce.experiments import Experiment

EXPERIMENTS: dict[str, Experiment] = {
    experiment.id: experiment
    for module in (claims, fitness, hand_strength, estimators, bots)
    for experiment in sorted(module.EXPERIMENTS, key=lambda one: one.id)
}


def find(name: str) -> Experiment:
    """An experiment by its id. Raises ValueError with the choices."""
    if name not in EXPERIMENTS:
        raise ValueError(f"unknown experiment {name!r}; choose from {', '.join(EXPERIMENTS)}")
    return EXPERIMENTS[name]
