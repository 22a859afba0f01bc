"""Every option of every command changes what the command prints or writes."""

from __future__ import annotations

import contextlib
import io
import re
import shlex
import tempfile
from functools import cache
from pathlib import Path
from types import SimpleNamespace

import pytest
from test_command_line import COMMANDS
from tqdm import tqdm
from typer.testing import CliRunner

from gin_env import agents, estimators, play_match
from gin_env.batch import Games
from gin_env.cli import app
from gin_env.commands.files import parts, use

pytestmark = pytest.mark.compiled

ROOT = Path(__file__).parents[2]
HAND = 'explain --hand "4C 5C 6C 9H 9S 9D 2H 2S AD KS" --upcard 7H --bot simple'
LATER = (
    f'{HAND} --history "pass;pass;draw from the stock;discard KS;draw from the stock;discard 8C" --drew 2D'
)
CHANGES: dict[str, list[str]] = {
    "match simple medium --games 4 --seed 3 --json result.json": [
        *("--games 6", "--seed 4", "--hands", "--rules straight", "--confidence 0.8", "--json other.json"),
        *("--deals", "--record new.jsonl", "--luck"),
    ],
    "tournament simple medium --games 4 --seed 3 --json result.json": [
        *("--games 6", "--seed 4", "--hands", "--rules straight", "--confidence 0.8", "--json other.json"),
        *("--csv table.csv", "--plot table.png", "--record new.jsonl"),
    ],
    "replay games.jsonl --judge simple": [*("--game 2", "--judge tonic", "--judge none", "--worst 1")],
    "puzzle --number 3 --answer": ["--number 4"],
    HAND: [
        *('--hand "4C 5C 6C 9H 9S 9D 2H 2S AD QS"', "--upcard 2D", "--scores '40 25'", "--rules oklahoma"),
        *("--you-deal --history pass", "--bot medium", "--estimator uniform"),
    ],
    LATER: [
        "--history 'pass;pass;draw from the stock;discard AD;draw from the stock;discard 8C'",
        "--drew 3D",
    ],
    "explain --record games.jsonl --bot simple": ["--record one.jsonl", "--game 2", "--step 3"],
    "bots simple": ["--json bots.json"],
    "estimators uniform bayes --games 20": [
        *("--games 30", "--seed 1", "--opponent tonic", "--rules straight", "--csv table.csv"),
        "--plot-folder figures",
    ],
    "gif simple random hand.gif --width 240": [
        *("--seed 1", "--rules straight", "--width 300", "--seconds 0.5")
    ],
    "gif hand.gif --width 240 --record games.jsonl": ["--record one.jsonl", "--game 2", "--hand 2"],
}
"""What is cheap to run -> options, each of which changes its outcome."""
EXCUSED: dict[str, tuple[str, str]] = {
    "match": ("workers ray", "change no result; tests/support/test_workers.py"),
    "benchmark": (
        "precision games minutes seed json markdown plot submit author luck workers ray resume",
        "measures time, so no two outputs are equal; tests/matches/test_benchmark.py, "
        "tests/support/test_workers.py",
    ),
    "tournament": (
        "workers ray resume",
        "change no result; tests/support/test_workers.py, tests/matches/test_match_log.py",
    ),
    "replay": (
        "plain estimator letters web host port",
        "of the screen and the page; tests/ui/test_replay_app.py",
    ),
    "exploit": (
        "by samples minutes decisions start rules seed games run workers resume json",
        "trains or searches; tests/training/test_exploit.py",
    ),
    "compile": ("for-everyone", "rights of the cache; tests/support/test_kernel_cache.py"),
    "convert": ("trust", "needs an archive; tests/agents/test_policy_files.py"),
    "puzzle": ("answer", "asks otherwise; tests/commands/test_puzzle.py"),
    "play": (
        "opponent seed rules save resume record hint-bot estimator bot-delay letters web host port",
        "of the screen and the page; tests/ui/test_play_command.py, tests/ui/test_web_pages.py",
    ),
}
"""Options that are tested elsewhere, and why."""


def outcome(words: str) -> tuple[str, dict[str, bytes]]:
    """Run a command in a folder of its own; return its output, without measured times, and its files."""
    with tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder):
        play_match("simple", "random", 4, seed=4, record="games.jsonl")
        play_match("simple", "random", 2, seed=5, record="one.jsonl")
        given = set(Path().iterdir())
        done = CliRunner().invoke(app, shlex.split(words), catch_exceptions=False)
        assert done.exit_code == 0, done.output
        files = {str(path): path.read_bytes() for path in set(Path().rglob("*")) - given if path.is_file()}
    return re.sub(r"\d+\.\d{4}$", "", done.output, flags=re.MULTILINE), files


@cache
def usual_outcome(words: str) -> tuple[str, dict[str, bytes]]:
    first, again = outcome(words), outcome(words)
    assert first == again, "differences would not be the option's"
    return first


@pytest.mark.parametrize(
    ("words", "change"), [(words, one) for words, all_ in CHANGES.items() for one in all_]
)
def test_option_changes_the_outcome(words, change):
    """If the same files are written, each of them is another."""
    (output, files), (usual_output, usual_files) = outcome(f"{words} {change}"), usual_outcome(words)
    same = [name for name in files if files[name] == usual_files.get(name)]
    assert not same or files.keys() != usual_files.keys(), f"the same {same}"
    assert (output, files) != (usual_output, usual_files)


