"""Tournaments, ratings and bot names with parameters."""

from __future__ import annotations

import csv
import json
import re
import sys
from pathlib import Path

import gymnasium
import numpy as np
import pytest
from test_matches import gin_rummy

from gin_env import agents, estimators, play_match
from gin_env.agents.simple import SimpleBot
from gin_env.matches.differences import win_rate_difference
from gin_env.matches.ratings import rate
from gin_env.matches.tournaments import CSV_COLUMNS, draw_heat_map, play_tournament
from gin_env.support import specs

pytestmark = pytest.mark.compiled

ROOT = Path(__file__).parents[2]
BOTS = ("simple", "random", "simple:knock_at=4")


@pytest.fixture(scope="module")
def tournament():
    return play_tournament(BOTS, 60, seed=3)


# --- Names with parameters ----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "name", "params"),
    [
        ("simple", "simple", {}),
        ("simple:knock_at=4", "simple", {"knock_at": 4}),
        ("simple:knock_at=variable", "simple", {"knock_at": "variable"}),
        ("tonic: increment = 2.5 , break_pairs=True", "tonic", {"increment": 2.5, "break_pairs": True}),
        ("tonic:keep_pairs_below=21+12+0", "tonic", {"keep_pairs_below": (21, 12, 0)}),
        (
            "bot:factors=meld+,none=+,rate=1e+3,low=-1",
            "bot",
            {"factors": ("meld",), "none": (), "rate": 1000.0, "low": -1},
        ),
        ("runs/a.zip", "runs/a.zip", {}),
        ("C:\\runs\\a.zip", "C:\\runs\\a.zip", {}),
        ("C:\\runs\\a.zip:deterministic=false", "C:\\runs\\a.zip", {"deterministic": False}),
    ],
)
def test_names_with_parameters_are_read(text, name, params):
    assert specs.parse(text) == (name, params)


@pytest.mark.parametrize("value", [4, 2.5, True, "variable", None, (21, 12), (1,), (), -3])
def test_parameter_values_round_trip(value):
    assert specs.parse_value(specs.format_value(value)) == value


@pytest.mark.parametrize(
    ("text", "error", "message"),
    [
        ("simple:", ValueError, r"bot 'simple:': '' is not a parameter; write simple:key=value"),
        ("simple:4", ValueError, "'4' is not a parameter"),
        ("simple:knock_at=", ValueError, "'knock_at=' is not a parameter"),
        ("simple:knock_at=4,", ValueError, "'' is not a parameter"),
        ("simple:knock_at=4,knock_at=6", ValueError, "'knock_at' is given twice"),
        ("simple:knock=4", TypeError, "bot 'simple': unknown parameter 'knock'; choose from knock_at"),
        ("random:knock_at=4", TypeError, "bot 'random': unknown parameter 'knock_at'; it has none"),
        ("simple:knock_at=soon", TypeError, "bot 'simple': knock_at must be an integer, 'variable'"),
        ("simple:knock_at=-4", ValueError, "knock_at must be from 0 to 100, not -4"),
        ("smiple:knock_at=4", ValueError, "unknown bot 'smiple'; choose from"),
        ("gone.zip:deterministic=false", FileNotFoundError, "no trained policy at gone.zip"),
        ("gone.zip:colour=red", TypeError, "unknown parameter 'colour'; choose from deterministic"),
    ],
)
def test_invalid_names_have_clear_errors(text, error, message):
    with pytest.raises(error, match=re.escape(message)):
        agents.resolve(text)


def test_repeated_parameter_raises():
    with pytest.raises(ValueError, match="'knock_at' is given twice"):
        agents.make("simple:knock_at=4", knock_at=6)
    with pytest.raises(TypeError, match="a bot's name must be a string"):
        agents.make(4)


def test_results_name_the_parameters():
    assert agents.make("simple:knock_at=4").name == "simple:knock_at=4"
    assert agents.make("tonic:break_pairs=true,held=0.9").name == "tonic:break_pairs=true,held=0.9"
    assert agents.make("tonic", keep_pairs_below=[21, 0]).name == "tonic:keep_pairs_below=21+0"
    assert agents.make("tonic").name == "tonic"


