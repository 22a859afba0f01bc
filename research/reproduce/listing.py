"""The list of ``python -m research list``: experiments by paper, with their time and requirements."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from pathlib import Path

from research.reproduce.experiment import Experiment

PAPERS = {
    "000": "000  Gallucci et al., Estimating Card Fitness for Discard in Gin Rummy (2021)",
    "001": "001  Larkin et al., Modeling Expert Knowledge in a Heuristic-Based Gin Rummy Agent (2021)",
    "002": "002  Truong and Neller, A Data-Driven Approach for Gin Rummy Hand Evaluation (2021)",
    "003": "003  Opponent Hand Estimation in Gin Rummy (2021)",
    "004": "004  Keats, Artificial Opponents - Gin Rummy - Code Report (2017)",
}
OURS = "Beyond the papers"
_TORCH_FREE = ("002/authors-losses", "002/late-knock", "003/bayes-readings", "outside/parameters")
_TORCH = (
    "002/", "003/", "learning/", "ppo/", "search/", "against-held-out", "bot-speed", "exploit", "generation",
    "leaderboard", "outside/", "policy", "small-decks", "tournament", "variants",
)  # fmt: skip
"""Prefixes of the ids of experiments that use networks, and so need PyTorch."""
_OTHER_EXTRAS = {"001/trials": "tune", "long-checks": "dev", "mutants": "dev"}


def chosen(experiments: Iterable[Experiment], prefixes: Sequence[str]) -> list[Experiment]:
    """Return the experiments whose id begins with one of `prefixes`; all experiments if it is empty.

    Raises ValueError for a prefix that matches no id.
    """
    experiments = list(experiments)
    for prefix in prefixes:
        if not any(one.id.startswith(prefix) for one in experiments):
            choices = ", ".join(PAPERS)
            raise ValueError(f"unknown experiment {prefix!r}; choose from {choices} or an id of --list")
    return [one for one in experiments if not prefixes or one.id.startswith(tuple(prefixes))]


def listing(experiments: Sequence[Experiment], results: Path) -> str:
    """Return the experiments by paper as text, with measured times where the folder `results` has them."""
    width = max(len(one.id) for one in experiments)
    lines: list[str] = []
    for heading, group in grouped(experiments):
        lines += ["", heading] if lines else [heading]
        for one in group:
            lines.append(f"  {one.id:{width}}  {one.title} ({', '.join(details(one, results))})")
    return "\n".join(lines)


def grouped(experiments: Iterable[Experiment]) -> list[tuple[str, list[Experiment]]]:
    """Return (heading, experiments) for each paper that has experiments, then for all others."""
    groups: dict[str, list[Experiment]] = {}
    for one in experiments:
        groups.setdefault(PAPERS.get(one.id.split("/")[0], OURS), []).append(one)
    return [(heading, groups[heading]) for heading in (*PAPERS.values(), OURS) if heading in groups]


def details(experiment: Experiment, results: Path) -> list[str]:
    """Return the program, the time, the extra and the checkout that an experiment needs, as texts."""
    texts = [f"by `{experiment.program}`"] if experiment.program else []
    seconds = measured_seconds(experiment, results)
    if seconds is not None:
        texts.append(f"took {duration(seconds)}")
    elif not experiment.program:
        texts.append(f"about {experiment.time}")
    if experiment.id in _OTHER_EXTRAS:
        texts.append(f"extra: {_OTHER_EXTRAS[experiment.id]}")
    elif experiment.id.startswith(_TORCH) and experiment.id not in _TORCH_FREE:
        texts.append("extra: train")
    if experiment.authors:
        texts.append(f"--authors CHECKOUT of {experiment.authors}")
    return texts


def measured_seconds(experiment: Experiment, results: Path) -> float | None:
    """Return the duration of the published run in seconds, or None if it is unknown."""
    path = results / f"{experiment.id}.json"
    if experiment.parts or not path.exists():
        return None
    seconds = json.loads(path.read_text()).get("seconds")
    return None if seconds is None else float(seconds)


def duration(seconds: float) -> str:
    """Return a duration in words: ``40 s``, ``12 min``, ``1.5 h``."""
    if seconds < 100:
        return f"{max(round(seconds), 1)} s"
    if seconds < 100 * 60:
        return f"{round(seconds / 60)} min"
    return f"{seconds / 3600:.1f} h"
