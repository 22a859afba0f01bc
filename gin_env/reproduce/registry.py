"""All experiments by their id, in the order in which ``gin-rummy reproduce --list`` shows them."""

from __future__ import annotations

from itertools import chain

from gin_env.reproduce import (
    adaptive,
    bots,
    cfr_training,
    claims,
    estimator_time,
    estimators,
    exploit,
    fitness,
    hand_strength,
    hand_strength_figures,
    hand_strength_loop,
    hand_strength_networks,
    held_out,
    interval_coverage,
    leaderboard,
    learning,
    programs,
    search,
    tonic_filters,
)
from gin_env.reproduce.experiments import Experiment

EXPERIMENTS: dict[str, Experiment] = {
    experiment.id: experiment
    for experiment in sorted(
        chain.from_iterable(
            module.EXPERIMENTS
            for module in (
                adaptive,
                bots,
                cfr_training,
                claims,
                estimator_time,
                estimators,
                exploit,
                fitness,
                hand_strength,
                hand_strength_figures,
                hand_strength_loop,
                hand_strength_networks,
                held_out,
                interval_coverage,
                leaderboard,
                learning,
                programs,
                search,
                tonic_filters,
            )
        ),
        key=lambda experiment: experiment.id,
    )
}


def find(name: str) -> Experiment:
    """An experiment by its id. Raises ValueError with the choices."""
    if name not in EXPERIMENTS:
        raise ValueError(f"unknown experiment {name!r}; choose from {', '.join(EXPERIMENTS)}")
    return EXPERIMENTS[name]
