"""The look of the plots: `gin_env.support.plots`."""

from __future__ import annotations

import pytest
from typer.testing import CliRunner

from gin_env.cli import app
from gin_env.support import plots

pytest.importorskip("matplotlib", reason='pip install "gin-env[plots]"')


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
