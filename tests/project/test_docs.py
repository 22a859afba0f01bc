"""README and docs: code blocks run, commands and links are valid, tables match the code."""

from __future__ import annotations

import inspect
import json
import re
import shlex
import tomllib
from pathlib import Path
from typing import Any

import pytest
import typer.main
from layout_tables import actions_table, candidates_table, memory_table, observation_table
from packaged_files import description, packaged_files
from python_programs import run_python

from gin_env import agents, cli, estimators, gin_rummy_v0
from gin_env.envs.gymnasium_env import GinRummyEnv
from gin_env.envs.learner_seat import LearnerSeat
from gin_env.envs.vector_env import GinRummyVectorEnv
from gin_env.matches.provenance import spell_out_bot
from gin_env.support import specs
from gin_env.support.specs import format_value
from research.__main__ import app as research_app
from research.reproduce import by_id as reproduce
from research.reproduce.results import load, stored

pytestmark = pytest.mark.compiled

ROOT = Path(__file__).parents[2]
RESULTS = ROOT / "research" / "results"
PAGES = sorted(
    page
    for page in [
        *ROOT.glob("*.md"),
        *(ROOT / "docs").rglob("*.md"),
        *(ROOT / "examples").rglob("*.md"),
        *(ROOT / "research").rglob("*.md"),
        *(ROOT / "benchmarks").glob("*.md"),
    ]
    if ROOT / "docs/scripts" not in page.parents  # written by a build of the site
)
COMMANDS = {
    "gin-rummy ": typer.main.get_command(cli.app),
    "python -m research ": typer.main.get_command(research_app),
}


def text(page: str) -> str:
    return (ROOT / page).read_text()


def prose(page: Path) -> str:
    """Return a page without its code blocks."""
    return re.sub(r"```.*?```", "", page.read_text(), flags=re.DOTALL)


def blocks(page: Path, language: str) -> list[str]:
    return re.findall(rf"```{language}\n(.*?)```", page.read_text(), re.DOTALL)


def written_files(page: Path) -> dict[str, str]:
    """Return the files that a page asks the reader to write."""
    return dict(re.findall(r"`(\w+\.py)`[^`\n]*:\n\n```python\n(.*?)```", page.read_text(), re.DOTALL))


def name_of(page: Path) -> str:
    return str(page.relative_to(ROOT))


def learns(code: str) -> bool:
    return ".learn(" in code or "optimizer.step" in code


READ_FIRST = ("README.md", "docs/index.md", "docs/start.md")
RUN_BLOCKS = """
import sys, json
for number, code in enumerate(json.load(sys.stdin), 1):
    print("block", number, file=sys.stderr, flush=True)
    exec(compile(code, f"block {number}", "exec"), {"__name__": "__main__"})
"""


@pytest.mark.parametrize(
    ("page", "trains"),
    [
        pytest.param(page, trains, id=name, marks=[pytest.mark.long] * (trains or name not in READ_FIRST))
        for page, name in zip(PAGES, map(name_of, PAGES), strict=True)
        for trains in (False, True)
        if any(learns(code) == trains for code in blocks(page, "python"))
    ],
)
def test_code_blocks_run_without_warnings(page, trains, tmp_path):
    """The blocks of a page run one after the other, each with names of its own; warnings are errors."""
    codes = [code for code in blocks(page, "python") if learns(code) == trains and "ray.train" not in code]
    for name, content in written_files(page).items():
        (tmp_path / name).write_text(content)
    program = "-W", "error::UserWarning:__main__", "-c", RUN_BLOCKS
    run_python(*program, cwd=tmp_path, input=json.dumps(codes), PYTHONPATH=str(ROOT))


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_links_have_targets(page):
    for link in re.findall(r"\]\((?!https?:)([^)\s]+)\)", prose(page)):
        path, _, anchor = link.partition("#")
        target = page.parent / path if path else page
        assert target.exists(), link
        assert not anchor or anchor in anchors(target), link


def headings(page: Path) -> list[str]:
    return re.findall(r"^#+ (.*)$", prose(page), re.MULTILINE)


def anchors(page: Path) -> set[str]:
    """Return the anchors that GitHub gives to a page's headings."""
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings(page)}


# --- Commands -------------------------------------------------------------------------------------------


def commands_of(page: Path) -> list[str]:
    """Return every command line of a page that `COMMANDS` knows, from shell blocks and inline code."""
    lines = "\n".join(blocks(page, "bash")).splitlines() + re.findall(r"`([^`]+)`", prose(page))
    return [" ".join(line.split()) for line in lines if line.startswith(tuple(COMMANDS))]


