"""Training runs: settings, folders, checkpoints and exact resuming."""

from __future__ import annotations

import csv
import os
import shlex
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
import torch
from example_scripts import load_example
from ppo_runs import tiny
from typer.testing import CliRunner

from gin_env import agents, play_match, records
from gin_env.agents.policies.candidate_network import FORMAT
from gin_env.agents.policies.candidate_policy import CandidatePolicyBot
from gin_env.cli import app
from gin_env.game.rules import Rules
from gin_env.matches.fixed_positions import fixed_views
from gin_env.support.threads import torch_threads
from gin_env.training import ppo, runs
from gin_env.training.ppo import PPORun, train
from gin_env.training.ranks import Ranks
from gin_env.training.runs import (
    CHECKPOINT,
    CHECKPOINT_FORMAT,
    EVALUATIONS,
    POLICY,
    open_folder,
    read_command,
    stored_settings,
)
from gin_env.training.settings import OTHER_DECKS, PPOSettings

pytestmark = pytest.mark.compiled

HERE = Path(__file__).parents[1] / "helpers"


class Interrupted(PPORun):
    """A run that receives Ctrl-C in each update."""

    def learn(self):
        self.interrupt()
        return super().learn()


@pytest.mark.long
@pytest.mark.parametrize("option", ["", "memory"])
def test_stopped_run_resumes_exactly(tmp_path, monkeypatch, capsys, option):
    changed = {option: True} if option else {}
    unbroken = train(replace(tiny(tmp_path / "unbroken"), **changed))
    settings = replace(tiny(tmp_path / "stopped"), **changed)
    monkeypatch.setattr("gin_env.training.ppo.PPORun", Interrupted)
    sessions = 0
    for resume in (False, True, True):
        with pytest.raises(SystemExit) as ended:
            train(replace(settings, resume=resume))
        assert ended.value.code == 130
        sessions += 1
    monkeypatch.undo()
    stopped = train(replace(settings, resume=True))
    assert capsys.readouterr().err.count("interrupted; to resume: gin-rummy train --run ") == sessions
    expected, found = unbroken.learner.tensors(), stopped.learner.tensors()
    assert any(name.startswith("past.1.") for name in expected)
    torch.testing.assert_close(found, expected, rtol=0, atol=0)
    assert unbroken.learner.state() == stopped.learner.state()
    assert unbroken.progress.decisions == stopped.progress.decisions
    assert stopped.progress.finished
    assert stopped.progress.evaluations[-1]["decisions"] == unbroken.progress.decisions
    policy = tmp_path / "stopped" / "policy.safetensors"
    assert isinstance(agents.make(str(policy)), CandidatePolicyBot)
    _, described = FORMAT.read_tensors(policy)
    origin = described["provenance"]
    assert origin["command"].startswith("gin-rummy train --total-timesteps 3000 --bots simple ")
    assert ("--memory" in origin["command"]) == (option == "memory")
    assert " --num-envs 32 --num-steps 24 " in origin["command"]
    assert [player["spelled"] for player in origin["players"]] == ["simple:knock_at=10"]


@pytest.mark.long
def test_example_trains_like_the_package(tmp_path):
    """The example's loop matches `train`."""
    load_example("ppo").train(tiny(tmp_path / "example"), Ranks())
    expected = train(tiny(tmp_path / "package")).learner.tensors()
    found, _ = CHECKPOINT_FORMAT.read_tensors(tmp_path / "example" / CHECKPOINT)
    torch.testing.assert_close(found, expected, rtol=0, atol=0)


def test_evaluation_games_are_recorded_by_the_rules_of_the_training(tmp_path):
    rules = "knock_limit=7,max_hands=1"
    with PPORun(replace(tiny(tmp_path / "run"), record=True, rules=(rules, "straight"))) as run:
        run.progress.decisions = 7
        run.evaluate(2)
    games = list(records.read(tmp_path / "run" / "games-7.jsonl"))
    assert {game.rules for game in games} == {Rules.parse(rules)}
    names = [sorted(player.name for player in game.players) for game in games]
    assert names == [["policy", "simple"]] * 2 + [["policy", "random"]] * 2


