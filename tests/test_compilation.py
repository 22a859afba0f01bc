"""Compiled kernels: a cache that cannot go stale, and no kernel compiled twice."""

from __future__ import annotations

import ast
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import gin_env
from gin_env import compilation


def run_python(code: str, **environment: str) -> str:
    """Run code in a fresh interpreter; what it prints."""
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", code],
        env=os.environ | environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_the_fingerprint_changes_with_any_byte_of_any_source(tmp_path):
    sources = [tmp_path / "one.py", tmp_path / "two.py"]
    sources[0].write_bytes(b"@kernel\ndef one():\n    return 1\n")
    sources[1].write_bytes(b"@kernel\ndef two():\n    return 2\n")
    first = compilation.fingerprint(sources)
    assert re.fullmatch("[0-9a-f]{12}", first)
    assert compilation.fingerprint(sources) == first
    for source in sources:
        content = source.read_bytes()
        for place in range(len(content)):
            changed = bytearray(content)
            changed[place] ^= 1
            source.write_bytes(bytes(changed))
            assert compilation.fingerprint(sources) != first
        source.write_bytes(content)
    assert compilation.fingerprint(sources) == first
    assert compilation.fingerprint(sources[:1]) != first


def test_every_file_with_a_kernel_counts():
    names = {source.name for source in compilation.kernel_sources()}
    assert {"cards.py", "melds.py", "engine.py", "batch.py", "views.py", "observation.py"} <= names
    assert {"simple.py", "random_bots.py"} <= names


def test_every_file_from_which_a_kernel_takes_something_counts():
    """A constant is compiled into the kernel; numba's cache does not notice if it changes in another file."""
    sources = compilation.kernel_sources()
    package = Path(gin_env.__file__).parent
    checked = 0
    for source in sources:
        tree = ast.parse(source.read_text())
        kernels = [
            node
            for node in ast.walk(tree)
            if isinstance(node, ast.FunctionDef)
            and any(isinstance(mark, ast.Name) and mark.id == "kernel" for mark in node.decorator_list)
        ]
        used = {node.id for kernel in kernels for node in ast.walk(kernel) if isinstance(node, ast.Name)}
        for node in ast.walk(tree):
            if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("gin_env."):
                file = package.joinpath(*node.module.split(".")[1:]).with_suffix(".py")
                names = used & {alias.asname or alias.name for alias in node.names} - {"kernel"}
                if names and file.exists():
                    checked += 1
                    assert file in sources, f"kernels of {source.name} take {names} from {node.module}"
    assert checked > 100


def test_the_cache_folder_follows_the_environment_variables(tmp_path):
    code = "from gin_env.compilation import cache_folder; print(cache_folder())"
    stamp = compilation.fingerprint(compilation.kernel_sources())
    folder = Path(run_python(code, GIN_ENV_CACHE=str(tmp_path / "mine")).strip())
    assert folder == tmp_path / "mine" / stamp
    assert folder.is_dir()
    folder = Path(run_python(code, GIN_ENV_CACHE="", XDG_CACHE_HOME=str(tmp_path / "xdg")).strip())
    assert folder == tmp_path / "xdg" / "gin-env" / stamp


def test_a_cache_folder_that_cannot_be_made_is_replaced_by_a_temporary_one(tmp_path):
    (tmp_path / "file").write_text("in the way")
    code = "from gin_env.compilation import cache_folder; print(cache_folder())"
    folder = Path(run_python(code, GIN_ENV_CACHE=str(tmp_path / "file")).strip())
    assert folder.is_dir()
    assert tmp_path not in folder.parents
    shutil.rmtree(folder)


def test_each_batch_kernel_is_compiled_for_exactly_one_signature():
    """In a fresh process, as the other tests may have called kernels with other types."""
    code = """
import numpy as np
from numba.core.registry import CPUDispatcher
from gin_env import Rules, agents, batch, views
from gin_env.agents import random_bots, simple
from gin_env.batch import Games

two_hands = Rules(max_hands=2)
for number, options in ((1, {}), (7, dict(episode="game")), (3, dict(reward="win", rules=two_hands))):
    games = Games(number, **options)
    games.start(games.everyone, np.full(number, 2**64 - 1, np.uint64), np.arange(number, dtype=np.uint64))
    games.set_deck(0, games.state["hidden"]["deck"][0].tolist(), 1)
    games.set_deck(np.int64(0), games.state["hidden"]["deck"][0], np.int64(0))
    for step in range(200):
        waiting = np.flatnonzero(~games.done)
        if not len(waiting):
            break
        games.masks(waiting), games.views(waiting, 0).masks(), games.views(waiting[:1]).observations()
        for player in (0, 1):
            games.observations(waiting, player)
        bot = agents.make(("random", "simple")[step % 2])
        games.play_checked(waiting, bot.act(games.views(waiting)))
for module in (batch, views, random_bots, simple):
    for name, function in vars(module).items():
        if isinstance(function, CPUDispatcher) and function.py_func.__module__ == module.__name__:
            print(module.__name__, name, len(function.signatures))
"""
    lines = [line.split() for line in run_python(code).splitlines()]
    batch_kernels = {name: int(number) for module, name, number in lines if module == "gin_env.batch"}
    called = (
        "_start",
        "_deal",
        "_write_masks",
        "_write_observations",
        "_write_views",
        "_first_illegal",
        "_play",
    )
    assert {name: batch_kernels[name] for name in called} == dict.fromkeys(called, 1)
    several = {f"{module}.{name}": number for module, name, number in lines if int(number) > 1}
    assert several == {}


@pytest.mark.parametrize("name", ["deadwood", "layoff", "best_melds"])
def test_documentation_survives_compilation(name):
    from gin_env import melds

    assert getattr(melds, name).__doc__
    assert melds.min_deadwood.__doc__
