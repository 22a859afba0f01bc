"""The benchmark: score, interval, rating, rounds and refusals."""

from __future__ import annotations

import json
from dataclasses import replace
from time import perf_counter
from types import SimpleNamespace

import numpy as np
import pytest
from typer.testing import CliRunner

import gin_env
from gin_env import agents, play_match
from gin_env.agents.declared_bots import BOTS
from gin_env.cli import app
from gin_env.matches import benchmark as module
from gin_env.matches.benchmark import CURRENT, PROTOCOLS, benchmark, check_unchanged, draw_benchmark, joined
from gin_env.matches.luck import LUCK
from gin_env.matches.match_log import MatchLog
from gin_env.matches.provenance import hash_files

pytestmark = pytest.mark.compiled


@pytest.fixture(scope="module")
def result():
    return benchmark("tonic", games=44, seed=3)


def test_panel_is_unchanged_and_half_of_it_is_held_out():
    opponents = PROTOCOLS[CURRENT]
    for opponent in opponents:
        check_unchanged(opponent, CURRENT)
    held_out = [opponent.bot for opponent in opponents if opponent.held_out]
    assert len(held_out) == 4
    assert set(held_out) == set(BOTS.names(held_out=True))
    with pytest.raises(ValueError, match=r"'simple' decides differently than in gin-100/1: .* not 0+;"):
        check_unchanged(opponents[2]._replace(decisions="0" * 32), CURRENT)


@pytest.mark.long
def test_score_is_the_mean_of_independent_matches(result):
    assert [match.bots for match in result.matches] == [("tonic", each.bot) for each in PROTOCOLS[CURRENT]]
    assert result.score == pytest.approx(100 * np.mean([match.win_rate for match in result.matches]))
    for number, index in ((0, 0), (1, 7), (2, 3)):
        seed, opponent = module.seed_of(3, CURRENT, number, index), PROTOCOLS[CURRENT][index].bot
        again = play_match("tonic", opponent, result.rounds[number]["games"], seed)
        assert result.rounds[number]["wins"][index] == list(again.wins)
    assert [round["games"] for round in result.rounds] == [20, 20, 4]
    assert [match.games for match in result.matches] == [44] * 8
    halves = [(high - low) / 2 for low, high in (match.interval for match in result.matches)]
    assert result.half_width == pytest.approx(100 * np.sqrt(np.square(halves).sum()) / 8)


@pytest.mark.long
def test_stronger_agents_have_higher_scores_and_ratings(result):
    weak, strong = (benchmark(name, games=20, seed=3) for name in ("random", "policy-1"))
    assert weak.score < result.score < strong.score
    assert weak.rating[0] < result.rating[0] < strong.rating[0]
    assert 1500 < result.rating[0] < 1850
    assert 0 < result.rating[1] < 100
    won = [replace(match, wins=(match.games, 0), deals=None) for match in result.matches]
    assert 1900 < replace(result, matches=tuple(won)).rating[0] < 2600, "limited, although all games are won"


def test_rating_of_an_even_score_is_that_of_the_panel():
    assert module._rating(np.full(3, 0.5), np.full(3, 1600.0)) == pytest.approx(1600)
    assert module._rating(np.full(2, 0.7597), np.full(2, 1500.0)) == pytest.approx(1700, abs=1)


@pytest.mark.long
def test_games_end_at_the_precision():
    coarse = benchmark("simple", precision=4, seed=1)
    assert coarse.half_width <= 4
    *before, last = np.cumsum([round["games"] for round in coarse.rounds]).tolist()
    assert before
    assert benchmark("simple", games=before[-1], seed=1).half_width > 4
    assert last < 2.2 * before[-1]


@pytest.mark.long
def test_result_does_not_depend_on_workers_or_interruption(result, tmp_path):
    path = tmp_path / "matches"
    benchmark("tonic", games=20, seed=3, log=MatchLog(path))
    resumed = benchmark("tonic", games=44, log=MatchLog(path, resume=True))
    with gin_env.Workers(2) as workers:
        shared = benchmark("tonic", games=44, seed=3, workers=workers)
    for other in (resumed, shared):
        assert other.seed == 3
        assert other.rounds == result.rounds
        assert other.matches == result.matches