@pytest.mark.long
def test_killed_run_ends_like_an_uninterrupted_one(tmp_path):
    """The checks are in a separate script because they fork."""
    done = subprocess.run(
        [sys.executable, str(HERE / "ppo_kills.py"), str(tmp_path)],
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert done.returncode == 0, done.stderr


def test_used_folder_is_refused_and_resuming_keeps_settings(tmp_path):
    settings = tiny(tmp_path / "run")
    with pytest.raises(FileNotFoundError, match="nothing to resume"):
        open_folder(replace(settings, resume=True))
    settings.run.mkdir()
    (settings.run / f".{CHECKPOINT}.01234567.partial").touch()  # killed before its first checkpoint
    PPORun(settings)
    with pytest.raises(ValueError, match="is not empty"):
        open_folder(settings)
    with pytest.raises(ValueError, match="has hidden = 8 and cannot be resumed with 16"):
        open_folder(replace(settings, resume=True, hidden=16))
    moved = settings.run.rename(tmp_path / "moved")
    assert stored_settings(moved) == replace(settings, run=moved, resume=True)


def test_evaluations_are_played_by_the_network_that_is_saved(tmp_path):
    """The learner multiplies in bfloat16 where it can; a saved policy plays in float32."""
    with PPORun(replace(tiny(tmp_path), bfloat16=True, hidden=16)) as run:
        run.learn()
        assert not run.learner.league.past[0].draws.use_bfloat16, "past selves play in float32 too"
        run.save_policy(tmp_path / "saved.safetensors")
        saved, bot = agents.make(str(tmp_path / "saved.safetensors")), run.bot()
    view = fixed_views(20)
    np.testing.assert_array_equal(bot.action_chances(view), saved.action_chances(view))


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"bots_share": 0.6, "past_share": 0.5}, "at most 1"),
        ({"workers": 33}, "workers must be from 1 to 32"),
        ({"device": "abacus"}, "this PyTorch has no device 'abacus'"),
        ({"total_timesteps": 0, "minutes": 0.0}, "must be more than 0"),
        ({"seed": 2**64 - 1}, "seed must have"),
        ({"final_games": 9999}, "even number"),
        ({"evaluation_games": 0}, "even number"),
        ({"evaluate_against": ("simple", "tonci")}, "unknown bot 'tonci'"),
        ({"rules": ()}, "must name at least one"),
        ({"rules": ("whist",)}, "unknown rules 'whist'"),
        ({"max_share": 1.5}, "max_share must be from 0 to 1"),
    ],
)
def test_invalid_settings_fail_before_writing(tmp_path, changed, message):
    with pytest.raises(ValueError, match=message):
        PPORun(replace(tiny(tmp_path / "run"), **changed))
    assert not (tmp_path / "run").exists()


def test_each_number_of_the_settings_is_checked(tmp_path):
    for name, value in vars(tiny(tmp_path)).items():
        for invalid in {int: (-1, 2**64 + 1), float: (-0.1, float("nan"))}.get(type(value), ()):
            with pytest.raises(ValueError, match=rf"^({name}|games) must "):
                replace(tiny(tmp_path), **{name: invalid}).check()


def test_ctrl_c_ends_an_evaluation_and_a_second_one_the_program(tmp_path, monkeypatch):
    with PPORun(tiny(tmp_path / "run")) as run:
        for play in (lambda games: run.interrupt() or {}, lambda games: pytest.fail("interrupted before")):
            monkeypatch.setattr(run, "_play_matches", play)
            with pytest.raises(KeyboardInterrupt):
                run.evaluate(2)
        assert (run.progress.evaluations, run.evaluating) == ([], False)
        with pytest.raises(SystemExit, match="130"):
            run.interrupt()


