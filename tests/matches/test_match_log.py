"""Match logs: interrupted tournaments and searches resume with the same result."""

from __future__ import annotations

import json

import pytest
from typer.testing import CliRunner

from gin_env import cli, play_match
from gin_env.matches import match_log
from gin_env.matches.luck import ROLLED
from gin_env.matches.match_log import MatchLog
from gin_env.matches.tournaments import play_tournament

pytestmark = pytest.mark.compiled

BOTS = ("simple", "random", "simple:knock_at=4")
TOURNAMENT = ["tournament", *BOTS, "--games", "4", "--hands", "--seed", "5"]


def stop_after(monkeypatch, matches: int) -> list[int]:
    """Interrupt after a number of matches; the list records the matches played."""
    played: list[int] = []
    play_match = match_log.play_match

    def play(*args, **kwargs):
        if len(played) == matches:
            raise KeyboardInterrupt
        played.append(1)
        return play_match(*args, **kwargs)

    monkeypatch.setattr(match_log, "play_match", play)
    return played


@pytest.mark.parametrize("stops", [(1,), (0, 1, 1)])
def test_resumed_tournament_gives_the_same_result(tmp_path, monkeypatch, stops):
    path = tmp_path / "log"
    whole = play_tournament(BOTS, 4, seed=3)
    for stop in stops:
        with monkeypatch.context() as patch:
            stop_after(patch, stop)
            with pytest.raises(KeyboardInterrupt):
                play_tournament(BOTS, 4, seed=3, log=MatchLog(path, resume=path.exists()))
    with monkeypatch.context() as patch:
        played = stop_after(patch, 99)
        assert play_tournament(BOTS, 4, seed=3, log=MatchLog(path, resume=True)) == whole
        assert len(played) == 3 - sum(stops)


def test_resumed_tournament_plays_again_if_a_policy_has_changed(tmp_path, monkeypatch):
    torch = pytest.importorskip("torch")
    from gin_env.agents.policies.candidate_network import CandidateScorer, save_candidate_policy

    path, log = tmp_path / "mine.safetensors", tmp_path / "log"
    for seed, matches in ((1, 3), (2, 2)):
        torch.manual_seed(seed)
        save_candidate_policy(path, CandidateScorer(4))
        with monkeypatch.context() as patch:
            played = stop_after(patch, 99)
            play_tournament(
                ("simple", "random", str(path)), 2, 3, episode="hand", log=MatchLog(log, resume=log.exists())
            )
        assert len(played) == matches


@pytest.mark.long
def test_match_without_luck_is_played_again_when_luck_is_wanted(tmp_path):
    pytest.importorskip("torch")
    bots, log = ("simple", "random-discard"), MatchLog(tmp_path / "log")
    assert log.play(bots, bots, 4, 1).luck is None
    again = log.play(bots, bots, 4, 1, luck=True)
    assert again.luck is not None
    assert MatchLog(tmp_path / "log", resume=True).play(bots, bots, 4, 1, luck=True) == again
    assert len(log) == 2
    assert log.luck is None  # that of the first match
    rolled = MatchLog(tmp_path / "other")
    assert rolled.play(bots, bots, 2, 1, luck="rollouts").luck["points"][:, ROLLED].any()
    assert rolled.luck == "rollouts"


@pytest.mark.parametrize("change", [{"games": 2}, {"seed": 2}, {"rules": "straight"}, {"episode": "hand"}])
def test_match_of_other_settings_is_another(tmp_path, change):
    log, usual = MatchLog(tmp_path / "log"), {"games": 4, "seed": 1}
    matches = [log.play(BOTS[:2], BOTS[:2], **settings) for settings in (usual, usual | change, usual)]
    assert matches[0] == matches[2] != matches[1]


def test_files_of_other_kinds_raise(tmp_path):
    path = tmp_path / "log"
    with pytest.raises(FileNotFoundError, match="nothing to resume"):
        MatchLog(path, resume=True)
    for text in ("{}\n", "", "no json\n"):
        path.write_text(text)
        with pytest.raises(ValueError, match="continue it with --resume, or delete it"):
            MatchLog(path)
        with pytest.raises(ValueError, match="is damaged or not a file of matches"):
            MatchLog(path, resume=True)
    match = play_match("random", "random", 2, seed=1).as_dict()
    lines = {"matches_of_release": "0.1.0"}, {"key": "", "match": match}
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    with pytest.raises(ValueError, match="no per-deal results"):
        MatchLog(path, resume=True)
    path.write_text(json.dumps({"matches_of_release": "0.0"}) + "\n")
    with pytest.raises(ValueError, match=r"comes from release 0\.0"):
        MatchLog(path, resume=True)


def test_command_keeps_its_log_until_results_exist(tmp_path, monkeypatch):
    whole, table = tmp_path / "whole.json", tmp_path / "table.json"
    assert CliRunner().invoke(cli.app, [*TOURNAMENT, "--json", str(whole)]).exit_code == 0
    with monkeypatch.context() as patch:
        stop_after(patch, 2)
        stopped = CliRunner().invoke(cli.app, [*TOURNAMENT, "--json", str(table)])
    assert stopped.exit_code == 130
    assert "interrupted; 2 matches are kept in" in stopped.output
    again = CliRunner().invoke(cli.app, [*TOURNAMENT, "--json", str(table)])
    assert isinstance(again.exception, ValueError)
    assert "continue it with --resume" in str(again.exception)
    with monkeypatch.context() as patch:
        played = stop_after(patch, 1)
        done = CliRunner().invoke(cli.app, [*TOURNAMENT, "--json", str(table), "--resume"])
    assert (done.exit_code, len(played)) == (0, 1)
    assert table.read_bytes() == whole.read_bytes()
    assert sorted(path.name for path in tmp_path.iterdir()) == ["table.json", "whole.json"]


def test_resume_without_outputs_raises():
    done = CliRunner().invoke(cli.app, [*TOURNAMENT, "--resume"])
    assert isinstance(done.exception, ValueError)
    assert "--resume needs the output files" in str(done.exception)
