"""Output of the benchmark as text, JSON and chart: ratios first, then every figure."""

from __future__ import annotations

import os
import platform
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from peer_environments import PEERS
from workloads import WORKLOADS

from gin_env.support import files, plots
from gin_env.support.plots import BLUE, GREEN, GREY, ORANGE, PURPLE, SKY, new_figure, origin_line
from gin_env.support.version import __version__

OURS = "gin-env"
LABELS = {
    **{name: workload.label for name, workload in WORKLOADS.items()},
    "training": "MaskablePPO training",
    "training_free": "MaskablePPO training, environment that costs nothing",
    "memory": "memory of one game",
    "first": "first use, warm cache",
    "cold": "first use",
    "scaling": "scaling: threads with random play in one kernel, processes with simple against simple",
    "leduc_holdem_1024": "another game: Leduc hold'em, 1,024 games",
    "leduc_holdem_16384": "another game: Leduc hold'em, 16,384 games",
    "kuhn_poker_1024": "another game: Kuhn poker, 1,024 games",
    "kuhn_poker_16384": "another game: Kuhn poker, 16,384 games",
}
"""Label of each workload."""

NOT_THE_SAME = {
    ("simple", "rlcard"): "its novice player, who draws at random",
    ("training", "pettingzoo"): "one game in the tutorial's wrapper",
    ("first", "openspiel"): "its first hand, ours is a batch's first step",
    ("first", "openspiel_cpp"): "its first hand in a compiled program, ours is a batch's first step",
    ("first", "rlcard"): "its first hand, ours is a batch's first step",
    ("first", "pettingzoo"): "its first hand, ours is a batch's first step",
    ("first", "pgx"): "first 50 steps of Leduc, compiled",
}
"""Work measured instead, for libraries without an equal workload."""

QUIET = 0.5
"""Load average up to which a machine counts as quiet."""

SMALL_IS_GOOD = ("memory", "first", "cold")

Figures = dict[str, dict[str, float]]
"""library -> figure (``"play decisions/s"``) -> median"""


def ratios(figures: Figures) -> Iterator[tuple[str, str, float]]:
    """Return (figure, library, ratio in our favour) for each figure that both have."""
    ours = figures.get(OURS, {})
    for figure, value in ours.items():
        for library, theirs in figures.items():
            if library != OURS and theirs.get(figure):
                better = (
                    theirs[figure] / value if figure.split()[0] in SMALL_IS_GOOD else value / theirs[figure]
                )
                yield figure, library, better


def share_of_free_training(figures: Figures) -> float | None:
    """Return our training's speed as a share of that on an environment that costs nothing."""
    ours = figures.get(OURS, {})
    if "training steps/s" not in ours or "training_free steps/s" not in ours:
        return None
    return ours["training steps/s"] / ours["training_free steps/s"]


def label(figure: str) -> str:
    """Return a figure such as ``"play decisions/s"`` in words."""
    name, unit = figure.split(" ", 1)
    return f"{LABELS.get(name, name)} [{unit}]"


def remark(figure: str, library: str) -> str:
    """Return a note in brackets on a library's figure, if there is one."""
    instead = NOT_THE_SAME.get((figure.split()[0], library))
    return f" ({instead})" if instead else ""


def shown(value: float) -> str:
    """Return a number with about four significant digits."""
    return f"{value:,.0f}" if abs(value) >= 1000 else f"{value:,.4g}"