def test_diverged_training_ends_and_keeps_its_checkpoint(tmp_path):
    run = PPORun(tiny(tmp_path / "run"))
    before = (tmp_path / "run" / CHECKPOINT).read_bytes()
    with torch.no_grad():
        run.learner.network.draws.outputs.bias[2:] = 1e30
    with pytest.raises(ValueError, match="the training has diverged: use a lower learning_rate"):
        run.learn()
    with pytest.raises(ValueError, match=r"larger than 1,000,000,000; .* is left as it was"):
        run.save()
    assert (tmp_path / "run" / CHECKPOINT).read_bytes() == before


def test_command_that_resumes_names_programs_and_what_is_not_stored(tmp_path):
    settings = replace(tiny(tmp_path / "a run"), workers=8, device="cuda", record=True)
    folder = shlex.quote(str(tmp_path / "a run"))
    expected = f"gin-rummy train --run {folder} --resume --record --device cuda --workers 8"
    assert settings.resume_command() == expected
    assert replace(settings, workers=2, device="cpu", record=False).resume_command().endswith(" --resume")
    settings = replace(tiny(tmp_path), workers=2, bots=("simple", "process:./my bot"))
    assert settings.resume_command().endswith(" --resume --bots simple 'process:./my bot'")
    settings = replace(settings, bots=("simple",), evaluate_against=("process:./my-bot",))
    assert settings.resume_command("x") == f"x --run {tmp_path} --resume --evaluate-against process:./my-bot"


def test_run_follows_its_settings_and_says_so(tmp_path, monkeypatch, capsys):
    settings = replace(
        tiny(tmp_path / "a run"), match_reward=False, rules=("eaai", "oklahoma"), snapshot_every=2,
        past_size=99, evaluate_every=0.0, evaluation_games=4, final_games=6,
        evaluate_against=("simple:knock_at=4", "random"),
    )  # fmt: skip
    left, learned, games, logged, origins = [], [0], [], set(), []
    match = play_match("simple", "random", 2, 1, episode="hand")
    monkeypatch.setattr(ppo, "play_match", lambda *given, **_: games.append(given[2:4]) or match)
    monkeypatch.setattr(ppo, "draw_learning_curve", lambda *given: origins.append(given[3]))
    with PPORun(settings) as run:
        update = run.learner.update
        monkeypatch.setattr(run.learner, "update", lambda share: left.append(share) or update(share))
        monkeypatch.setattr(run.board, "add_scalar", lambda name, value, at: logged.add((name, at)))
        while run.share < 1:
            run.end_update(run.learn())
            learned.append(run.progress.decisions)
        _, (_, stored) = open_folder(replace(settings, resume=True))
        assert len(stored["progress"]["evaluations"]) == len(left) - 1, "saved with each evaluation"
        run.finish()
        assert f"4 games an evaluation, 6 at the end, seed {settings.seed}," in origins[-1]
        assert run.next_checkpoint > 1e8
        assert left == pytest.approx([1 - each / 3000 for each in learned[:-1]])
        assert len(run.learner.league.past) == run.progress.updates // 2
        decks = settings.seed + OTHER_DECKS
        assert games == [(4, decks)] * 2 * (len(left) - 1) + [(6, decks)] * 2
        assert {("losses/value", at) for at in learned[1:]} < logged
        tags = "hands_lost/simple", "evaluation/games_simple knock_at=4"
        assert {(tag, learned[-1]) for tag in tags} < logged
        rows = list(csv.DictReader((settings.run / EVALUATIONS).read_text().splitlines()))
        assert [int(row["decisions"]) for row in rows] == learned[1:]
        for end, rate in (("", match.win_rate), ("_low", match.interval[0]), ("_high", match.interval[1])):
            assert float(rows[-1][f"games_random{end}"]) == pytest.approx(rate, abs=1e-4)
        _, described = FORMAT.read_tensors(settings.run / POLICY)
        origin = described["provenance"]
        assert (origin["decisions"], described["match_values"]) == (learned[-1], False)
        assert (PPOSettings.from_json(origin["settings"]), origin["torch"]) == (settings, torch.__version__)
        assert len(described["rules"]) == 2
        run.end_update({})
        assert not run.progress.finished
    run.announce()
    assert f"gin-rummy benchmark {shlex.quote(str(settings.run / POLICY))}\n" in capsys.readouterr().out


