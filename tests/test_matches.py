"""Matches, their statistics, and the command line."""

from __future__ import annotations

import json
import subprocess
import sys

import numpy as np
import pytest

import gin_env
from gin_env import IllegalActionError, agents, play_match
from gin_env.play import matches


def gin_rummy(*arguments: str) -> subprocess.CompletedProcess[str]:
    """Run the command line as a user would."""
    return subprocess.run(
        [sys.executable, "-c", "from gin_env.cli import main; main()", *arguments],
        capture_output=True,
        text=True,
    )


def test_simple_against_itself_has_the_reference_statistics():
    """Reference figures from 300,000 games under optimal defence, and 20,000 in the engine tneller/gin-rummy-eaai.

    Tolerances are four standard errors of this sample (about 41,000 hands).
    """
    result = play_match("simple", "simple", 4000, seed=0)
    assert result.hands / result.games == pytest.approx(10.24, abs=0.25)
    assert result.turns / result.hands == pytest.approx(12.52, abs=0.12)
    assert sum(result.gins) / result.hands == pytest.approx(0.0210, abs=0.0035)
    assert sum(result.undercuts) / result.hands == pytest.approx(0.0442, abs=0.0045)
    assert result.voids / result.hands == pytest.approx(0.0017, abs=0.001)
    assert sum(result.points_per_hand) == pytest.approx(2 * 8.16, abs=0.35)
    assert result.win_rate == pytest.approx(0.5, abs=0.032)


@pytest.mark.parametrize(("knock_at", "reference"), [(8, 0.490), (6, 0.519), (4, 0.564), (0, 0.676)])
def test_knock_thresholds_have_the_reference_win_rates(knock_at, reference):
    """Reference figures from 40,000 games each; four standard errors of 6,000 games are 2.6 points."""
    result = play_match(agents.make("simple", knock_at=knock_at), "simple", 6000, seed=1)
    assert result.win_rate == pytest.approx(reference, abs=0.026)


def test_the_result_does_not_depend_on_the_batch_size(monkeypatch):
    whole = play_match("simple", "random", 60, seed=4)
    monkeypatch.setattr(matches, "BATCH_SIZE", 14)
    assert play_match("simple", "random", 60, seed=4) == whole


def test_seeds_reproduce_and_differ():
    assert play_match("simple", "simple", 40, seed=1) == play_match("simple", "simple", 40, seed=1)
    assert play_match("simple", "simple", 40, seed=1) != play_match("simple", "simple", 40, seed=2)


def test_swapping_the_bots_mirrors_the_result_within_the_noise():
    result = play_match("simple", "random", 100, seed=3, episode="hand")
    mirrored = play_match("random", "simple", 100, seed=3, episode="hand")
    assert result.wins[0] > 90
    assert mirrored.wins[1] > 90


def test_both_bots_hold_each_hand_once():
    """Games 2k and 2k + 1 share dealer and deck with the seats swapped."""
    seen: dict[str, list[tuple[int, int]]] = {"a": [], "b": []}

    class Spy:
        def __init__(self, name):
            self.name = name
            self.bot = agents.make("simple")

        def act(self, view):
            public = view.records["public"]
            for index in np.flatnonzero(public["history_length"] < 2):
                draws = view.records["private"]["num_stock_draws"][index]
                if public["phase"][index] != 3 and draws == 0:
                    seen[self.name].append((int(public["dealer"][index]), int(view.hands[index])))
            return self.bot.act(view)

    play_match(Spy("a"), Spy("b"), 40, episode="hand")
    first_of = {name: {hand for _, hand in offers} for name, offers in seen.items()}
    shared = first_of["a"] & first_of["b"]
    assert len(shared) >= 20


def test_wilson_interval_against_known_values():
    """Wilson's interval for 8 of 10: 0.4902 to 0.9433 (e.g. Agresti and Coull, 1998)."""
    counts = {"games": 10, "seed": 0, "episode": "hand", "hands": 10, "voids": 0, "turns": 100}
    pairs = dict.fromkeys(("knocks", "gins", "undercuts", "points"), (0, 0))
    result = gin_env.MatchResult(bots=("a", "b"), wins=(8, 2), **counts, **pairs)
    assert result.win_rate == 0.8
    assert result.interval == pytest.approx((0.4902, 0.9433), abs=1e-4)
    low, high = result.confidence_interval(0.9)
    assert result.interval[0] < low < high < result.interval[1]


def test_own_bots_play_in_matches():
    class FirstLegal:
        name = "first-legal"

        def act(self, view):
            return view.masks().argmax(axis=1)

    result = play_match(FirstLegal(), "simple", 20, episode="hand")
    assert result.bots == ("first-legal", "simple")
    assert result.hands == 20


@pytest.mark.parametrize(
    ("answer", "error"),
    [
        (lambda n: np.full(n, 200), IllegalActionError),
        (lambda n: np.full(n, 0.5), TypeError),
        (lambda n: np.zeros(n + 1, int), ValueError),
    ],
)
def test_bots_that_answer_nonsense_are_named(answer, error):
    class Broken:
        name = "broken"

        def act(self, view):
            return answer(len(view))

    with pytest.raises(error, match="broken"):
        play_match(Broken(), "simple", 2)


def test_bad_arguments():
    with pytest.raises(ValueError, match="even number"):
        play_match("simple", "simple", 3)
    with pytest.raises(ValueError, match="unknown bot 'sample'"):
        play_match("sample", "simple")
    with pytest.raises(TypeError, match="a bot is"):
        play_match(agents.RandomBot, "simple")
    with pytest.raises(ValueError, match="non-negative"):
        play_match("simple", "simple", 2, seed=-1)
    with pytest.raises(TypeError, match="knock_at"):
        agents.make("simple", knock_at=2.5)
    with pytest.raises(TypeError, match="bot 'simple'"):
        agents.make("simple", colour="red")


def test_command_line_match_writes_json(tmp_path):
    path = tmp_path / "result.json"
    done = gin_rummy("match", "simple", "random", "--games", "20", "--seed", "3", "--json", str(path))
    assert done.returncode == 0, done.stderr
    assert "95 % interval" in done.stdout
    saved = json.loads(path.read_text())
    assert saved["wins"] == list(play_match("simple", "random", 20, seed=3).wins)


def test_command_line_mistakes_are_one_clear_line():
    for arguments, message in (
        (("match", "simpel", "random"), "unknown bot 'simpel'; choose from"),
        (("match", "simple", "random", "--games", "7"), "even number"),
        (("match", "simple", "nowhere.zip"), "no trained policy at nowhere.zip"),
    ):
        done = gin_rummy(*arguments)
        assert done.returncode == 2
        assert message in done.stderr
        assert "Traceback" not in done.stderr


def test_command_line_help_has_examples():
    assert "gin-rummy match simple random" in gin_rummy("match", "--help").stdout
    assert "simple" in gin_rummy("bots").stdout
