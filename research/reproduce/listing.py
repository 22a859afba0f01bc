"""The list of ``python -m research list``: experiments by paper, with their time and requirements."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from pathlib import Path

from research.reproduce.experiment import Experiment

PAPERS = {
    "francis2021": "Francis et al. 2021, Opponent Hand Estimation in the Game of Gin Rummy",
    "gallucci2021": "Gallucci et al. 2021, Estimating Card Fitness for Discard in Gin Rummy",
    "keats2017": "Keats 2017, Artificial Opponents - Gin Rummy - Code Report",
    "larkin2021": "Larkin et al. 2021, Modeling Expert Knowledge in a Heuristic-Based Gin Rummy Agent",
    "truong2021": "Truong and Neller 2021, A Data-Driven Approach for Gin Rummy Hand Evaluation",
}
"""Name of a paper, with which its ids begin -> its authors, year and title."""
ALIASES = {
    "000": "gallucci2021", "001": "larkin2021", "002": "truong2021", "003": "francis2021", "004": "keats2017",
}  # fmt: skip
"""Numbers that commands take instead of names."""
OURS = "Beyond the papers"


def with_name(text: str) -> str:
    """Return an id, or its beginning, with the name of the paper in place of its number.

    >>> with_name("gallucci2021/claims"), with_name("000/claims")
    ('gallucci2021/claims', 'gallucci2021/claims')
    """
    paper, slash, rest = text.partition("/")
    return ALIASES.get(paper, paper) + slash + rest


def chosen(experiments: Iterable[Experiment], prefixes: Sequence[str]) -> list[Experiment]:
    """Return the experiments whose id begins with one of `prefixes`; all experiments if it is empty.

    Raises ValueError for a prefix that matches no id.
    """
    experiments, prefixes = list(experiments), [with_name(prefix) for prefix in prefixes]
    for prefix in prefixes:
        if not any(one.id.startswith(prefix) for one in experiments):
            choices = ", ".join(PAPERS)
            raise ValueError(f"unknown experiment {prefix!r}; choose from {choices} or an id of --list")
    return [one for one in experiments if one.id.startswith(tuple(prefixes) or "")]


def listing(experiments: Sequence[Experiment], results: Path) -> str:
    """Return the experiments by paper as text, with measured times where the folder `results` has them."""
    width = max(len(one.id) for one in experiments)
    groups: dict[str, list[str]] = {name: [] for name in (*PAPERS, OURS)}
    for one in experiments:
        text = f"  {one.id:{width}}  {one.title} ({', '.join(details(one, results))})"
        paper = one.id.split("/")[0]
        groups[paper if paper in PAPERS else OURS].append(text)
    headings = {name: f"{name}  {title}" for name, title in PAPERS.items()} | {OURS: OURS}
    return "\n\n".join("\n".join([headings[name], *lines]) for name, lines in groups.items() if lines)


def details(experiment: Experiment, results: Path) -> list[str]:
    """Return the program, the time, the extra and the checkout that an experiment needs, as texts."""
    texts = [f"by `{experiment.program}`"] if experiment.program else []
    path = results / f"{experiment.id}.json"
    seconds = json.loads(path.read_text()).get("seconds") if path.exists() else None
    if seconds is not None:
        texts.append(f"took {duration(seconds)}")
    elif not experiment.program:
        texts.append(f"about {experiment.time}")
    if experiment.extra:
        texts.append(f"extra: {experiment.extra}")
    if experiment.authors:
        texts.append(f"--authors CHECKOUT of {experiment.authors}")
    return texts


def duration(seconds: float) -> str:
    """Return a duration in words: ``40 s``, ``12 min``, ``1.5 h``."""
    if seconds < 100:
        return f"{max(round(seconds), 1)} s"
    if seconds < 100 * 60:
        return f"{round(seconds / 60)} min"
    return f"{seconds / 3600:.1f} h"