def test_joined_matches_are_sums():
    one, other = (play_match("tonic", "simple", 20, seed) for seed in (1, 2))
    both = joined(one, other)
    assert both.games == 40
    assert both.wins == tuple(np.add(one.wins, other.wins))
    assert both.hands == one.hands + other.hands
    assert len(both.deals) == 20
    assert both.deals["hands"].sum() == both.hands
    assert joined(replace(one, luck=np.zeros(10, LUCK)), other).luck is None


def test_functions_are_rated_like_bots():
    rated = benchmark(lambda observation, mask: mask.argmax(), games=4, seed=1)
    assert rated.agent == "<lambda>"
    assert rated.score < 20
    assert rated.microseconds > 0


def test_place_counts_the_stored_results(result, monkeypatch):
    stored = {"better": {"score": 99.0}, "worse": {"score": 1.0}, "tonic": {"score": 98.0}}
    monkeypatch.setattr(module, "stored_results", lambda _: stored)
    assert result.place() == (2, 3)
    assert "place 2 of 3" in result.headline()
    assert result.rows()[0][-1] == "{:.2f} : {:.2f}".format(*result.matches[0].points_per_hand)
    assert " in 1.5 minutes;" in replace(result, seconds=90.0).about()
    del stored["better"]
    assert result.place() == (1, 2)


def test_entry_holds_each_figure_a_checksum_and_an_author(result):
    described = module.entry(result, "tonic", "Ada")
    assert described["checksum"] == module.checksum_of(described)
    assert (described["rating"], described["rating_error"]) == result.rating
    for name in ("protocol", "agent", "seed", "score", "half_width", "microseconds", "seconds"):
        assert described[name] == getattr(result, name), name
    assert described["player"]["spelled"].startswith("tonic:")
    with pytest.raises(ValueError, match="author must be a name"):
        module.entry(result, "tonic", " ")


def test_picture_is_drawn(result, tmp_path, monkeypatch):
    draw_benchmark(result, tmp_path / "picture.png")
    assert (tmp_path / "picture.png").stat().st_size > 5000
    drawn = []
    monkeypatch.setattr(module, "save_figure", lambda figure, *_, **options: drawn.append(figure.axes[0]))
    draw_benchmark(result, tmp_path / "picture.png")
    ends = [line[:, 0].tolist() for line in drawn[0].containers[0][2][0].get_segments()]
    assert np.allclose(ends, 100 * np.array([match.interval for match in result.matches]))
    assert drawn[0].patches[0].get_width() == pytest.approx(2 * result.half_width)


def test_command_writes_all_outputs(tmp_path):
    files = {ending: tmp_path / f"result.{ending}" for ending in ("json", "md", "png")}
    options = ["--json", files["json"], "--markdown", files["md"], "--plot", files["png"]]
    command = ["benchmark", "simple", "--games", "4", "--seed", "5", *map(str, options)]
    done = CliRunner().invoke(app, command)
    assert done.exit_code == 0, done.output
    stored = json.loads(files["json"].read_text())
    assert f"simple scores {stored['score']:.1f} ± {stored['half_width']:.1f} in gin-100/1" in done.output
    assert stored["protocol"] == "gin-100/1"
    assert len(stored["opponents"]) == 8
    assert files["md"].read_text().count("\n| ") == 9
    assert not list(tmp_path.glob("*.matches"))


def test_command_passes_its_options_on(result, tmp_path, monkeypatch):
    given, path = {}, tmp_path / "entry.json"
    monkeypatch.setattr(module, "benchmark", lambda agent, **options: given.update(options) or result)
    options = f"--precision 2 --minutes 3 --seed 5 --luck --author Ann --submit {path}".split()
    done = CliRunner().invoke(app, ["benchmark", "tonic", *options])
    assert done.exit_code == 0, done.output
    changed = {name: given[name] for name in ("precision", "games", "minutes", "seed", "luck")}
    assert changed == {"precision": 2, "games": None, "minutes": 3, "seed": 5, "luck": True}
    assert json.loads(path.read_text())["author"] == "Ann"
    done = CliRunner().invoke(app, ["benchmark", "tonic", "--json", str(tmp_path / "a.json"), "--resume"])
    assert "nothing to resume" in str(done.exception)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"agent": "smiple"}, "unknown bot 'smiple'"),
        ({"protocol": "gin-100/0"}, "unknown protocol 'gin-100/0'; choose from gin-100/1"),
        ({"precision": 0}, "precision must be from 0.01 to 100"),
        ({"games": 3}, "games must be a positive even number"),
    ],
)
def test_invalid_arguments_are_refused(changes, message):
    settings = {"agent": "simple", "games": 2} | changes
    with pytest.raises(ValueError, match=message):
        benchmark(settings.pop("agent"), **settings)


