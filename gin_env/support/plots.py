"""The look of all plots: matplotlib imported where something is drawn, colours, and a line at the foot.

The colours are Okabe and Ito's (Color Universal Design, 2008), which people who do not see red or green tell
apart too; lines differ in their dashes as well.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from gin_env.support.version import __version__

if TYPE_CHECKING:
    from matplotlib.cm import ColormapRegistry
    from matplotlib.figure import Figure

BLUE, ORANGE, GREEN, RED = "#0072B2", "#E69F00", "#009E73", "#D55E00"
PURPLE, SKY, BLACK, GREY = "#CC79A7", "#56B4E9", "#000000", "#767676"
PALETTE = (BLUE, ORANGE, GREEN, RED, PURPLE, SKY, BLACK)
DASHES = ("-", "--", "-.", ":", "-", "--", "-.")
"""What lines that are not told otherwise take in turn."""
_FOOT = 0.2
"""Height of the line at the foot, in inches."""


def import_matplotlib() -> tuple[type[Figure], ColormapRegistry]:
    """(the Figure class, the colour maps). Raises ImportError that names the extra."""
    try:
        from matplotlib import colormaps
        from matplotlib.figure import Figure
    except ImportError as error:
        raise ImportError('pictures need matplotlib: pip install "gin-env[plots]"') from error
    return Figure, colormaps


def new_figure(
    width: float, height: float, rows: int = 1, columns: int = 1, **options: Any
) -> tuple[Figure, Any]:
    """(A figure so many inches large, its axes as an array (rows, columns)).

    `options` as for `matplotlib.figure.Figure.subplots`. No window and no global setting is touched. Raises
    ImportError as `import_matplotlib` does.
    """
    figure = import_matplotlib()[0](figsize=(width, height), layout="constrained")
    panels = figure.subplots(rows, columns, squeeze=False, **options)
    for axes in panels.flat:
        axes.set_prop_cycle(color=PALETTE, linestyle=DASHES)
        axes.grid(alpha=0.3)
        axes.set_axisbelow(True)
        axes.spines[["top", "right"]].set_visible(False)
    return figure, panels


def origin_line(sample: str, seed: int | None = None, version: str = __version__) -> str:
    """``20,000 games a match, seed 7, gin-env 0.1.0``: where the figures of a plot come from.

    `sample` says how much was measured; it and the seed are left out where there is none (`""`, None).
    """
    parts = [sample, "" if seed is None else f"seed {seed}", f"gin-env {version}"]
    return ", ".join(part for part in parts if part)


def sign_figure(figure: Figure, text: str) -> None:
    """Write a small line, such as `origin_line`, at the foot of a figure of `new_figure`, below all else."""
    share = _FOOT / figure.get_figheight()
    layout: Any = figure.get_layout_engine()
    layout.set(rect=(0, share, 1, 1 - share))
    figure.text(0.995, share / 2, text, ha="right", va="center", fontsize=7, color=GREY)
