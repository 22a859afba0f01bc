"""The leaderboard: sorting, figures of each bot, missing measurements and the command."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from typer.testing import CliRunner

from gin_env.matches.matches import MatchResult
from research.__main__ import app
from research.questions import bots
from research.reproduce import pages, results
from research.reproduce.by_id import EXPERIMENTS, find
from research.reproduce.results import load, measure
from research.reproduce.tables import cell_text

ROOT = Path(__file__).parents[2]
PARTS = find("leaderboard").parts
RESULTS = ROOT / pages.RESULTS


def match(a: str, b: str, wins: int, low: float, high: float) -> dict:
    """Return the row of a match of 200 games with `wins` of bot a and the interval `low` to `high`."""
    none = (0, 0)
    played = MatchResult((a, b), 200, 0, "game", (wins, 200 - wins), 200, none, none, none, 0, none, 0)
    return played.as_dict() | {"interval": [low, high]}


def tournament() -> list[dict]:
    """Return a tournament of `utility`, `simple` and `policy` as rows."""
    rated = {"entrants": ["utility", "simple", "policy"], "ratings": [1520.4, 1390.0, 1589.6]}
    rated["deviations"] = [2.1, 2.0, 3.0]
    matches = (
        match("utility", "simple", 160, 0.74, 0.85),
        match("utility", "policy", 80, 0.34, 0.46),
        match("simple", "policy", 60, 0.24, 0.37),
    )
    return [row | rated for row in matches]


SPEEDS = [
    {"bot": "simple", "median": 13e6, "slowest": None, "fastest": None},
    {"bot": "policy", "median": 70e3, "slowest": None, "fastest": None},
]


def exploited(bot: str, won: float, start: str = "random") -> dict:
    return {"bot": bot, "start": start, "games": 10_000, "won": won, "low": won - 1, "high": won + 1}


EXPLOITS = [exploited("simple", 80.0), exploited("policy", 40.0), exploited("policy", 60.0, "own")]
PARTS_ROWS = {
    "tournament": tournament(),
    "bot-speed": SPEEDS,
    "exploit": EXPLOITS,
    "exploit-search": [exploited("simple", 70.0)],
}


def rows_of(parts: dict[str, list[dict]]) -> list[dict]:
    """Return the rows of all results, each with its experiment, as the page passes them."""
    return [row | {"of": part} for part, rows in parts.items() for row in rows]


def lines(rows: list[dict]) -> list[str]:
    return find("leaderboard").table(rows).splitlines()[2:]


# --- Table ----------------------------------------------------------------------------------------------


def test_table_is_sorted_by_games_won_with_each_bots_figures():
    assert lines(rows_of(PARTS_ROWS)) == [
        "| `policy` |  | 65.0 | 70.0 (63.0 to 76.0) | 14 | 40.0 (39.0 to 41.0) |  |",
        "| `utility` | yes | 60.0 | 80.0 (74.0 to 85.0) |  |  |  |",
        "| `simple` |  | 25.0 |  | 0.077 | 80.0 (79.0 to 81.0) | 70.0 (69.0 to 71.0) |",
    ]


def test_unmeasured_cells_are_empty():
    assert lines(rows_of({"tournament": tournament()})) == [
        "| `policy` |  | 65.0 | 70.0 (63.0 to 76.0) |  |  |  |",
        "| `utility` | yes | 60.0 | 80.0 (74.0 to 85.0) |  |  |  |",
        "| `simple` |  | 25.0 |  |  |  |  |",
    ]


@pytest.mark.parametrize(
    ("a_second", "text"), [(48e6, "0.021"), (150e3, "6.7"), (70e3, "14"), (200.0, "5,000")]
)
def test_time_has_two_digits_or_whole_microseconds(a_second, text):
    assert cell_text("{time:short}", [{"time": 1e6 / a_second}]) == text


def test_share_is_shown_in_per_cent_with_its_interval():
    row = {"won": 0.125, "won_low": 0.1, "won_high": 0.15, "changed": 0.5}
    assert cell_text("{won:percent ~.1f}", [row]) == "12.5 (10.0 to 15.0)"
    assert cell_text("{changed:percent .0f}", [row]) == "50"


def test_rating_errors_are_stored_with_the_result():
    ratings = bots.tournament_of(tournament()).ratings
    assert [rating.deviation for rating in ratings] == [2.1, 2.0, 3.0]


# --- Page -----------------------------------------------------------------------------------------------


def store(folder: Path, name: str, rows: list[dict], **fields: object) -> None:
    replace(
        load(RESULTS, "bot-speed"), id=name, command=f"python -m research run {name}", rows=rows, **fields
    ).save(folder)


def page(folder: Path) -> str:
    return pages.rewritten("<!-- result leaderboard -->\n<!-- end -->\n", folder, EXPERIMENTS)


def test_page_lists_sources_and_missing_parts(tmp_path):
    store(tmp_path, "bot-speed", SPEEDS)
    assert "\nNot measured yet: `python -m research run leaderboard`.\n" in page(tmp_path)
    store(tmp_path, "tournament", tournament(), games=2000)
    made = page(tmp_path).splitlines()
    assert made[-6:-2] == [
        "[`python -m research run tournament`](data/tournament.md), 2,000 games per match, seed 0  ",
        "[`python -m research run bot-speed`](data/bot-speed.md), seed 0  ",
        "Not measured yet: `python -m research run exploit`.  ",
        "Not measured yet: `python -m research run exploit-search`.",
    ]
    assert "| `policy` |  | 65.0 | 70.0 (63.0 to 76.0) | 14 |  |  |" in made
    store(tmp_path, "exploit", EXPLOITS)
    store(tmp_path, "exploit-search", EXPLOITS[:1])
    assert "Not measured yet" not in page(tmp_path)


def test_variants_have_no_row():
    renamed = [
        row
        | {"bots": ["tonic-paper" if bot == "utility" else bot for bot in row["bots"]]}
        | {"entrants": ["tonic-paper", "simple", "policy"]}
        for row in tournament()
    ]
    assert [line[:10] for line in lines(rows_of({"tournament": renamed}))] == ["| `policy`", "| `simple`"]


def test_every_part_can_be_measured():
    assert all(find(part).measure for part in PARTS)


# --- Command --------------------------------------------------------------------------------------------


def test_one_command_measures_all_parts(tmp_path, monkeypatch):
    measured = []

    def instead(experiment, run):
        measured.append(experiment.id)
        return replace(load(RESULTS, "bot-speed"), id=experiment.id, rows=PARTS_ROWS[experiment.id])

    monkeypatch.setattr(results, "measure", instead)
    folders = ["--out", str(tmp_path / "results"), "--work", str(tmp_path / "work")]
    done = CliRunner().invoke(app, ["run", "leaderboard", *folders])
    assert done.exit_code == 0, done.output + repr(done.exception)
    assert measured == list(PARTS) == list(PARTS_ROWS)
    assert results.stored(tmp_path / "results") == sorted(PARTS)


def test_leaderboard_itself_cannot_be_measured():
    with pytest.raises(
        ValueError, match="leaderboard is made of other results: measure tournament, bot-speed"
    ):
        measure(find("leaderboard"), None)
