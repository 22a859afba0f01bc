"""The README and the docs: code blocks run, commands and links are valid, generated tables are current."""

from __future__ import annotations

import inspect
import json
import re
import shlex
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any

import pytest
import typer.main
from packaged_files import description, packaged_files

from gin_env import agents, cli, estimators, gin_rummy_v0, observation
from gin_env.envs.gymnasium_env import GinRummyEnv
from gin_env.envs.vector_env import GinRummyVectorEnv
from gin_env.game import words
from gin_env.matches.provenance import spell_out_bot
from gin_env.observations import candidates, memory
from gin_env.support import specs
from gin_env.support.specs import format_value
from research.reproduce import registry as reproduce
from research.reproduce.results import load, stored

pytestmark = pytest.mark.compiled

ROOT = Path(__file__).parents[2]
PAGES = sorted(
    [
        *ROOT.glob("*.md"),
        *(ROOT / "docs").glob("*.md"),
        *(ROOT / "docs" / "api").glob("*.md"),
        *(ROOT / "docs" / "results").rglob("*.md"),
        ROOT / "examples" / "README.md",
        ROOT / "examples" / "language_models" / "README.md",
        ROOT / "research" / "results" / "README.md",
        ROOT / "benchmarks" / "NOTES.md",
    ]
)


def text(page: str) -> str:
    return (ROOT / page).read_text()


def blocks(page: Path, language: str) -> list[str]:
    return re.findall(rf"```{language}\n(.*?)```", page.read_text(), re.DOTALL)


def written_files(page: Path, until: str) -> dict[str, str]:
    """Return the files that a page asks the reader to write, as of the block `until`."""
    told = page.read_text()
    told = told[: told.index(f"```python\n{until}```")]
    return dict(re.findall(r"`(\w+\.py)`[^`\n]*:\n\n```python\n(.*?)```", told, re.DOTALL))


def name_of(page: Path) -> str:
    return str(page.relative_to(ROOT))


def shell_lines() -> str:
    return "\n".join(code for page in PAGES for code in blocks(page, "bash"))


def headings(page: Path) -> list[str]:
    prose = re.sub(r"```.*?```", "", page.read_text(), flags=re.DOTALL)
    return re.findall(r"^#+ (.*)$", prose, re.MULTILINE)


def anchors(page: Path) -> set[str]:
    """Return the anchors that GitHub gives to a page's headings."""
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings(page)}


def rows(page: str) -> dict[str, str]:
    """Return the rows of a page's tables whose first cell is a name in code."""
    return dict(re.findall(r"^\| `([^`]+)` (\|.*)$", text(page), re.MULTILINE))


