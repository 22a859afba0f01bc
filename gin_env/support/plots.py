"""matplotlib, imported where something is drawn."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from matplotlib.cm import ColormapRegistry
    from matplotlib.figure import Figure


def import_matplotlib() -> tuple[type[Figure], ColormapRegistry]:
    """(the Figure class, the colour maps). Raises ImportError that names the extra."""
    try:
        from matplotlib import colormaps
        from matplotlib.figure import Figure
    except ImportError as error:
        raise ImportError('pictures need matplotlib: pip install "gin-env[plots]"') from error
    return Figure, colormaps
