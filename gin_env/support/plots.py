"""The style of all plots: colours, dashes and a footer. matplotlib is imported on first use.

The colours are those of the palette of Okabe and Ito (Color Universal Design, 2008), which colour-blind
people can distinguish, with magenta for its black. Lines also differ in their dashes. The ground is
transparent, and what matplotlib draws in black is grey, so a picture can be read on light and on dark pages.
"""

from __future__ import annotations

import io
from pathlib import Path
from typing import TYPE_CHECKING, Any

from gin_env.support.atomic import write_bytes
from gin_env.support.version import __version__

if TYPE_CHECKING:
    from matplotlib.cm import ColormapRegistry
    from matplotlib.figure import Figure

BLUE, ORANGE, GREEN, RED = "#0072B2", "#E69F00", "#009E73", "#D55E00"
PURPLE, SKY, MAGENTA, GREY = "#CC79A7", "#56B4E9", "#D818F0", "#767676"
PALETTE = (BLUE, ORANGE, GREEN, RED, PURPLE, SKY, MAGENTA)
DASHES = ("-", "--", "-.", ":", "-", "--", "-.")
"""Dash patterns of successive lines in a plot, by default."""
_FOOT = 0.2
"""Height of the footer in inches."""


def import_matplotlib() -> tuple[type[Figure], ColormapRegistry]:
    """Return the Figure class and the colour maps. Raises ImportError, naming the extra to install."""
    try:
        from matplotlib import colormaps
        from matplotlib.figure import Figure
    except ImportError as error:
        raise ImportError('pictures need matplotlib: pip install "gin-env[plots]"') from error
    return Figure, colormaps


def check_picture(path: str | Path) -> None:
    """Check that a picture can be drawn for this path.

    Raises ImportError as `import_matplotlib` does, or ValueError for an ending that no format has.
    """
    figure = import_matplotlib()[0]()
    ending, known = Path(path).suffix[1:], figure.canvas.get_supported_filetypes()
    if ending and ending.lower() not in known:
        raise ValueError(f"{path}: pictures end in {', '.join(sorted(known))}, not in {ending}")


def new_figure(
    width: float, height: float, rows: int = 1, columns: int = 1, **options: Any
) -> tuple[Figure, Any]:
    """Return a figure of `width` by `height` inches and its axes, an array of shape (rows, columns).

    `options` are passed to `matplotlib.figure.Figure.subplots`. No window is opened, and no global setting is
    changed.
    Raises ImportError as `import_matplotlib` does.
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
    """Return the provenance of a plot's data: ``20,000 games a match, seed 7, gin-env 0.1.0``.

    `sample` describes the sample size. An empty sample and a seed of None are left out.
    """
    parts = [sample, "" if seed is None else f"seed {seed}", f"gin-env {version}"]
    return ", ".join(part for part in parts if part)


def save_figure(figure: Figure, path: str | Path, dpi: int, origin: str = "") -> None:
    """Write a figure in the format given by the path's ending, or as PNG if it has none.

    `origin`, such as an `origin_line`, is written in small print below the axes.

    Raises OSError, or ValueError for a format that matplotlib does not support.
    """
    if origin:
        share = _FOOT / figure.get_figheight()
        layout: Any = figure.get_layout_engine()
        layout.set(rect=(0, share, 1, 1 - share))
        figure.text(0.995, share / 2, origin, ha="right", va="center", fontsize=7, color=GREY)
    _replace_black(figure)
    picture = io.BytesIO()
    figure.savefig(picture, dpi=dpi, format=Path(path).suffix[1:] or "png", transparent=True)
    write_bytes(path, picture.getvalue())


def _replace_black(figure: Figure) -> None:
    """Draw in grey what has matplotlib's default, the colour "black"; "#000000" stays."""
    from matplotlib.legend import Legend
    from matplotlib.lines import Line2D
    from matplotlib.text import Text

    artists: list[Any] = [*figure.findobj(Line2D), *figure.findobj(Text)]
    for artist in artists:
        if artist.get_color() == "black":
            artist.set_color(GREY)
    for legend in figure.findobj(Legend):
        legend.get_frame().set_alpha(0)
    for axes in figure.axes:
        axes.tick_params(which="both", color=GREY, labelcolor=GREY)
        axes.spines[:].set_color(GREY)