@pytest.mark.parametrize(
    ("page", "code"),
    [
        pytest.param(
            page,
            code,
            id=f"{name_of(page)}-{number}",
            marks=[pytest.mark.long] if ".learn(" in code or "optimizer.step" in code else [],
        )
        for page in PAGES
        for number, code in enumerate(blocks(page, "python"), 1)
    ],
)
def test_code_blocks_run_without_warnings(page, code, tmp_path):
    """Each block runs alone, with the files that the page asks for; its warnings are errors."""
    if "ray.train" in code:
        pytest.skip("needs a Ray cluster")
    for name, content in written_files(page, code).items():
        (tmp_path / name).write_text(content)
    done = subprocess.run(
        [sys.executable, "-W", "error::UserWarning:__main__", "-c", code],
        cwd=tmp_path,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr


def test_readme_stays_short():
    readme = ROOT / "README.md"
    assert 900 <= len(text("README.md").split()) <= 1100
    for code in blocks(readme, "python"):
        assert len([line for line in code.splitlines() if line.strip()]) <= 15


@pytest.mark.parametrize("layout", [observation, candidates, memory])
def test_observation_tables_are_generated(layout):
    """`layout.layout_table()` generates each table."""
    assert layout.layout_table() in text("docs/observation.md")


def test_action_table_is_generated():
    assert words.actions_table() in text("docs/rules.md")


def test_environment_options_are_listed_with_their_defaults():
    described = rows("docs/environments.md")
    environments = (gin_rummy_v0.raw_env, GinRummyEnv, GinRummyVectorEnv)
    for make in environments:
        for name, option in inspect.signature(make).parameters.items():
            if name == "num_envs":
                continue
            default = "Rules()" if name == "rules" else json.dumps(option.default)
            default = {"null": "None", "false": "False"}.get(default, default)
            assert described[name].startswith(f"| `{default}` |"), (make, name)
    assert {name for make in environments for name in inspect.signature(make).parameters} > set(described)


def test_bots_of_the_readme_exist():
    """The README shows the bots of the papers; docs/bots.md has a row for every bot (the next test)."""
    table = text("README.md").partition("| bots | source |")[2].partition("\n\n")[0]
    shown = {name for row in table.splitlines()[2:] for name in re.findall("`(.+?)`", row.split("|")[1])}
    assert len(shown) > 10
    assert shown <= set(agents.names())


@pytest.mark.parametrize(("page", "registry"), [("docs/bots.md", agents), ("docs/estimators.md", estimators)])
def test_every_parameter_is_listed_with_its_default(page, registry):
    described = rows(page)
    for name in registry.names():
        assert name in described, f"{page} has no row for {name}"
        for key, default in (registry.parameters(name) or {}).items():
            assert f"`{key}={format_value(default)}`" in described[name], f"{page}, {name}: {key}"


def test_architecture_lists_the_layers_of_the_import_contract():
    settings = tomllib.loads(text("pyproject.toml"))
    layers = settings["tool"]["importlinter"]["contracts"][0]["layers"]
    listed = re.findall(r"^\| (`.*?`) \|", text("docs/architecture.md"), re.MULTILINE)
    assert [line.replace("`", "").split(", ") for line in listed] == [layer.split(" | ") for layer in layers]
    assert len(layers) <= 15


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_links_have_targets(page):
    prose = re.sub(r"```.*?```", "", page.read_text(), flags=re.DOTALL)
    for link in re.findall(r"\]\((?!https?:)([^)\s]+)\)", prose):
        path, _, anchor = link.partition("#")
        target = page.parent / path if path else page
        assert target.exists(), link
        if anchor:
            assert anchor in anchors(target), link


def test_sections_named_in_the_code_exist():
    """References look like ``docs/results/estimators.md, "In play"``, possibly split over two lines."""
    modules = [
        module
        for folder in ("agents", "benchmarks", "examples", "gin_env", "tests", "wrappers")
        for module in (ROOT / folder).rglob("*.py")
    ]
    pointers = [
        (name_of(module), page, " ".join(section.split()))
        for module in modules
        for page, section in re.findall(r'([\w/.-]+\.md),\s+"([^"]+)"', module.read_text())
    ]
    assert any(source == "agents/safe_discard.py" for source, _, _ in pointers)
    missing = [
        (source, page, section)
        for source, page, section in pointers
        if not (ROOT / page).exists() or section not in headings(ROOT / page)
    ]
    assert missing == []


def test_make_targets_and_scripts_exist():
    makefile = text("Makefile")
    targets = set(re.findall(r"\bmake ([\w-]+)", shell_lines()))
    assert targets >= {"install", "test", "bench", "train"}
    for target in targets:
        assert f"\n{target}:" in makefile, target
    for path in re.findall(r"((?:examples|benchmarks|tests)/[\w/]+\.\w+)", shell_lines()):
        assert (ROOT / path).exists(), path


def commands_of(page: Path) -> list[str]:
    """Return every ``gin-rummy`` command of a page, from shell blocks and inline code."""
    found = re.findall(r"^(gin-rummy .*)$", "\n".join(blocks(page, "bash")), re.MULTILINE)
    prose = re.sub(r"```.*?```", "", page.read_text(), flags=re.DOTALL)
    return [" ".join(command.split()) for command in [*found, *re.findall(r"`(gin-rummy [^`]+)`", prose)]]


def parse_command(line: str) -> dict[str, Any]:
    """Parse a command without running it, and return its parameters or raise its error."""
    command: Any = typer.main.get_command(cli.app)
    context = None
    name, *arguments = shlex.split(line, comments=True)
    while True:
        context = command.make_context(name, arguments, parent=context)
        if not hasattr(command, "resolve_command"):
            return context.params
        arguments = [*context._protected_args, *context.args]
        name, command, arguments = command.resolve_command(context, arguments)


def is_a_name(line: str) -> bool:
    """Return whether the text is only the name of a command, such as ``gin-rummy match``."""
    command: Any = typer.main.get_command(cli.app)
    for word in line.split()[1:]:
        command = getattr(command, "commands", {}).get(word)
        if command is None:
            return False
    return True


def check_command(line: str) -> None:
    """Check that a command parses and that its bots and experiments exist."""
    if is_a_name(line):
        return
    params = parse_command(line)
    named = [params.get("a"), params.get("b"), *(params.get("bots") or [])]
    for bot in filter(None, named):
        made_by_the_reader = bot.split(":")[0] == "my-bot" or agents.starts_program(bot)
        made_by_the_reader |= ".npz" in bot or "@http" in bot
        if not made_by_the_reader and not specs.parse(bot)[0].endswith(specs.POLICY_ENDINGS):
            agents.make(bot)
    for experiment in params.get("experiments") or []:
        if params.get("list_all"):  # the beginning of some ids
            assert any(name.startswith(experiment) for name in reproduce.EXPERIMENTS), experiment
        else:
            reproduce.find(experiment)


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_every_command_parses(page):
    for line in commands_of(page):
        check_command(line)


def test_invalid_command_is_detected():
    check_command("gin-rummy match")
    for line, message in (
        ("gin-rummy mach", "No such command 'mach'"),
        ("gin-rummy match simple", "Missing parameter: b"),
        ("gin-rummy match simple random --games many", "valid integer"),
        ("python -m research train cfr x.npz --iteration 3", "No such option"),
    ):
        with pytest.raises(Exception, match=message):
            check_command(line)
    with pytest.raises(ValueError, match="unknown bot 'tonik'"):
        check_command("gin-rummy match tonik simple --games 20")
    with pytest.raises(ValueError, match="unknown experiment"):
        check_command("python -m research run 000/claims 000/claim")
    assert "python -m research run 001/claims" in commands_of(ROOT / "docs" / "results" / "paper-001.md")
    assert len(commands_of(ROOT / "docs" / "bots.md")) > 8


@pytest.mark.parametrize("name", stored(ROOT / "research" / "results"))
def test_command_of_every_result_parses(name):
    command = load(ROOT / "research" / "results", name).command
    if command.startswith("gin-rummy "):
        check_command(command)
    else:
        (path,) = re.findall(r"^(?:python ([\w/]+\.py)(?: [a-z-]+)?(?: --.*)?|make .*)$", command)
        assert not path or (ROOT / path).exists()


def test_frozen_readings_are_spelled_out():
    described = rows("docs/bots.md")
    for name in agents.paper_names():
        assert f"`{spell_out_bot(name)}`" in described[name], name


def commits_of(path: Path) -> list[str]:
    """Return the first seven digits of the commits that added or last wrote a file, if they are here.

    With those in which a file with its content appeared under another name.
    """
    git = ["git", "-C", str(ROOT)]
    shallow = subprocess.run([*git, "rev-parse", "--is-shallow-repository"], capture_output=True, text=True)
    if shallow.stdout.strip() != "false":
        return []

    def output(*arguments: str) -> list[str]:
        return subprocess.run([*git, *arguments], capture_output=True, text=True, check=True).stdout.split()

    log = output("log", "--follow", "--diff-filter=AM", "--format=%H", "--", str(path))
    content = output("hash-object", str(path))[0]
    renamed = output("log", f"--find-object={content}", "--format=%H")
    return [commit[:7] for commit in log[:1] + log[-1:] + renamed]


def test_packaged_files_are_listed_with_their_commands():
    listed = rows("docs/estimators.md")
    for path in packaged_files():
        if path.parent.parent.name == "hand_strength":
            continue  # they share one row
        found = description(path)
        row = listed[path.name]
        command = found["command"].replace("gin-rummy train ", "python -m research train ")  # its name today
        assert f"`{command}`" in row, path.name
        if "origin" in found:  # its command now makes a different file
            assert f"| {found['origin']['commit']} |" in row
        else:
            commit = re.findall(r"\| ([0-9a-f]{7}) \|$", row)
            assert commit, path.name
            assert commit[0] in (commits_of(path) or commit), path.name
        for player in found.get("players", []):
            assert f"`{player['bot']}`" in row
