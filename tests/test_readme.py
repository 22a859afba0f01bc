"""The README tells the truth: its code runs, its commands exist, its tables are the generated ones."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

from gin_env import agents
from gin_env.observation import layout_table

ROOT = Path(__file__).parent.parent
README = (ROOT / "README.md").read_text()


def blocks(language: str) -> list[str]:
    return re.findall(rf"```{language}\n(.*?)```", README, re.DOTALL)


@pytest.mark.parametrize("code", blocks("python"), ids=lambda code: code.split("\n")[0])
def test_code_runs_as_a_user_would_run_it(code, tmp_path):
    """Each block alone, in an empty folder, with warnings as errors in our own code's callers."""
    done = subprocess.run(
        [sys.executable, "-W", "error::UserWarning:__main__", "-c", code],
        cwd=tmp_path,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr


def test_there_are_blocks_and_the_first_has_fifteen_lines():
    assert len(blocks("python")) >= 5
    assert len([line for line in blocks("python")[0].splitlines() if line.strip()]) <= 15


def test_the_observation_table_is_generated():
    """`python -c "from gin_env.observation import layout_table; print(layout_table())"` writes it."""
    assert layout_table() in README


def test_every_bot_is_named():
    assert [name for name in agents.names() if f"`{name}`" not in README] == []


def test_make_targets_and_files_exist():
    makefile = (ROOT / "Makefile").read_text()
    for target in re.findall(r"make (\w+)", "\n".join(blocks("bash"))):
        assert f"\n{target}:" in makefile
    for path in re.findall(r"\]\(((?!http)[^)]+)\)", README):
        assert (ROOT / path).exists(), path


def test_commands_are_known():
    for command in re.findall(r"^gin-rummy (\w+)", "\n".join(blocks("bash")), re.MULTILINE):
        done = subprocess.run(
            [sys.executable, "-c", "from gin_env.cli import main; main()", command, "--help"],
            capture_output=True,
            text=True,
        )
        assert done.returncode == 0
        assert "Usage" in done.stdout