def text(result: dict[str, Any]) -> str:
    """Return the complete result as text for a terminal."""
    figures = result["figures"]
    lines = []
    if (result["machine"]["load"] or 0) > QUIET:
        lines.append(
            f"The machine was busy (load {result['machine']['load']:.1f}): these figures are too low.\n"
        )
    compared = [
        f"  {label(figure):68} {shown(better):>9} x {PEERS[library].title}{remark(figure, library)}"
        for figure, library, better in ratios(figures)
    ]
    lines += ["Speed-up of gin-env at the same work (for memory: reduction):"]
    lines += compared or ["  (nothing to compare with was measured)"]
    share = share_of_free_training(figures)
    if share is not None:
        lines.append(
            f"  SB3 training at {100 * share:.1f} % of the speed of an environment that costs nothing"
        )
    for library, mine in figures.items():
        spread = result["spread"][library]
        lines += ["", PEERS[library].title if library in PEERS else library]
        lines += [
            f"  {label(figure):68} {shown(value):>14}   ± {100 * spread[figure]:.0f} %"
            for figure, value in mine.items()
        ]
    if result["skipped"]:
        lines += ["", "Skipped:", *(f"  {what}: {why}" for what, why in result["skipped"].items())]
    return "\n".join(lines)


def spread(values: list[float]) -> float:
    """Return half the distance between the extremes, as a share of their mean."""
    low, high = min(values), max(values)
    return (high - low) / (high + low) if high + low else 0.0


def machine() -> dict[str, Any]:
    """Return a description of the machine and its load at the start."""
    model = platform.processor() or platform.machine()
    information = Path("/proc/cpuinfo")
    if information.exists():
        names = [line for line in information.read_text().splitlines() if line.startswith("model name")]
        model = names[0].split(":", 1)[1].strip() if names else model
    return {
        "processor": model,
        "cores": os.cpu_count(),
        "system": platform.platform(),
        "load": os.getloadavg()[0] if hasattr(os, "getloadavg") else None,
    }


def write_json(result: dict[str, Any], path: Path) -> None:
    """Write the complete result as JSON, including ratios."""
    files.write_json(path, result)


CHART = (
    ("play", "decisions/s"),
    ("play_mask", "decisions/s"),
    ("play_observation", "decisions/s"),
    ("deadwood", "hands/s"),
    ("simple", "hands/s"),
    ("aec", "steps/s"),
    ("aec_raw", "steps/s"),
    ("single", "steps/s"),
    ("vector_1024", "steps/s"),
    ("training", "steps/s"),
)
"""The figures of the picture, from top to bottom."""


def draw(result: dict[str, Any], path: Path) -> None:
    """Draw a bar chart, logarithmic: a group of bars for each kind of work, a bar for each library."""
    figures = result["figures"]
    settings = result["settings"]
    runs = (
        f"medians of {settings['repeats']} runs of {settings['seconds']} s, {result['machine']['processor']}"
    )
    origin = origin_line(runs, version=result["versions"].get(OURS, {}).get("gin-env", __version__))
    groups = [
        (work, unit) for work, unit in CHART if any(f"{work} {unit}" in mine for mine in figures.values())
    ]
    colours = dict(zip((OURS, *PEERS), (GREEN, SKY, BLUE, ORANGE, PURPLE, GREY), strict=True))
    picture, [[axes]] = new_figure(9, 1.4 + 0.62 * max(len(groups), 1))
    named = set()
    for place, (work, unit) in enumerate(groups):
        having = [library for library in figures if f"{work} {unit}" in figures[library]]
        height = 0.8 / len(having)
        for index, library in enumerate(having):
            value = figures[library][f"{work} {unit}"]
            title = PEERS[library].title if library in PEERS else library
            axes.barh(
                place + (index - (len(having) - 1) / 2) * height,
                value,
                0.92 * height,
                color=colours[library],
                label=None if library in named else title,
            )
            named.add(library)
            axes.annotate(
                f" {value:,.0f}",
                (value, place + (index - (len(having) - 1) / 2) * height),
                va="center",
                fontsize=8,
            )
    axes.set_yticks(range(len(groups)), [f"{LABELS[work]}\n[{unit}]" for work, unit in groups], fontsize=8)
    axes.invert_yaxis()
    axes.set_xscale("log")
    axes.margins(x=0.15)
    axes.set_xlabel("per second on one core (logarithmic)")
    axes.grid(visible=False, axis="y")
    if named:
        axes.legend(loc="lower right", fontsize=8)
    plots.save_figure(picture, path, dpi=150, origin=origin)
