"""What the pictures of the results show, compared with the numbers in `tests/data/pictures.txt`.

After a new measurement: ``PYTHONPATH=. python tests/research/test_pictures.py`` writes the file again. Read
the difference.
"""

from __future__ import annotations

import re
import tempfile
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("matplotlib")

from matplotlib.axes import Axes
from matplotlib.collections import LineCollection
from matplotlib.figure import Figure
from matplotlib.patches import StepPatch

from research.reproduce import pages
from research.reproduce.by_id import EXPERIMENTS
from research.reproduce.results import load, stored

ROOT = Path(__file__).parents[2]
FILE = ROOT / "tests" / "data" / "pictures.txt"
RESULTS = ROOT / pages.RESULTS
PICTURES = {picture: one for one in EXPERIMENTS.values() for picture in one.pictures}


def numbers(values: object) -> str:
    """Return the count, first, last and mean of numbers."""
    flat = np.asarray(values, float).ravel()
    return f"{len(flat)}: {flat[0]:.5g} .. {flat[-1]:.5g}, mean {flat.mean():.5g}" if len(flat) else "none"


def described(axes: Axes) -> Iterator[str]:
    """Yield the titles of a panel, and the numbers of its lines, intervals, areas, bars and images."""
    scales = f"{axes.get_xscale()} {axes.get_yscale()}"
    yield f"panel: {axes.get_title()} | {axes.get_xlabel()} | {axes.get_ylabel()} | {scales}"
    for line in axes.lines:
        yield f"line: x {numbers(line.get_xdata())}; y {numbers(line.get_ydata())}"
    for drawn in axes.collections:
        is_lines = isinstance(drawn, LineCollection)
        ends = drawn.get_segments() if is_lines else [path.vertices for path in drawn.get_paths()]
        yield f"{'intervals' if is_lines else 'area'}: " + "; ".join(
            numbers([end[place] for end in ends if len(end)]) for place in (0, -1)
        )
    bars = [(bar.get_x(), bar.get_width(), bar.get_height()) for bar in axes.patches if hasattr(bar, "get_x")]
    if bars:
        yield f"bars {numbers(bars)}"
    for steps in (patch.get_data() for patch in axes.patches if isinstance(patch, StepPatch)):
        yield f"steps {numbers(steps.values)}; edges {numbers(steps.edges)}"
    for image in axes.images:
        yield f"image {numbers(image.get_array())}"
    legend = axes.get_legend()
    ticks = [*axes.get_xticklabels(), *axes.get_yticklabels()]
    for found in (axes.texts, legend.get_texts() if legend else (), ticks):
        words = [text.get_text() for text in found if re.search("[a-z]", text.get_text())]
        if words := [word for word in words if "math" not in word]:
            yield f"words: {' | '.join(words)}"


def drawn(picture: str) -> str:
    """Return a description of the picture drawn from the stored results."""
    one = PICTURES[picture]
    parts = [part for part in one.parts or (one.id,) if part in stored(RESULTS)]
    rows = [row | ({"of": part} if one.parts else {}) for part in parts for row in load(RESULTS, part).rows]
    figures: list[Figure] = []
    with pytest.MonkeyPatch.context() as patch, tempfile.TemporaryDirectory() as folder:
        patch.setattr(Figure, "savefig", lambda self, file, **options: figures.append(self))
        one.pictures[picture](rows, Path(folder) / "picture.png", "origin")
    (figure,) = figures
    return "\n".join(line for axes in figure.axes for line in described(axes)) + "\n"


def in_file() -> dict[str, str]:
    found = FILE.read_text(encoding="utf-8").split("=== ")[1:] if FILE.exists() else []
    return dict(section.split("\n", 1) for section in found)


@pytest.mark.parametrize("picture", PICTURES)
def test_picture_shows_the_stored_numbers(picture):
    assert drawn(picture) == in_file()[picture]


if __name__ == "__main__":
    FILE.write_text("".join(f"=== {picture}\n{drawn(picture)}" for picture in PICTURES), encoding="utf-8")