@pytest.mark.parametrize("name", agents.names())
def test_bot_name_makes_the_same_bot(name):
    defaults = agents.parameters(name)
    given = ",".join(f"{key}={specs.format_value(value)}" for key, value in (defaults or {}).items())
    for text in (name, f"{name}:{given}") if given else (name,):
        assert agents.make(agents.make(text).name).name == agents.make(text).name == text


@pytest.mark.parametrize("name", estimators.names())
def test_estimator_name_makes_the_same_estimator(name):
    first = next(iter(estimators.parameters(name).items()), None)
    for text in (name, f"{name}:{first[0]}={specs.format_value(first[1])}") if first else (name,):
        assert estimators.make(estimators.make(text).name).name == estimators.make(text).name == text


@pytest.mark.parametrize("knock_at", [0, 10, 4, "variable", (10, 7, 2)])
def test_simple_object_has_a_reproducible_name(knock_at):
    bot = SimpleBot(knock_at)
    again = agents.make(bot.name)
    assert again.name == bot.name
    assert np.array_equal(again.knock_limits, bot.knock_limits)


@pytest.mark.parametrize("name", agents.names(slow=False))
def test_default_parameters_can_be_written_in_the_name(name):
    defaults = agents.parameters(name)
    if not defaults:
        return
    text = ",".join(f"{key}={specs.format_value(value)}" for key, value in defaults.items())
    spelled_out = play_match(f"{name}:{text}", "simple", 4, seed=5)
    assert spelled_out.points == play_match(name, "simple", 4, seed=5).points


def test_bot_parameters_work_in_every_interface():
    by_object = play_match(agents.make("simple", knock_at=0), "simple", 20, seed=1)
    assert play_match("simple:knock_at=0", "simple", 20, seed=1) == by_object
    assert by_object.knocks[0] == by_object.gins[0]
    env = gymnasium.make("gin_env/GinRummy-v0", opponent="simple:knock_at=0")
    assert env.unwrapped.seat._bots[0].name == "simple:knock_at=0"
    with pytest.raises(TypeError, match="unknown parameter 'knock'"):
        gymnasium.make("gin_env/GinRummy-v0", opponent=["random", "simple:knock=0"])


# --- Tournaments --------------------------------------------------------------------------------------


def test_each_pair_plays_one_match(tournament):
    assert tournament.bots == BOTS
    assert [match.bots for match in tournament.matches] == [
        (BOTS[0], BOTS[1]),
        (BOTS[0], BOTS[2]),
        (BOTS[1], BOTS[2]),
    ]
    assert tournament.matches[1] == play_match("simple", agents.make("simple", knock_at=4), 60, seed=3)
    assert tournament.match("random", "simple") is tournament.matches[0]
    with pytest.raises(ValueError, match="no match between"):
        tournament.match("simple", "tonic")


def test_pair_result_is_independent_of_other_bots(tournament):
    alone = play_tournament(BOTS[1:], 60, seed=3)
    assert alone.matches == tournament.matches[2:]


def test_slow_bots_play_fewer_games_than_the_others(tournament):
    mixed = play_tournament(BOTS, 60, seed=3, fewer={"random": 4, "simple": 90})
    assert [match.games for match in mixed.matches] == [4, 60, 4]
    assert mixed.matches[1] == tournament.matches[1]
    assert (mixed.size, tournament.size) == ("4 to 60 games a pair", "60 games a pair")
    assert str(mixed).startswith("4 to 60 games a pair, seed 3.")
    with pytest.raises(ValueError, match="unknown bot 'tonic' in fewer; the bots are simple, random"):
        play_tournament(BOTS, 60, seed=3, fewer={"tonic": 4})


def test_seeds_reproduce_and_differ(tournament):
    assert play_tournament(BOTS, 60, seed=3) == tournament
    assert play_tournament(BOTS, 60, seed=4).matches != tournament.matches