def test_changed_opponent_is_refused_before_any_game(monkeypatch):
    changed = tuple(each._replace(decisions="0" * 32) for each in PROTOCOLS[CURRENT])
    monkeypatch.setitem(PROTOCOLS, CURRENT, changed)
    monkeypatch.setattr(module, "play_match", None)
    with pytest.raises(ValueError, match="decides differently"):
        benchmark("simple", games=2)


@pytest.mark.parametrize(
    ("played", "precision", "limit", "seconds", "expected"),
    [
        (100, 1.0, 10_000, np.inf, 100),  # 300 are missing, but a round at most doubles the games
        (1000, 1.9, 10_000, np.inf, 114),  # 108 are missing, 5 % more to be sure, and 2
        (100, 1.0, 10_000, 15.0, 50),  # half of the time is left
        (100, 0.0, 130, np.inf, 30),
        (100, 2.0, 10_000, np.inf, 0),
        (100, 1.0, 100, np.inf, 0),
        (100, 1.0, 10_000, 10.0, 0),
        (100, 1.0, 10_000, 10.01, 2),
    ],
)
def test_next_round_has_the_games_that_are_needed(played, precision, limit, seconds, expected):
    so_far = SimpleNamespace(precision=2.0, seconds=10.0)
    assert module._next_games(so_far, played, precision, limit, seconds) == expected


@pytest.mark.parametrize(
    ("microseconds", "given", "expected"),
    [
        (400, None, False),
        (600, None, True),
        (700_001, None, "rollouts"),
        (700_001, False, False),
        (9, True, True),
    ],
)
def test_luck_is_measured_where_it_takes_less_time_than_it_saves(monkeypatch, microseconds, given, expected):
    pytest.importorskip("torch")
    used = []

    def play(*names, luck, **options):
        used.append(luck)
        return play_match(*names, **options)

    monkeypatch.setattr(module, "decision_time", lambda _: float(microseconds))
    monkeypatch.setattr(module, "play_match", play)
    benchmark("simple", games=2, seed=1, luck=given)
    assert set(used) == {expected}


@pytest.mark.long
def test_luck_is_taken_out_of_all_rounds(monkeypatch):
    monkeypatch.setattr(module, "FIRST_GAMES", 2)
    result = benchmark("simple", games=4, seed=1, luck=True)
    score, half = result.without_luck
    assert all(len(match.luck) == len(match.deals) == 2 for match in result.matches)
    assert score == pytest.approx(100 * np.mean([m.win_rate_without_luck().value for m in result.matches]))
    assert result.precision == half != result.half_width
    assert f"{score:.1f} ± {half:.1f} without the luck of the cards" in result.headline()


def test_minutes_end_the_games(monkeypatch):
    now = iter(range(0, 10_000, 25))
    monkeypatch.setattr(
        module, "time", SimpleNamespace(monotonic=lambda: next(now), perf_counter=perf_counter)
    )
    ended = benchmark("simple", minutes=1, seed=1)
    assert [played["games"] for played in ended.rounds] == [20, 20, 8]
    assert ended.seconds == 75


def test_rating_error_is_the_jackknife_over_the_opponents(result):
    rates = np.array([match.win_rate for match in result.matches])
    ratings = np.array([each.rating for each in PROTOCOLS[CURRENT]], float)
    without = [module._rating(np.delete(rates, index), np.delete(ratings, index)) for index in range(8)]
    assert result.rating[0] == pytest.approx(module._rating(rates, ratings))
    assert result.rating[1] == pytest.approx(np.std(without) * np.sqrt(7))


def test_seeds_of_rounds_and_opponents_differ():
    seeds = {module.seed_of(2**64 - 3, CURRENT, number, index) for number in range(5) for index in range(8)}
    assert len(seeds) == 40
    assert all(0 <= seed < 2**64 for seed in seeds)
    assert module.seed_of(7, CURRENT, 0, 0) == 7


def test_log_names_the_files_of_an_agent(tmp_path):
    """A policy that was trained again under the same name must be played again."""
    benchmark("cfr", games=2, seed=1, log=MatchLog(tmp_path / "matches"))
    (used,) = hash_files(agents.make("cfr").files).values()
    assert (tmp_path / "matches").read_text().count(f"cfr {used}") == 8