def parse_command(line: str) -> dict[str, Any]:
    """Parse a command without running it, and return its parameters or raise its error.

    The name of a command alone, such as ``gin-rummy match``, has no parameters.
    """
    (program,) = (name for name in COMMANDS if line.startswith(name))
    words, command, context = shlex.split(line.removeprefix(program), comments=True), COMMANDS[program], None
    name = program.strip()
    while hasattr(command, "commands"):
        if not words:
            return {}
        context = command.make_context(name, words, parent=context)
        words = [*context._protected_args, *context.args]
        name, command, words = command.resolve_command(context, words)
    return command.make_context(name, words, parent=context).params if words else {}


def check_command(line: str) -> None:
    """Check that a command parses and that its bots and experiments exist."""
    params = parse_command(line)
    for bot in filter(None, [params.get("a"), params.get("b"), *(params.get("bots") or [])]):
        made_by_the_reader = bot.startswith(("my-bot", "chat:")) or agents.starts_program(bot)
        made_by_the_reader |= ".npz" in bot or "@http" in bot
        if not made_by_the_reader and not specs.parse(bot)[0].endswith(specs.POLICY_ENDINGS):
            agents.make(bot)
    for experiment in params.get("experiments") or []:
        reproduce.find(experiment)


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_every_command_parses(page):
    for line in commands_of(page):
        check_command(line)


def test_commands_of_the_results_exist():
    for name in stored(RESULTS):
        command = load(RESULTS, name).command
        program, _, rest = command.removeprefix("python ").partition(" ")
        if command.startswith(tuple(COMMANDS)):
            check_command(command)
        elif program == "make":
            assert f"\n{rest.split()[0]}:" in text("Makefile")
        elif program == "-m":
            assert (ROOT / (rest.split()[0].replace(".", "/") + ".py")).exists(), command
        else:
            assert (ROOT / program).exists(), command


def test_make_targets_and_scripts_exist():
    shell = "\n".join(code for page in PAGES for code in blocks(page, "bash"))
    for target in set(re.findall(r"^make ([\w-]+)", shell, re.MULTILINE)):
        assert f"\n{target}:" in text("Makefile"), target
    for path in re.findall(r"((?:examples|benchmarks|tests)/[\w/]+\.\w+)", shell):
        assert (ROOT / path).exists(), path


# --- Tables ---------------------------------------------------------------------------------------------


def rows(page: str) -> dict[str, str]:
    """Return the rows of a page's tables whose first cell is a name in code."""
    return dict(re.findall(r"^\| `([^`]+)` (\|.*)$", text(page), re.MULTILINE))


@pytest.mark.parametrize("table", [observation_table, candidates_table, memory_table])
def test_observation_tables_are_generated(table):
    assert table() in text("docs/api/layout.md")


def test_action_table_is_generated():
    assert actions_table() in text("docs/rules.md")


def test_environment_options_are_listed_with_their_defaults():
    described = rows("docs/environments.md")
    for make in (gin_rummy_v0.raw_env, GinRummyEnv, GinRummyVectorEnv, LearnerSeat):
        for name, option in inspect.signature(make).parameters.items():
            if name in ("num_envs", "num_games", "mask", "options"):
                continue
            default = "Rules()" if name == "rules" else json.dumps(option.default)
            default = {"null": "None", "false": "False"}.get(default, default)
            assert described[name].startswith(f"| `{default}` |"), (make, name)


@pytest.mark.parametrize(("page", "registry"), [("docs/bots.md", agents), ("docs/estimators.md", estimators)])
def test_every_parameter_is_listed_with_its_default(page, registry):
    described = rows(page)
    for name in registry.names():
        assert name in described, f"{page} has no row for {name}"
        for key, default in (registry.parameters(name) or {}).items():
            assert f"`{key}={format_value(default)}`" in described[name], f"{page}, {name}: {key}"


def test_frozen_readings_are_spelled_out():
    described = rows("docs/bots.md")
    for name in agents.paper_names():
        assert f"`{spell_out_bot(name)}`" in described[name], name


def test_architecture_lists_the_layers_of_the_import_contract():
    layers = tomllib.loads(text("pyproject.toml"))["tool"]["importlinter"]["contracts"][0]["layers"]
    listed = re.findall(r"^\| (`.*?`) \|", text("docs/architecture.md"), re.MULTILINE)
    assert [line.replace("`", "").split(", ") for line in listed] == [layer.split(" | ") for layer in layers]


def test_packaged_files_are_listed_with_their_commands():
    listed = rows("docs/packaged_files.md")
    for path in packaged_files():
        if path.parent.parent.name == "hand_strength":
            continue  # they share one row
        found = description(path)
        command = found["command"].replace("gin-rummy train", "python -m research train")
        assert f"`{command}`" in listed[path.name], path.name
        for player in found.get("players", []):
            assert f"`{player['bot']}`" in listed[path.name]
