"""The look of the plots: `gin_env.support.plots`."""

from __future__ import annotations

import numpy as np
import pytest
from typer.testing import CliRunner

from gin_env.cli import app
from gin_env.support import plots

colors = pytest.importorskip("matplotlib.colors", reason='pip install "gin-env[plots]"')

# Machado, Oliveira and Fernandes (2009), severity 1: linear RGB as seen by people without red or
# green cones.
BLINDNESS = {
    "protanopia": [
        [0.152286, 1.052583, -0.204868],
        [0.114503, 0.786281, 0.099216],
        [-0.003882, -0.048116, 1.051998],
    ],
    "deuteranopia": [
        [0.367322, 0.860646, -0.227968],
        [0.280085, 0.672501, 0.047413],
        [-0.011820, 0.042940, 0.968881],
    ],
}


def lab(colour: str, matrix: list[list[float]]) -> np.ndarray:
    """Return the CIE L*a*b* (D65) coordinates of a colour transformed by the matrix."""
    rgb = np.array(colors.to_rgb(colour))
    linear = np.where(rgb <= 0.04045, rgb / 12.92, ((rgb + 0.055) / 1.055) ** 2.4)
    seen = np.clip(np.array(matrix) @ linear, 0, 1)
    to_xyz = np.array([[0.4124, 0.3576, 0.1805], [0.2126, 0.7152, 0.0722], [0.0193, 0.1192, 0.9505]])
    x, y, z = np.cbrt(np.maximum(to_xyz @ seen / [0.9505, 1, 1.089], 0.008856))
    return np.array([116 * y - 16, 500 * (x - y), 200 * (y - z)])


def nearest(colours: tuple[str, ...], matrix: list[list[float]]) -> float:
    seen = [lab(colour, matrix) for colour in colours]
    return min(float(np.linalg.norm(one - other)) for place, one in enumerate(seen) for other in seen[:place])


@pytest.mark.parametrize("kind", BLINDNESS)
def test_line_colours_differ_for_colour_blind_readers(kind):
    assert nearest(plots.PALETTE, BLINDNESS[kind]) > 15
    own = ("tab:blue", "tab:orange", "tab:green", "tab:red", "tab:purple", "tab:brown", "black")
    assert nearest(own, BLINDNESS[kind]) < 8  # matplotlib's default colours fail


def test_lines_take_colours_and_dashes_in_turn():
    figure, [[axes]] = plots.new_figure(4, 3)
    lines = [axes.plot([0, 1], [0, height])[0] for height in range(len(plots.PALETTE))]
    assert [line.get_color() for line in lines] == list(plots.PALETTE)
    assert [line.get_linestyle() for line in lines] == list(plots.DASHES)
    assert figure.get_size_inches().tolist() == [4, 3]


def test_panels_are_rows_and_columns():
    figure, panels = plots.new_figure(4, 3, 2, 3, sharey=True)
    assert panels.shape == (2, 3)
    assert len(figure.axes) == 6


def test_footer_is_below_everything_else(tmp_path):
    figure, [[axes]] = plots.new_figure(6, 4)
    axes.plot([0, 1], label="a line")
    axes.set_xlabel("a label")
    axes.legend(loc="upper center", bbox_to_anchor=(0.5, -0.12))
    plots.save_figure(figure, tmp_path / "a.png", 50, "20,000 games a match, seed 7, gin-env 0.1.0")
    figure.draw_without_rendering()
    (foot,) = figure.texts
    assert foot.get_text() == "20,000 games a match, seed 7, gin-env 0.1.0"
    box = foot.get_window_extent()
    assert box.y0 >= 0
    assert box.x1 <= figure.bbox.x1
    assert box.y1 <= axes.get_tightbbox().y0


@pytest.mark.parametrize(
    ("given", "line"),
    [
        (("20,000 games a match", 7, "0.2.0"), "20,000 games a match, seed 7, gin-env 0.2.0"),
        (("300 hands", 0, "0.2.0"), "300 hands, seed 0, gin-env 0.2.0"),
        (("", None, "0.2.0"), "gin-env 0.2.0"),
    ],
)
def test_footer_shows_games_seed_and_release(given, line):
    assert plots.origin_line(*given) == line


def test_unknown_ending_is_refused_before_the_matches(tmp_path):
    plot = ["--plot", str(tmp_path / "table.xyz")]
    done = CliRunner().invoke(app, ["tournament", "simple", "random", "--games", "2", *plot])
    assert isinstance(done.exception, ValueError)
    assert "pictures end in" in str(done.exception)
    plots.check_picture(tmp_path / "table.PNG")
    assert not list(tmp_path.iterdir())