def test_learning_curve_shows_rates_and_intervals_by_minute(tmp_path, monkeypatch):
    drawn, opponents = [], ("simple", "random")
    rates = {"games_simple": 0.5, "games_random": 0.75}
    row = rates | {f"{name}_low": rate - 0.25 for name, rate in rates.items()}
    row |= {f"{name}_high": rate + 0.125 for name, rate in rates.items()}
    monkeypatch.setattr(runs, "save_figure", lambda figure, *_, **options: drawn.append(figure))
    runs.draw_learning_curve([row | {"minutes": at} for at in (2.0, 3.0)], opponents, tmp_path, "")
    (axes,) = drawn[0].axes
    for line, shade, won in zip(axes.lines, axes.collections, (50, 75), strict=False):
        assert line.get_xydata().tolist() == [[2, won], [3, won]]
        assert set(shade.get_paths()[0].vertices[:, 1]) == {won - 25, won + 12.5}
    assert [text.get_text() for text in axes.get_legend().texts] == [
        f"games against {each}" for each in opponents
    ]


@pytest.mark.long
def test_training_leaves_torch_its_threads(tmp_path):
    with torch_threads(2):
        train(replace(tiny(tmp_path), total_timesteps=500, workers=1))
        assert torch.get_num_threads() == 2


def test_tensors_of_a_run_are_copies(tmp_path):
    run, other = PPORun(tiny(tmp_path / "run")), PPORun(tiny(tmp_path / "other"))
    run.learn()
    tensors = run.learner.tensors()
    before = {name: tensor.clone() for name, tensor in tensors.items()}
    run.learn()
    assert all(torch.equal(tensor, before[name]) for name, tensor in tensors.items())
    other.learner.restore(tensors, run.learner.state())
    other.learn()
    assert all(torch.equal(tensor, before[name]) for name, tensor in tensors.items())


def test_checkpoint_without_a_new_setting_uses_its_default(tmp_path):
    settings = tiny(tmp_path / "run")
    run = PPORun(settings)
    path = settings.run / CHECKPOINT
    tensors, metadata = CHECKPOINT_FORMAT.read_tensors(path)
    stored = {name: value for name, value in metadata["settings"].items() if name != "evaluate_against"}
    CHECKPOINT_FORMAT.write_tensors(path, tensors, metadata | {"settings": stored})
    resumed, _ = open_folder(replace(settings, resume=True))
    assert resumed == replace(run.settings, resume=True)
    assert resumed.evaluate_against == ("simple", "random")


def test_run_resumes_after_millions_of_points(tmp_path):
    run = PPORun(tiny(tmp_path / "run"))
    run.learner.league.results[1] = 2e5, 1e4, 5e6
    run.save()
    again = PPORun(replace(run.settings, resume=True))
    assert np.array_equal(again.learner.league.results, run.learner.league.results)


@pytest.mark.parametrize(
    ("given", "expected"),
    [([], (6.0, 900)), (["--total-timesteps", "1500"], (6.0, 1500)), (["--minutes", "6"], (6.0, 0))],
    ids=str,
)
def test_resumed_run_keeps_its_end_unless_given_another(tmp_path, given, expected):
    settings = replace(tiny(tmp_path / "run"), total_timesteps=900)
    PPORun(settings).save()
    resumed, _ = open_folder(read_command("train", None, ["--run", str(settings.run), "--resume", *given]))
    assert (resumed.minutes, resumed.total_timesteps) == expected
    assert resumed.num_envs == settings.num_envs


