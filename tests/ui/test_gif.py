"""Animations of a hand: `gin_env.ui.animation` and ``gin-rummy gif``."""

from __future__ import annotations

import numpy as np
import pytest
from hands_in_words import started
from typer.testing import CliRunner

from gin_env import agents, play_match, records
from gin_env.agents.turns import play_bot
from gin_env.cli import app

Image = pytest.importorskip("PIL.Image", reason='pictures need Pillow: pip install "gin-env[play]"')

from gin_env.ui import animation, picture  # noqa: E402


def test_pictures_show_the_seeded_hand_with_named_seats():
    bots = [agents.make("tonic"), agents.make("simple")]
    games = started(1, seed=13)
    for shown in animation.hand_pictures("tonic", "simple", 13, width=240):
        expected = picture.image(games.state[0], names=("tonic", "simple"), width=240)
        np.testing.assert_array_equal(shown, expected)
        if not games.done[0]:
            play_bot(games, bots[games.to_move()[0]], games.everyone)
    assert games.done[0]


def test_hand_of_a_record_is_drawn(tmp_path):
    file, record = tmp_path / "hand.gif", tmp_path / "games.jsonl"
    play_match("simple", "tonic", 2, seed=3, record=record)
    options = ["--record", str(record), "--hand", "2", "--width", "240"]
    done = CliRunner().invoke(app, ["gif", str(file), *options])
    game = records.read_one(record, 1)
    assert done.output.startswith(f"{len(game.hands[1].actions)} actions, ")
    with Image.open(file) as gif:
        assert gif.n_frames == len(game.hands[1].actions) + 1
    for wrong, message in (
        (["a", "b", str(file), *options], "--record needs FILE alone"),
        ([str(file)], "two bots and a file: A B FILE"),
        ([str(file), *options[:3], "99"], "hand 99 does not exist"),
        ([str(file), *options, "--seed", "3"], "omit --seed"),
    ):
        assert message in str(CliRunner().invoke(app, ["gif", *wrong]).exception)


def test_self_play_numbers_the_bots(monkeypatch):
    names = []
    monkeypatch.setattr(picture, "image", lambda game, names_=None, **given: names.append(given["names"]))
    next(animation.hand_pictures("simple", "simple", 1))
    assert names == [("simple 1", "simple 2")]


def test_gif_has_every_picture_and_holds_the_last(tmp_path):
    pictures = list(animation.hand_pictures("simple", "tonic", 3, width=240))
    animation.write_gif(pictures, tmp_path / "a.gif", seconds=0.5)
    animation.write_gif(pictures, tmp_path / "b.gif", seconds=0.5)
    assert (tmp_path / "a.gif").read_bytes() == (tmp_path / "b.gif").read_bytes()
    with Image.open(tmp_path / "a.gif") as gif:
        assert gif.n_frames == len(pictures)
        assert gif.info["loop"] == 0
        times = []
        for number, expected in enumerate(pictures):
            gif.seek(number)
            times.append(gif.info["duration"])
            difference = np.abs(np.asarray(gif.convert("RGB"), np.int64) - expected)
            assert difference.mean() < 4  # 256 colours for each picture
    assert times == [500] * (len(pictures) - 1) + [5000]


def test_last_picture_of_a_slow_gif_is_not_shorter(tmp_path):
    pictures = [np.full((4, 6, 3), shade, np.uint8) for shade in (0, 100, 200)]
    animation.write_gif(pictures, tmp_path / "slow.gif", seconds=10)
    with Image.open(tmp_path / "slow.gif") as gif:
        gif.seek(gif.n_frames - 1)
        assert gif.info["duration"] == 10_000


def test_command_writes_the_gif_and_prints_the_number_of_actions(tmp_path):
    file = tmp_path / "hand.gif"
    done = CliRunner().invoke(app, ["gif", "tonic", "simple", str(file), "--seed", "13", "--width", "240"])
    assert done.exit_code == 0, done.output
    with Image.open(file) as gif:
        assert gif.size == (240, 160)
        assert done.stdout.startswith(f"{gif.n_frames - 1} actions, ")


@pytest.mark.parametrize(
    ("path", "seconds", "message"),
    [
        ("hand.png", 1.0, "end in .gif"),
        ("hand.gif", 0.0, "from 0.02 to 60"),
        ("hand.gif", float("nan"), "from 0.02 to 60"),
    ],
)
def test_invalid_output_is_refused_before_drawing(path, seconds, message):
    with pytest.raises(ValueError, match=message):
        animation.check_gif(path, seconds)
    with pytest.raises(ValueError, match=message):
        animation.write_gif([np.zeros((4, 6, 3), np.uint8)], path, seconds)


def test_gif_without_pictures_is_refused(tmp_path):
    with pytest.raises(ValueError, match="at least one picture"):
        animation.write_gif([], tmp_path / "hand.gif")
    assert not any(tmp_path.iterdir())