def test_matrices_agree_with_the_matches(tournament):
    rates = tournament.win_rates
    assert np.isnan(rates.diagonal()).all()
    others = ~np.eye(3, dtype=bool)
    np.testing.assert_allclose((rates + rates.T)[others], 1)
    lows, highs = tournament.intervals
    np.testing.assert_allclose((lows + highs.T)[others], 1)
    assert ((lows <= rates) & (rates <= highs))[others].all()
    match = tournament.match("simple", "simple:knock_at=4")
    assert rates[0, 2] == match.win_rate
    assert (lows[0, 2], highs[0, 2]) == match.interval
    assert tuple(tournament.points_per_hand[[0, 2], [2, 0]]) == match.points_per_hand
    assert tournament.mean_win_rates[1] == pytest.approx(np.nanmean(rates[1]))


def test_two_bots_compared_against_a_third(tournament):
    first = play_match(BOTS[0], BOTS[1], 60, seed=3)
    second = play_match(BOTS[2], BOTS[1], 60, seed=3)
    expected = win_rate_difference(first, second)
    found = tournament.difference(BOTS[0], BOTS[2], BOTS[1])
    assert (found.value, found.bots) == (pytest.approx(expected.value, abs=0.1), expected.bots)
    match = tournament.match(BOTS[1], BOTS[2])
    assert found.value == pytest.approx(first.win_rate - (1 - match.win_rate))
    assert found.interval == win_rate_difference(first, match.swapped()).interval


def test_confidence_applies_to_every_interval(tournament):
    narrow = play_tournament(BOTS, 60, seed=3, confidence=0.5)
    assert narrow.matches == tournament.matches
    assert narrow.intervals[0][0, 2] == narrow.matches[1].confidence_interval(0.5)[0]
    assert narrow.intervals[0][0, 2] > tournament.intervals[0][0, 2]
    assert "50 % Wilson interval" in str(narrow)
    assert "(50 % interval" in narrow.matches[1].summary(0.5)


def test_standings_list_every_figure_strongest_first(tournament):
    assert tournament.standings()[-1] == 1  # random
    lines = str(tournament).splitlines()
    for line in (lines[3], lines[8]):
        assert BOTS[tournament.standings()[0]] in line
    assert f"{100 * tournament.win_rates[0, 2]:.2f}±" in str(tournament)


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        ((["simple"],), ValueError, "at least two bots"),
        ((["simple", "random", "simple"],), ValueError, "'simple' occurs twice"),
        ((["simple", "nobody"],), ValueError, "unknown bot 'nobody'"),
        ((["simple", "random"], 3), ValueError, "even number"),
        ((["simple", "random"], 2, -1), ValueError, "non-negative"),
    ],
)
def test_invalid_tournaments_have_clear_errors(arguments, error, message):
    with pytest.raises(error, match=message):
        play_tournament(*arguments)


def test_odd_numbers_of_games_fail_before_the_first_match():
    played = []
    with pytest.raises(ValueError, match="even number"):
        play_tournament(["simple", "random", "medium"], 4, fewer={"medium": 3}, progress=played.append)
    assert not played


@pytest.mark.parametrize("confidence", [0, 1, 95, -0.5, float("nan")])
def test_confidence_outside_0_to_1_raises(confidence):
    with pytest.raises(ValueError, match="between 0 and 1"):
        play_tournament(BOTS, 2, confidence=confidence)


def test_bot_objects_play_in_tournaments():
    class FirstLegal:
        name = "first-legal"

        def act(self, view):
            return view.masks().argmax(axis=1)

    assert play_tournament([FirstLegal(), "random"], 2).bots == ("first-legal", "random")


# --- Ratings ------------------------------------------------------------------------------------------