@pytest.mark.parametrize(
    "words",
    [
        "match simple hand_endings:Plain --games 2 --hands",
        "tournament simple hand_endings:Plain --games 2 --hands",
        pytest.param("replay games.jsonl --plain --judge hand_endings:Plain", marks=pytest.mark.long),
        f"{HAND.removesuffix('simple')}hand_endings:Plain",
        "estimators uniform --games 20 --opponent hand_endings:Plain",
        "gif simple hand_endings:Plain hand.gif --width 240",
    ],
)
def test_every_command_accepts_a_class_of_your_own(words):
    assert outcome(words)


@pytest.mark.parametrize(
    "words",
    [
        *(f"match simple random --games 2 --{option} no/file" for option in ("json", "record")),
        *(f"tournament simple random --games 2 --{option} no/file" for option in ("json", "csv", "record")),
        "tournament simple random --games 2 --plot no/file.png",
        "estimators uniform --games 5 --csv no/file",
        "exploit simple --json no/file",
        "gif simple random no/file.gif",
        "gif simple random hand.png",
        *(f"match simple random --games 2 {options}" for options in ("--deals", "--confidence 2")),
        *(f"benchmark simple --games 2 {options}" for options in ("--submit a.json", "--author Ann")),
        *(f"benchmark simple --games 2 {options} no/file.md" for options in ("--markdown", "--json")),
        *("benchmark simple --games 2 --plot a.xyz", "benchmark simple --author Ann --submit no/file"),
    ],
)
def test_outputs_are_checked_before_anything_is_played(words, monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(Games, "start", lambda *given, **options: pytest.fail("a game has begun"))
    assert isinstance(CliRunner().invoke(app, words.split()).exception, OSError | ValueError)
    assert not list(tmp_path.iterdir())


def test_compile_and_estimators_leave_nothing_out(monkeypatch):
    known = [name for name in estimators.names() if name != "omniscient"]
    assert parts() == ["environments", *agents.names(), *agents.paper_names(), *known]
    compared = []
    monkeypatch.setattr(
        "gin_env.training.estimators.evaluation.evaluate_estimators",
        lambda names, *options: compared.extend(names) or SimpleNamespace(summary=str, save_csv=None),
    )
    assert CliRunner().invoke(app, ["estimators", "all"]).exit_code == 0
    assert compared == estimators.readings()


def test_kernels_of_both_environments_with_candidates_are_compiled(monkeypatch):
    described, candidates = [], Games.candidates
    monkeypatch.setattr(
        Games,
        "candidates",
        lambda games, *given, **options: described.append(len(games)) or candidates(games, *given, **options),
    )
    use("environments")
    assert set(described) == {1, 2}


@pytest.mark.parametrize(("reason", "refused"), [("needs torch", False), ("no module named x", True)])
def test_compile_skips_what_needs_torch_and_nothing_else(monkeypatch, reason, refused):
    def fail(*_, **__):
        raise ImportError(reason)

    monkeypatch.setattr("gin_env.matches.matches.play_match", fail)
    monkeypatch.setattr("gin_env.estimators.resolve", fail)
    for name in ("simple", "bayes"):
        with pytest.raises(ImportError) if refused else contextlib.nullcontext():
            use(name)


@pytest.mark.parametrize(
    ("options", "end"),
    [(["--games", "4"], (12, 12, "game")), (["simple", "random", "--games", "4", "--hands"], (4, 4, "hand"))],
)
def test_tournament_fills_its_progress_bar(monkeypatch, options, end):
    bars = []

    def bar(total: int, unit: str) -> tqdm:
        bars.append(tqdm(total=total, unit=unit, file=io.StringIO()))
        return bars[-1]

    monkeypatch.setattr("gin_env.commands.matches.progress_bar", bar)
    monkeypatch.setattr(agents, "quick_names", lambda: ["simple", "medium", "random"])
    assert CliRunner().invoke(app, ["tournament", *options]).exit_code == 0
    assert [(bar.n, bar.total, bar.unit) for bar in bars] == [end]


@pytest.mark.parametrize("name", EXCUSED)
def test_excused_option_occurs_in_a_test_that_is_named(name):
    options, reason = EXCUSED[name]
    tests = "".join((ROOT / path).read_text() for path in re.findall(r"tests/\w+/\w+\.py", reason))
    assert [option for option in options.split() if f"--{option}" not in tests] == []


@pytest.mark.parametrize("path", COMMANDS)
def test_every_option_is_tried_or_excused(path):
    name = path.removeprefix("gin-rummy").strip()
    tried = {
        change.split()[0] for words, all_ in CHANGES.items() for change in all_ if words.split()[0] == name
    }
    excused = {f"--{option}" for option in EXCUSED.get(name, ("", ""))[0].split()}
    common = {"--version", "--install-completion", "--show-completion"}
    options = [param for param in COMMANDS[path].params if param.param_type_name == "option"]
    missing = [param.opts[0] for param in options if not (tried | excused | common) & set(param.opts)]
    assert not missing, f"{path}: add values of these options to CHANGES, or excuse them"
    assert tried | excused <= {text for param in options for text in param.opts}
