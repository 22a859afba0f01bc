"""The search for Tonic's parameters: its trials, finalists, output and reproducibility."""

from __future__ import annotations

import csv
import json
import sys
from dataclasses import replace

import pytest
from typer.testing import CliRunner
from unplayed_runs import match_result

from gin_env import Rules, agents, play_match
from research.__main__ import app
from research.recipes import tonic

pytestmark = pytest.mark.compiled

NUMBERS = {"increment": 1.5, "decrement": 0.75, "decline": 0.4, "full_turns": 2, "fall": 4, "last": 1}


@pytest.mark.parametrize(
    ("numbers", "thresholds"),
    [((1, 1, 10), (10,)), ((4, 2, 3), (10, 10, 10, 10, 8, 6, 4, 3)), ((2, 5, 0), (10, 10, 5, 0))],
)
def test_thresholds_fall_to_the_last_value(numbers, thresholds):
    assert tonic.falling(*numbers) == thresholds


def test_numbers_are_converted_to_a_bot_name():
    name = tonic.bot_name(NUMBERS)
    assert name == "tonic:increment=1.5,decrement=0.75,decline=0.4,knock_at=10+10+6+2+1"
    assert agents.make(name)._parameters["knock_limits"][1:7].tolist() == [10, 10, 6, 2, 1, 1]


def search(seed: int) -> tonic.TuningResult:
    return tonic.tune_tonic(5, 4, seed, opponents=["simple", "random"], finalists=2, final_games=4)


@pytest.fixture(scope="module")
def result():
    return search(1)


def test_seed_determines_the_whole_search(result):
    again, other = search(1), search(2)
    assert (again.trials, again.finalists, again.verdict) == (result.trials, result.finalists, result.verdict)
    assert [trial.bot for trial in other.trials] != [trial.bot for trial in result.trials]


def test_trials_start_with_the_paper_bot_and_some_stop_early(result):
    assert result.trials[0].bot == "tonic-paper"
    assert len(result.trials) == 5
    games = [trial.decided["simple"] for trial in result.trials]
    assert games[0] == 9 * 4  # the first trial plays every match
    assert {4, 12, 36} >= set(games) != {36}
    for trial in result.trials[1:]:
        for name, (least, most) in tonic.RANGES.items():
            assert least <= trial.numbers[name] <= most


def test_finalists_are_the_best_trials_and_the_paper_bot(result):
    assert "tonic-paper" in [one.bot for one in result.finalists]
    rates = [one.mean_win_rate for one in result.finalists]
    assert rates == sorted(rates, reverse=True)
    assert [one.bot for one in result.verdict] == list(dict.fromkeys(["tonic-paper", result.best]))
    assert (result.head_to_head is None) == (result.best == "tonic-paper")


def test_finalists_and_verdict_are_played_on_decks_of_their_own(monkeypatch):
    """Trials share decks; the later matches are longer and on other decks, also than those of other seeds."""
    played = []

    def play(bot, opponent, games, seed, *, rules):
        played.append((bot, games, seed))
        assert rules == Rules.preset("straight")
        return match_result(
            (bot, "simple"), [(2, 0, 1, 1)] * (len(bot) + len(played) % 5) + [(0, 2, 1, 1)] * 9
        )

    monkeypatch.setattr(tonic, "play_match", play)
    options = {"opponents": ["simple", "random"], "finalists": 2, "rules": Rules.preset("straight")}
    first = tonic.tune_tonic(6, 10, 3, final_games=20, **options)
    decks = {games: {seed for _, length, seed in played if length == games} for games in (10, 20)}
    assert (len(decks[10]), len(decks[20])) == (tonic.MATCHES, 2)
    finals, verdict = ([bot for bot, _, one in played if one == seed] for seed in sorted(decks[20]))
    assert sorted(finals) == sorted(2 * [one.bot for one in first.finalists])
    assert sorted(verdict) == sorted([*2 * [one.bot for one in first.verdict], first.best])
    played.clear()
    tonic.tune_tonic(2, 10, 4, final_games=20, **options)
    assert not {seed for *_, seed in played} & (decks[10] | decks[20])
    assert not decks[10] & decks[20]


def test_head_to_head_is_saved(result, tmp_path):
    match = play_match("tonic", "tonic-paper", 2, 1)
    for played in (match, None):
        replace(result, head_to_head=played).save(tmp_path / "result.json")
        saved = json.loads((tmp_path / "result.json").read_text())["head_to_head"]
        assert saved == (played and json.loads(json.dumps(played.as_dict())))


def test_command_prints_a_verdict_and_writes_its_files(tmp_path):
    table, report, picture = (tmp_path / name for name in ("trials.csv", "tuning.json", "trials.png"))
    arguments = [
        "--trials",
        "3",
        "--games",
        "2",
        "--final-games",
        "2",
        "--finalists",
        "1",
        "--opponent",
        "simple",
    ]
    files = ["--csv", str(table), "--json", str(report), "--plot", str(picture)]
    done = CliRunner().invoke(app, ["tune", "tonic", *arguments, *files])
    assert done.exit_code == 0, done.output
    assert "Verdict, on other decks" in done.output
    rows = list(csv.DictReader(table.read_text().splitlines()))
    assert [row["trial"] for row in rows] == ["0", "1", "2"]
    saved = json.loads(report.read_text())
    assert saved["settings"]["opponents"] == ["simple"]
    assert [trial["bot"] for trial in saved["trials"]] == [row["bot"] for row in rows]
    assert saved["best"] in [one["bot"] for one in saved["finalists"]]
    assert picture.read_bytes().startswith(b"\x89PNG")


def test_missing_optuna_names_the_extra(monkeypatch):
    monkeypatch.setitem(sys.modules, "optuna", None)
    with pytest.raises(ImportError, match=r"gin-env\[tune\]"):
        tonic.tune_tonic(2, 2)


def test_invalid_arguments_raise():
    with pytest.raises(ValueError, match=r"trials must be from .* not 0"):
        tonic.tune_tonic(0)
    with pytest.raises(ValueError, match="even number"):
        tonic.tune_tonic(2, 2, final_games=3, progress=lambda _: pytest.fail("the search has begun"))
    with pytest.raises(ValueError, match="at least one opponent"):
        tonic.tune_tonic(2, 2, opponents=[])
    with pytest.raises(ValueError, match="unknown bot 'nobody'"):
        tonic.tune_tonic(2, 2, opponents=["nobody"])


def test_undecided_games_count_as_half():
    candidate = tonic.Candidate("tonic", {})
    rules = Rules(max_hands=1, max_turns=1, opening_offer=False)
    match = play_match("late-knock", "simple", 4, 1, rules=rules)
    assert sum(match.wins) == 0
    candidate.add("simple", match)
    assert (candidate.win_rate("simple"), candidate.num_matches) == (0.5, 1)
