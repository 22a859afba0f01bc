"""Tournament output: tables, CSV, JSON, picture, ratings and log, from made-up results that all differ."""

from __future__ import annotations

import csv
import json
import math
from dataclasses import replace

import numpy as np
import pytest
from made_up_matches import made_up_match

from gin_env import MatchResult, Rules
from gin_env.matches import match_log, matches, tournaments
from gin_env.matches.tournaments import Rating, TournamentResult, draw_heat_map

BOTS = ("ann", "bob", "cyd")


def match(a: int, b: int, wins: tuple[int, int], unit: int) -> MatchResult:
    return made_up_match(
        bots=(BOTS[a], BOTS[b]),
        games=100,
        seed=7,
        wins=wins,
        hands=200,
        gins=(unit + 2, unit + 3),
        undercuts=(unit + 4, unit + 5),
        voids=unit + 6,
        points=(100 * unit, 100 * unit + 550),
    )


@pytest.fixture(scope="module")
def result() -> TournamentResult:
    """Cyd is strongest, then Ann, then Bob: neither the order of entry nor its reverse."""
    matches = (match(0, 1, (60, 20), 10), match(0, 2, (30, 70), 20), match(1, 2, (9, 81), 30))
    strengths = (Rating(1510.0, 11.0), Rating(1320.0, 12.0), Rating(1740.0, 13.0))
    return TournamentResult(BOTS, matches, strengths, 100, 7, 0.9)


WIN_RATES = {"ann": {"bob": 75, "cyd": 30}, "bob": {"ann": 25, "cyd": 10}, "cyd": {"ann": 70, "bob": 90}}
ORDER = ["cyd", "ann", "bob"]


def test_csv_columns_equal_the_match_fields(result, tmp_path):
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


def test_json_equals_the_properties(result, tmp_path):
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


def test_table_shows_each_figure_with_its_bot(result):
    lines = str(result).splitlines()
    assert lines[0].startswith("100 games a pair, seed 7.")
    standings, matrix = lines[3:6], lines[8:11]
    # Points per hand of the bot and of its opponents, both averaged over the opponents.
    for line, place, bot, rating, rate, points in zip(
        standings,
        (1, 2, 3),
        ORDER,
        ("1740", "1510", "1320"),
        ("80.00", "52.50", "17.50"),
        ("15.25 : 12.50", "7.50 : 10.25", "11.38 : 11.38"),
        strict=True,
    ):
        assert line.split(None, 2)[:2] == [str(place), bot]
        assert f"{rating}   {rate} %  " in line
        assert line.endswith(f" {points}")
    for line, bot in zip(matrix, ORDER, strict=True):
        rates = [float(cell.split("±")[0]) for cell in line.split()[2:]]
        assert rates == [WIN_RATES[bot][other] for other in ORDER if other != bot]
    low, high = result.matches[0].confidence_interval(0.9)
    assert f" 75.00±{50 * (high - low):.1f}" in matrix[1]


def test_standings_use_ratings_or_mean_win_rates(result):
    other = (Rating(1.0, 1.0), Rating(3.0, 1.0), Rating(2.0, 1.0))
    assert [BOTS[bot] for bot in result.standings()] == ORDER
    same = {"bots": BOTS, "matches": result.matches, "games": 100, "seed": 7, "confidence": 0.9}
    assert TournamentResult(**same, ratings=other).standings() == [1, 2, 0]
    assert TournamentResult(**same, ratings=None).standings() == [2, 0, 1]


def test_picture_shows_each_number_in_its_cell(result, tmp_path, monkeypatch):
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
    for text in axes.texts:
        column, row = (round(place) for place in text.get_position())
        strong = abs(WIN_RATES[ORDER[row]][ORDER[column]] - 50) > 17
        assert text.get_color() == ("#ffffff" if strong else "#000000")
        above = not text.get_text().startswith("±")
        assert text.get_position() == (column, row + (-0.08 if above else 0.25))
    assert axes.images[0].get_clim() == (20, 80)
    assert axes.get_xlabel() == "100 games a pair, ± half the 90 % interval; ratings next to the names"
    assert [label.get_rotation() for label in axes.get_xticklabels()] == [45] * 3
    image = axes.images[0].get_array()
    assert [
        [round(float(image[row, column])) for column in range(3) if column != row] for row in range(3)
    ] == [[WIN_RATES[bot][other] for other in ORDER if other != bot] for bot in ORDER]


def test_every_pair_plays_once_and_is_rated(monkeypatch):
    played, rated = [], []

    def play(a, b, games, seed, *, episode, rules, progress, record, workers):
        assert record is None
        assert workers.here
        played.append((a.name, b.name, games, seed, episode, rules, progress))
        return replace(match(0, 1, (60 + len(played), 20), 10), bots=(a.name, b.name))

    def rate(count, wins, seed):
        rated.append((count, wins, seed))
        return [Rating(1500.0, 1.0)] * count

    monkeypatch.setattr(tournaments, "play_match", play)
    monkeypatch.setattr(tournaments, "rate", rate)
    entrants, rules, progress = ("random", "simple", "medium"), Rules(gin_bonus=30), [].append
    found = tournaments.play_tournament(
        entrants, 100, 7, episode="hand", rules=rules, confidence=0.9, progress=progress
    )
    pairs = [("random", "simple"), ("random", "medium"), ("simple", "medium")]
    assert played == [(*pair, 100, 7, "hand", rules, progress) for pair in pairs]
    assert rated == [(3, [(0, 1, 61, 20), (0, 2, 62, 20), (1, 2, 63, 20)], 7)]
    assert (found.bots, found.games, found.seed, found.confidence) == (entrants, 100, 7, 0.9)
    assert [one.bots for one in found.matches] == pairs
    assert found.match("medium", "random") is found.matches[1]
    with pytest.raises(ValueError, match="no match between 'simple' and 'nobody'"):
        found.match("simple", "nobody")
    for bad, message in (
        ({"confidence": 1.0}, "confidence"),
        ({"bots": ["simple"]}, "at least two bots"),
        ({"bots": ["simple", "random", "simple"]}, "'simple' occurs twice"),
        ({"seed": -1}, "seed"),
        ({"games": 3}, "even number"),
    ):
        with pytest.raises(ValueError, match=message):
            tournaments.play_tournament(**{"bots": entrants} | bad)
    secret = {tournaments.play_tournament(entrants[:2], 100).seed for _ in range(3)}
    assert len(secret) == 3
    assert len(played) == 6


