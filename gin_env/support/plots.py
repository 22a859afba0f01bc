"""matplotlib, imported where something is drawn."""

from __future__ import annotations


def import_matplotlib():
    """(the Figure class, the colour maps). Raises ImportError that names the extra."""
    try:
        from matplotlib import colormaps
        from matplotlib.figure import Figure
    except ImportError as error:
        raise ImportError('pictures need matplotlib: pip install "gin-env[plots]"') from error
    return Figure, colormaps