def test_run_killed_before_it_published_publishes_when_resumed(tmp_path, monkeypatch):
    settings = tiny(tmp_path / "run")
    with monkeypatch.context() as patched:
        patched.setattr(PPORun, "publish", lambda run: (_ for _ in ()).throw(OSError("the disk is full")))
        with pytest.raises(OSError, match="the disk is full"):
            train(settings)
    assert not (settings.run / POLICY).exists()
    assert train(replace(settings, resume=True)).progress.finished
    assert agents.make(str(settings.run / POLICY)).act


def test_command_of_a_run_quotes_its_arguments(tmp_path):
    bots = ("process:python3 my bot.py", "simple")
    settings = PPOSettings(tmp_path, bots=bots, seed=3, memory=True, match_reward=False, resume=True)
    expected = "--seed 3 --bots 'process:python3 my bot.py' simple --memory --no-match-reward"
    assert settings.command() == f"gin-rummy train {expected}"


@pytest.mark.parametrize("name", ["bots", "evaluate_against"])
def test_checkpoint_cannot_start_an_unnamed_program(tmp_path, name):
    command = "process:./my-bot"
    stored = replace(PPOSettings(tmp_path), **{name: (command,)})
    metadata = {"settings": stored.as_json()}
    path = tmp_path / CHECKPOINT
    CHECKPOINT_FORMAT.write_tensors(path, {"a": torch.zeros(1)}, metadata)
    with pytest.raises(ValueError, match=f"names '{command}', which runs other code: pass it again"):
        stored_settings(tmp_path)
    again = ["--run", str(tmp_path), "--resume", f"--{name.replace('_', '-')}", command]
    for given in (stored_settings(tmp_path, [command]), read_command("train", None, again)):
        assert getattr(open_folder(given)[0], name) == (command,)


def test_narrow_layers_multiply_in_float32(tmp_path):
    """Regression: layers of 8 units in bfloat16 were NaN on one processor."""
    for hidden, expected in ((8, False), (16, True)):
        settings = replace(tiny(tmp_path / str(hidden)), bfloat16=True, hidden=hidden)
        with PPORun(settings) as run:
            assert run.learner.network.discards.use_bfloat16 == expected


def test_minutes_of_training_leave_out_evaluations_and_compiling(tmp_path, monkeypatch, capsys):
    now = [1000.0]
    monkeypatch.setattr("gin_env.training.ppo.time.monotonic", lambda: now[0])

    def pass_time(seconds, result):
        now[0] += seconds
        return result

    timed = replace(tiny(tmp_path / "run"), total_timesteps=0, minutes=4.0, checkpoint_every=0.5)
    with PPORun(timed) as run:
        assert run.progress.next_evaluation == timed.evaluate_every
        monkeypatch.setattr(run.learner, "collect", lambda: pass_time(60, None))
        monkeypatch.setattr(run.learner, "update", lambda left: (10, {}))
        row = {"minutes": 1.0, "decisions": 0}
        monkeypatch.setattr(run, "_play_matches", lambda games: pass_time(600, row))
        run.end_update(run.learn())  # the first update of a session compiles
        assert run.minutes == 0
        run.end_update(run.learn())
        assert run.minutes == pytest.approx(1)
        assert (run.share, run.next_checkpoint) == pytest.approx((1 / 4, 1 + 0.5)), "it was saved"
        run.evaluate(2)
        assert run.minutes == pytest.approx(1)
        assert run.progress.next_evaluation == pytest.approx(1 + run.settings.evaluate_every)
        run.save()
    with PPORun(replace(run.settings, resume=True)) as resumed:
        assert "3.0 of learning" in capsys.readouterr().out
        monkeypatch.setattr(resumed.learner, "collect", lambda: pass_time(60, None))
        monkeypatch.setattr(resumed.learner, "update", lambda left: (10, {}))
        resumed.end_update(resumed.learn())
        assert resumed.minutes == pytest.approx(1)