# --- Ratings --------------------------------------------------------------------------------------------


def test_ratings_use_the_elo_scale():
    """Three wins in four are 400 log10(3) = 190.8 points; the error is that of a share of n games."""
    first, second = tournaments.rate(2, [(0, 1, 3000, 1000)], 1)
    assert first.value - second.value == pytest.approx(400 * math.log10(3), abs=4)
    assert first.value + second.value == pytest.approx(3000)
    information = 4000 * 0.75 * 0.25 * (math.log(10) / 400) ** 2
    assert first.deviation == pytest.approx(information**-0.5, rel=0.05)
    best, middle, worst = tournaments.rate(3, [(2, 1, 300, 100), (1, 0, 300, 100), (2, 0, 360, 40)], 1)[::-1]
    assert best.value > middle.value + 100 > worst.value + 200
    assert best.value + middle.value + worst.value == pytest.approx(4500)


def test_seed_determines_the_rating_order():
    wins = [(0, 1, 30, 10), (1, 2, 5, 15)]
    assert tournaments.rate(3, wins, 3) == tournaments.rate(3, wins, 3) != tournaments.rate(3, wins, 4)


# --- Matches kept in a file -----------------------------------------------------------------------------


@pytest.fixture
def played(monkeypatch) -> list[tuple]:
    """The matches played, with results whose wins identify the match."""
    calls: list[tuple] = []

    def play(*arguments, **settings):
        calls.append((*arguments, settings.get("episode", "game"), settings.get("rules")))
        deals = np.zeros(50, matches.DEAL_RESULT)
        deals["wins"][: len(calls), 0], deals["hands"] = 1, 4
        return replace(match(0, 1, (len(calls), 20), 10), seed=arguments[3], deals=deals)

    monkeypatch.setattr(match_log, "play_match", play)
    return calls


def test_logged_match_is_not_played_again(played, tmp_path):
    log = match_log.MatchLog(tmp_path / "log")
    assert (len(log), log.seed, log.path.exists()) == (0, None, False)
    variants = [
        (("a", "b"), 4, 1, {}),
        (("a", "c"), 4, 1, {}),
        (("a", "b"), 6, 1, {}),
        (("a", "b"), 4, 2, {}),
        (("a", "b"), 4, 1, {"episode": "hand"}),
        (("a", "b"), 4, 1, {"rules": Rules(gin_bonus=30)}),
    ]
    done: list[int] = []

    def played_by(log: match_log.MatchLog) -> list[MatchResult]:
        return [
            log.play(names, names, *rest, **more, progress=done.append) for names, *rest, more in variants
        ]

    first = played_by(log)
    assert len(played) == len(log) == 6
    assert done == []
    assert log.seed == 1
    again = match_log.MatchLog(log.path, resume=True)
    assert len(again) == 6
    assert played_by(again) == first
    assert again.play(("a", "b"), ("a", "b"), 4, 1, rules=Rules()) == first[0], "the rules by default"
    assert len(played) == 6
    assert done == [4, 4, 6, 4, 4, 4], "progress counts their games immediately"
    again.play(("b", "a"), ("b", "a"), 4, 1)
    assert len(match_log.MatchLog(log.path, resume=True)) == len(log.path.read_text().splitlines()) - 1 == 7


def test_each_match_is_on_disk_before_the_next(played, tmp_path):
    log = match_log.MatchLog(tmp_path / "log")
    for number in range(1, 4):
        log.play(("a", "b"), ("a", "b"), 4, number)
        lines = log.path.read_text().splitlines()
        assert [json.loads(line)["match"]["seed"] for line in lines[1:]] == list(range(1, number + 1))
    whole = log.path.read_text()
    for cut in (1, 30):
        log.path.write_text(whole[:-cut])
        resumed = match_log.MatchLog(log.path, resume=True)
        assert (len(resumed), log.path.read_text()) == (2, "\n".join(whole.splitlines()[:-1]) + "\n")
    log.path.write_text(whole)
    assert len(match_log.MatchLog(log.path, resume=True)) == 3
    assert log.path.read_text() == whole


def test_tournament_log_keeps_the_random_seed(played, monkeypatch, tmp_path):
    monkeypatch.setattr(tournaments, "rate", lambda count, *_: [Rating(1500.0, 1.0)] * count)
    bots = ("random", "simple", "medium")
    whole = tournaments.play_tournament(bots, 100, log=match_log.MatchLog(tmp_path / "log"))
    resumed = match_log.MatchLog(tmp_path / "log", resume=True)
    again = tournaments.play_tournament(bots, 100, episode="game", log=resumed)
    assert (again, len(played)) == (whole, 3)
    assert [call[2:] for call in played] == [(100, whole.seed, "game", None)] * 3
    tournaments.play_tournament(bots, 100, 5, episode="hand", rules=Rules(gin_bonus=30), log=resumed)
    assert [call[2:] for call in played[3:]] == [(100, 5, "hand", Rules(gin_bonus=30))] * 3