def test_two_ratings_differ_as_elo_predicts():
    """76 % is 200 points, 50 % none; the deviation is 400 / ln 10 / sqrt(n p q)."""
    first, second = rate(2, [(0, 1, 7597, 2403)])
    assert first.value - second.value == pytest.approx(200, abs=12)
    assert first.value + second.value == pytest.approx(3000)
    assert first.deviation == pytest.approx(400 / np.log(10) / np.sqrt(10_000 * 0.76 * 0.24), rel=0.05)
    first, second = rate(2, [(0, 1, 500, 500)])
    assert first.value - second.value == pytest.approx(0, abs=20)


def test_ratings_hardly_depend_on_the_order_of_the_games():
    wins = [(0, 1, 600, 400), (0, 2, 800, 200), (1, 2, 700, 300)]
    shuffled = np.array([[rating.value for rating in rate(3, wins, seed)] for seed in range(4)])
    assert shuffled.std(axis=0).max() < 8
    assert (np.diff(shuffled) < -50).all()
    assert rate(3, wins, 1) == rate(3, wins, 1)


def test_missing_openskill_omits_only_the_ratings(monkeypatch, tmp_path):
    monkeypatch.setitem(sys.modules, "openskill.models", None)
    with pytest.raises(ImportError, match=r"gin-env\[plots\]"):
        rate(2, [(0, 1, 1, 0)])
    result = play_tournament(["random", "simple"], 2)
    assert result.ratings is None
    assert result.standings() == [1, 0]
    assert "install openskill" in str(result)
    assert result.as_dict()["ratings"] is None
    draw_heat_map(result, tmp_path / "table.png")


# --- Files --------------------------------------------------------------------------------------------


def test_command_line_writes_json_csv_and_a_picture(tmp_path, tournament):
    files = [tmp_path / name for name in ("table.json", "table.csv", "table.png")]
    options = [
        text
        for option, file in zip(("json", "csv", "plot"), files, strict=True)
        for text in (f"--{option}", file)
    ]
    done = gin_rummy("tournament", *BOTS, "--games", "60", "--seed", "3", *map(str, options))
    assert done.returncode == 0, done.stderr
    assert str(tournament) in done.stdout
    saved = json.loads(files[0].read_text())
    assert saved == json.loads(json.dumps(tournament.as_dict()))
    assert saved["win_rates"][0][0] is None
    rows = list(csv.DictReader(files[1].read_text().splitlines()))
    assert tuple(rows[0]) == CSV_COLUMNS
    assert [(row["a"], row["b"]) for row in rows] == [match.bots for match in tournament.matches]
    assert float(rows[1]["win_rate"]) == tournament.matches[1].win_rate
    assert files[2].read_bytes().startswith(b"\x89PNG")


def test_command_line_errors_are_one_line(tmp_path):
    nowhere, same = str(tmp_path / "nowhere" / "table.csv"), str(tmp_path / "x")
    for arguments, message in (
        (("tournament", "simple"), "at least two bots"),
        (("tournament", "simple", "simple:knock=4"), "unknown parameter 'knock'; choose from knock_at"),
        (("tournament", "--csv", nowhere), "there is no folder"),
        (
            ("tournament", "--csv", same, "--json", f"{tmp_path}/./x"),
            "is named for two outputs",
        ),
        (("match", "simple", "random", "--confidence", "95"), "between 0 and 1"),
    ):
        done = gin_rummy(*arguments)
        assert done.returncode == 2
        assert message in done.stderr
        assert "Traceback" not in done.stderr


def test_match_takes_parameters_and_a_confidence(tmp_path):
    path = tmp_path / "result.json"
    done = gin_rummy(
        "match", "simple:knock_at=4", "simple", "--games", "20", "--confidence", "0.9", "--json", str(path)
    )
    assert done.returncode == 0, done.stderr
    assert re.search(r"simple(:knock_at=4)? won [\d.]+ % of 20 decided games against simple", done.stdout)
    assert "(90 % interval" in done.stdout
    saved = json.loads(path.read_text())
    again = play_match("simple:knock_at=4", "simple", 20, seed=saved["seed"])
    assert saved["interval"] == list(again.confidence_interval(0.9))
    assert "knock_at=10" in gin_rummy("bots", "simple").stdout