def test_logged_speed_is_that_of_the_last_update(tmp_path, monkeypatch):
    now, speeds = [1000.0], []
    monkeypatch.setattr("gin_env.training.ppo.time.monotonic", lambda: now[0])

    def log(name, value, decisions):
        if name == "speed/decisions_per_second":
            speeds.append(value)

    with PPORun(tiny(tmp_path / "run")) as run:
        monkeypatch.setattr(run.board, "add_scalar", log)
        for seconds, decisions in ((10, 500), (20, 400)):
            now[0] += seconds
            run.progress.decisions += decisions
            run.end_update({})
    assert speeds == [50, 20]


def test_train_command_resumes_by_the_command_of_its_settings(tmp_path, monkeypatch):
    trained = []
    monkeypatch.setattr(ppo, "train", lambda given: trained.append(given) or SimpleNamespace(announce=list))
    monkeypatch.setenv("OMP_WAIT_POLICY", "ACTIVE")
    done = CliRunner().invoke(app, ["train", "--", "--run", str(tmp_path), "--seed", "3", "--workers", "5"])
    assert done.exit_code == 0, done.output
    assert os.environ["OMP_WAIT_POLICY"] == "ACTIVE", "the user's choice is kept"
    assert trained[0].seed == 3
    assert trained[0].resume_command().endswith("--workers 5")


def test_command_that_resumes_gives_only_what_may_change(tmp_path):
    run = ["--run", str(tmp_path / "run"), "--resume"]
    settings = replace(tiny(tmp_path / "run"), seed=2, minutes=60.0, total_timesteps=0, workers=1)
    PPORun(settings).save()
    assert read_command("train", None, run) == replace(settings, resume=True, workers=PPOSettings.workers)
    resumed, _ = open_folder(read_command("train", None, [*run, "--minutes", "6"]))
    assert (resumed.minutes, resumed.seed) == (6.0, 2), "6 is the default, but it was given"
    for option, message in (("--seed=1", "has seed = 2 and"), ("--hidden=64", "has hidden = 8 and")):
        with pytest.raises(ValueError, match=f"{message} cannot be resumed with {option.partition('=')[2]}"):
            open_folder(read_command("train", None, [*run, option]))


def test_train_command_climbs_with_its_options(tmp_path, monkeypatch):
    climbed = []
    monkeypatch.setattr("gin_env.training.generations.loop.climb", climbed.append)
    command = f"train -- generations --folder {tmp_path} --generations 3 --settings.hands 50"
    assert CliRunner().invoke(app, command.split()).exit_code == 0
    (options,) = climbed
    assert (options.folder, options.generations, options.settings.hands) == (tmp_path, 3, 50)


def test_run_says_beforehand_how_long_it_takes_and_what_it_uses(tmp_path, monkeypatch, capsys):
    settings = PPOSettings(tmp_path, minutes=3, evaluation_games=500, evaluate_against=("simple",) * 3)
    assert settings.plan(2.2).startswith("about 1.1 minutes: 0.8 of learning")
    assert "(500 games every 2 minutes, 3,000 at the end)" in settings.plan()
    assert replace(settings, evaluate_every=0.0).plan(9.0).startswith("about 0.3 minutes: 0.0 of learning")
    decisions = PPOSettings(tmp_path, total_timesteps=5000, final_games=40)
    assert decisions.plan() == "until 5,000 decisions are learned, then 80 games"
    monkeypatch.setattr("gin_env.training.settings.usable_cores", lambda: 7)
    settings = PPOSettings(tmp_path / "run", workers=1, num_envs=512, bfloat16=False)
    assert settings.uses() == "1 process for 512 games, with 7 cores to use; networks on cpu in float32"
    two = PPOSettings(tmp_path / "run", workers=2, bfloat16=True)
    assert two.uses().startswith("2 processes for 2,048 games")
    assert two.uses().endswith("bfloat16")
    with PPORun(settings):
        assert settings.uses() in capsys.readouterr().out
