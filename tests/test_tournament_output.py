"""Tables, CSV, JSON and the picture of a made-up tournament, no two figures of which are alike."""

from __future__ import annotations

import csv
import json

import pytest

from gin_env import MatchResult
from gin_env.play import tournaments
from gin_env.play.ratings import Rating
from gin_env.play.tournaments import TournamentResult, draw_heat_map

BOTS = ("ann", "bob", "cyd")


def match(a: int, b: int, wins: tuple[int, int], unit: int) -> MatchResult:
    return MatchResult(
        bots=(BOTS[a], BOTS[b]), games=100, seed=7, episode="hand", wins=wins, hands=200,
        knocks=(unit, unit + 1), gins=(unit + 2, unit + 3), undercuts=(unit + 4, unit + 5), voids=unit + 6,
        points=(100 * unit, 100 * unit + 550), turns=2000,
    )  # fmt: skip


@pytest.fixture(scope="module")
def result() -> TournamentResult:
    """Cyd is the strongest, then Ann, then Bob: another order than that of entry, and than its reverse."""
    matches = (match(0, 1, (60, 20), 10), match(0, 2, (30, 70), 20), match(1, 2, (9, 81), 30))
    ratings = (Rating(1510.0, 11.0), Rating(1320.0, 12.0), Rating(1740.0, 13.0))
    return TournamentResult(BOTS, matches, ratings, 100, 7, 0.9)


WIN_RATES = {"ann": {"bob": 75, "cyd": 30}, "bob": {"ann": 25, "cyd": 10}, "cyd": {"ann": 70, "bob": 90}}
ORDER = ["cyd", "ann", "bob"]


def test_every_column_of_the_csv_is_the_matchs(result, tmp_path):
    result.save_csv(tmp_path / "x.csv")
    with (tmp_path / "x.csv").open() as file:
        rows = list(csv.DictReader(file))
    assert len(rows) == 3
    for row, played in zip(rows, result.matches, strict=True):
        low, high = played.confidence_interval(0.9)
        expected = {
            "a": played.bots[0], "b": played.bots[1], "games": 100, "seed": 7, "wins_a": played.wins[0],
            "wins_b": played.wins[1], "win_rate": played.wins[0] / sum(played.wins), "low": low, "high": high,
            "confidence": 0.9, "hands": 200, "points_per_hand_a": played.points[0] / 200,
            "points_per_hand_b": played.points[1] / 200, "gins_a": played.gins[0], "gins_b": played.gins[1],
            "undercuts_a": played.undercuts[0], "undercuts_b": played.undercuts[1], "voids": played.voids,
        }  # fmt: skip
        assert row == {name: str(value) for name, value in expected.items()}


def test_the_json_is_what_the_properties_say(result, tmp_path):
    result.save(tmp_path / "x.json")
    saved = json.loads((tmp_path / "x.json").read_text())
    assert saved["bots"] == list(BOTS)
    assert (saved["games"], saved["seed"], saved["confidence"]) == (100, 7, 0.9)
    for row, a in enumerate(BOTS):
        for column, b in enumerate(BOTS):
            rate = WIN_RATES[a].get(b)
            assert saved["win_rates"][row][column] == (None if rate is None else pytest.approx(rate / 100))
    low, high = result.matches[1].confidence_interval(0.9)
    assert (saved["interval_lows"][0][2], saved["interval_highs"][0][2]) == (low, high)
    assert (saved["interval_lows"][2][0], saved["interval_highs"][2][0]) == (1 - high, 1 - low)
    assert saved["points_per_hand"] == [[None, 5, 10], [7.75, None, 15], [12.75, 17.75, None]]
    assert saved["mean_win_rates"] == pytest.approx([0.525, 0.175, 0.8])
    assert [rating["value"] for rating in saved["ratings"]] == [1510, 1320, 1740]
    assert [one["wins"] for one in saved["matches"]] == [[60, 20], [30, 70], [9, 81]]


def test_the_table_shows_each_figure_beside_its_bot_the_strongest_first(result):
    lines = str(result).splitlines()
    assert lines[0].startswith("100 games for each pair, seed 7.")
    standings, matrix = lines[3:6], lines[8:11]
    # Points per hand: the bot's own, then its opponents', both as means over the opponents.
    for line, place, bot, rating, rate, points in zip(
        standings, (1, 2, 3), ORDER, ("1740 ±13", "1510 ±11", "1320 ±12"), ("80.00", "52.50", "17.50"),
        ("15.25 : 12.50", "7.50 : 10.25", "11.38 : 11.38"), strict=True,
    ):  # fmt: skip
        assert line.split(None, 2)[:2] == [str(place), bot]
        assert f"{rating}   {rate:>5} %   " in line
        assert line.endswith(f" {points}")
    for line, bot in zip(matrix, ORDER, strict=True):
        rates = [float(cell.split("±")[0]) for cell in line.split()[2:]]
        assert rates == [WIN_RATES[bot][other] for other in ORDER if other != bot]
    low, high = result.matches[0].confidence_interval(0.9)
    assert f" 75.00±{50 * (high - low):.1f}" in matrix[1]


def test_standings_go_by_rating_and_without_ratings_by_mean_win_rate(result):
    other = (Rating(1.0, 1.0), Rating(3.0, 1.0), Rating(2.0, 1.0))
    assert [BOTS[bot] for bot in result.standings()] == ORDER
    same = {"bots": BOTS, "matches": result.matches, "games": 100, "seed": 7, "confidence": 0.9}
    assert TournamentResult(**same, ratings=other).standings() == [1, 2, 0]
    assert TournamentResult(**same, ratings=None).standings() == [2, 0, 1]


def test_the_picture_has_each_number_in_its_row_and_column(result, tmp_path, monkeypatch):
    drawn = []
    figure_class, color_map = tournaments.import_matplotlib()

    class Remembered(figure_class):
        def __init__(self, *arguments, **settings):
            super().__init__(*arguments, **settings)
            drawn.append(self)

    monkeypatch.setattr(tournaments, "import_matplotlib", lambda: (Remembered, color_map))
    draw_heat_map(result, tmp_path / "x.png")
    axes = drawn[0].axes[0]
    assert [label.get_text() for label in axes.get_xticklabels()] == ORDER
    assert [label.get_text() for label in axes.get_yticklabels()] == ["cyd  1740", "ann  1510", "bob  1320"]
    written = {}
    for text in axes.texts:
        column, row = (round(place) for place in text.get_position())
        written.setdefault((ORDER[row], ORDER[column]), []).append(text.get_text())
    widths = {}
    for one in result.matches:
        low, high = one.confidence_interval(0.9)
        widths[one.bots] = widths[one.bots[::-1]] = f"±{50 * (high - low):.1f}"
    assert written == {
        (a, b): [f"{rate:.1f}", widths[a, b]] for a, row in WIN_RATES.items() for b, rate in row.items()
    }
    image = axes.images[0].get_array()
    assert [
        [round(float(image[row, column])) for column in range(3) if column != row] for row in range(3)
    ] == [[WIN_RATES[bot][other] for other in ORDER if other != bot] for bot in ORDER]
