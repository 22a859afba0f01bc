"""Entries of the leaderboard: what is checked, and the page that is made of them."""

from __future__ import annotations

import json

import numpy as np
import pytest

from gin_env.matches.benchmark import benchmark, checksum_of, entry
from research.commands import leaderboard
from research.commands.leaderboard import ENTRIES, _places, page_table, read_entry, replay_part


@pytest.fixture(scope="module")
def good():
    return entry(benchmark("simple", games=22, seed=3), "simple", "Ada")


def stored(tmp_path, content, **changes):
    """Return the file of an entry with changes and a checksum that fits them."""
    content = json.loads(json.dumps(content | changes))
    path = tmp_path / "entry.json"
    path.write_text(json.dumps(content | {"checksum": checksum_of(content)}))
    return path


def test_entry_is_read_and_its_matches_are_the_same_again(good, tmp_path):
    read = read_entry(stored(tmp_path, good))
    assert read["author"] == "Ada"
    assert replay_part(read, 5) == 5


def test_edited_file_is_refused(good, tmp_path):
    path = stored(tmp_path, good)
    path.write_text(path.read_text().replace('"Ada"', '"Bob"'))
    with pytest.raises(ValueError, match=r"entry\.json: checksum does not match: the file was edited"):
        read_entry(path)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"protocol": "gin-100/9"}, "unknown protocol 'gin-100/9'; choose from gin-100/1"),
        ({"score": 99.0}, "score must be .*, the mean of the win rates, not 99.0"),
        ({"seed": "3"}, "seed must be of type int, not '3'"),
        ({"opponents": []}, "opponents must be those of gin-100/1"),
        ({"rounds": []}, r"opponents\[0\]\.wins must be"),
        ({"rounds": [{"games": 2, "wins": [], "points": []}]}, r"rounds\[0\]\.wins must have 8 entries"),
        ({"rounds": [{"games": 10**9}]}, r"rounds\[0\]\.games must be from 2 to 100000, not 10"),
        ({"author": "[Ada](http://a.org)"}, "author must be plain text of at most 100 characters"),
        ({"agent": "a | b"}, "agent must be plain text"),
    ],
)
def test_inconsistent_entry_is_refused_with_the_field(good, tmp_path, changes, message):
    with pytest.raises(ValueError, match=message):
        read_entry(stored(tmp_path, good, **changes))


def test_missing_field_is_named(good, tmp_path):
    with pytest.raises(ValueError, match="the field 'author' is missing"):
        read_entry(stored(tmp_path, {name: value for name, value in good.items() if name != "author"}))


@pytest.mark.parametrize("field", ["wins", "points"])
def test_forged_rounds_are_found_by_playing_again(good, field):
    forged = json.loads(json.dumps(good))
    for played in forged["rounds"]:
        played[field] = [[won + 1, lost - 1] for won, lost in played[field]]
    with pytest.raises(ValueError, match=rf"rounds\[\d\]\.{field}\[\d\] must be"):
        replay_part(forged, 1)


def test_agent_that_decides_differently_is_refused(good):
    with pytest.raises(ValueError, match="player: simple: different decisions now"):
        replay_part(good | {"player": good["player"] | {"decisions": "0" * 32}}, 1)


def test_stored_entries_are_consistent_and_on_the_page():
    entries = sorted(map(read_entry, ENTRIES.glob("*.json")), key=lambda each: -each["score"])
    assert page_table(entries) in (ENTRIES.parent / "docs" / "leaderboard.md").read_text()


def test_picture_shows_the_interval_of_the_score(monkeypatch, tmp_path):
    drawn = []
    monkeypatch.setattr(leaderboard, "save_figure", lambda figure, *_, **origin: drawn.append(figure))
    one = {"agent": "a", "protocol": "gin-100/1", "microseconds": 20.0, "score": 60.0, "half_width": 1.5}
    leaderboard.draw([one, one | {"agent": "b", "microseconds": 3.0, "score": 50.0}], tmp_path / "a.png")
    _, _, [bars] = drawn[0].axes[0].containers[0]
    ends = [[[20, 58.5], [20, 61.5]], [[3, 48.5], [3, 51.5]]]
    assert np.allclose([line.tolist() for line in bars.get_segments()], ends)


def test_labels_of_the_picture_avoid_moved_labels():
    """The second point moves the first label up, and that label the third."""
    points = np.array([[0, 0], [0.2, -1], [0, 3.5]])
    assert _places(points, [{"agent": "ten_letter"}] * 3) == [(1, 1.8), (1, 0), (1, 1.8)]
