"""The cache of compiled kernels: keys, damaged files, permissions and concurrent writers."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from python_programs import run_python
from typer.testing import CliRunner

import gin_env
from gin_env.cli import app
from gin_env.support import kernel_cache

pytestmark = [pytest.mark.compiled, pytest.mark.long]


def output_of(code: str, **environment: str) -> str:
    """Run code without warnings in a fresh interpreter and return its output."""
    return run_python("-W", "error", "-c", code, **environment).stdout


def copy_package(folder: Path) -> None:
    """Copy the code of the package into a folder."""
    ignored = shutil.ignore_patterns("__pycache__", "data")
    shutil.copytree(gin_env.__path__[0], folder / "gin_env", ignore=ignored)


# --- Keys -----------------------------------------------------------------------------------------------


def test_constant_two_imports_away_is_never_stale(tmp_path):
    """Constants are compiled into kernels; numba's own cache notices only the kernel's file."""
    package, cache = tmp_path / "mine", tmp_path / "cache"
    package.mkdir()
    (package / "__init__.py").touch()
    (package / "limits.py").write_text("from mine import constants\n\nLIMIT = constants.MOST + 1\n")
    (package / "kernels.py").write_text(
        "from gin_env.support.compilation import kernel\n"
        "from mine.limits import (\n    LIMIT,\n)\n\n@kernel\ndef limit():\n    return LIMIT\n"
    )
    compiled = []
    for most in (3, 3, 5):
        (package / "constants.py").write_text(f"MOST = {most}\n")
        run_kernel(cache, "from mine.kernels import limit; print(limit())", f"{most + 1}\n")
        compiled.append(len(list(cache.rglob("*.nbc"))))
    assert compiled == [1, 1, 2]


FORMS_OF_IMPORT = """
import mine.inner.limits
import os as system, mine.inner.limits as bounds
import limits_apart
from mine.inner import limits
from mine.inner.limits import *
from mine.inner.limits import (LIMIT as most,)
from . import limits
from .limits import LIMIT
from ..inner import limits
"""


def test_every_form_of_import_is_followed(tmp_path):
    inner = tmp_path / "mine" / "inner"
    inner.mkdir(parents=True)
    for package in (inner, inner.parent):
        (package / "__init__.py").touch()
    for folder, name in ((inner, "limits.py"), (tmp_path, "limits_apart.py")):
        (folder / name).write_text("LIMIT = 3\n")
    forms = FORMS_OF_IMPORT.strip().splitlines()
    for number, form in enumerate(forms):
        (inner / f"kernels_{number}.py").write_text(f"{form}\n")
    code = (
        "import mine, limits_apart; from gin_env.support.kernel_cache import sources; "
        f"found = [sources(f'mine.inner.kernels_{{n}}') for n in range({len(forms)})]; "
        "print([any(file.name.startswith('limits') for file in files) for files in found])"
    )
    assert output_of(code, PYTHONPATH=str(tmp_path)) == f"{[True] * len(forms)}\n"


def test_kernel_without_a_file_is_compiled_in_every_process(tmp_path):
    """Nothing tells the functions of two interactive sessions apart."""
    code = (
        "from gin_env.support.compilation import kernel\n@kernel\ndef most():\n    return {}\nprint(most())"
    )
    for number in (3, 4):
        run_kernel(tmp_path, code.format(number), f"{number}\n")


def test_edit_to_a_bot_compiles_that_bot_only(tmp_path):
    copy, cache = tmp_path / "copy", tmp_path / "cache"
    copy_package(copy)
    code = (
        "from gin_env.game.cards import count_cards; from gin_env.agents.marjj import for_run; "
        "print(count_cards(7), for_run(9, 20.0))"
    )
    cache.mkdir()
    environment = {"PYTHONPATH": str(copy)}
    printed = output_of(code, GIN_ENV_CACHE=str(cache), **environment)
    before = {file.name for file in cache.rglob("*.nbi")}
    bot = copy / "gin_env" / "agents" / "marjj.py"
    bot.write_text(bot.read_text() + "\nEDITED = True\n")
    run_kernel(cache, code, printed, **environment)
    added = {file.name for file in cache.rglob("*.nbi")} - before
    assert added
    assert all("gin_env.agents.marjj" in name for name in added)


@pytest.mark.parametrize("bot", ["simple", "tonic"])
def test_kernels_of_a_bot_depend_on_the_rules_but_on_no_other_bot(bot):
    folder = Path(gin_env.__path__[0])
    files = {file.relative_to(folder).as_posix() for file in kernel_cache.sources(f"gin_env.agents.{bot}")}
    assert files >= {f"agents/{bot}.py", "game/engine.py", "game/rules.py", "game/cards.py", "game/state.py"}
    assert not files & {"agents/marjj.py", "agents/cfr/bot.py", "agents/__init__.py"}


def test_cache_folder_follows_the_environment_variables(tmp_path):
    code = "from gin_env.support.kernel_cache import cache_folder; print(cache_folder())"
    folder = Path(output_of(code, GIN_ENV_CACHE=str(tmp_path / "mine")).strip())
    assert folder == tmp_path / "mine" / FOLDER
    assert folder.is_dir()
    folder = Path(output_of(code, GIN_ENV_CACHE="", XDG_CACHE_HOME=str(tmp_path / "xdg")).strip())
    assert folder == tmp_path / "xdg" / "gin-env" / FOLDER
    folder = Path(output_of(code, GIN_ENV_CACHE="", XDG_CACHE_HOME="", HOME=str(tmp_path)).strip())
    assert folder == tmp_path / ".cache" / "gin-env" / FOLDER


def test_missing_cache_folder_compiles_for_the_process(tmp_path):
    (tmp_path / "file").write_text("in the way")
    assert run_kernel(tmp_path / "file") == [COMPILING.format("not kept")]


# --- Damaged, foreign and full caches -------------------------------------------------------------------

ONE_KERNEL = "from gin_env.game.cards import count_cards; print(count_cards(7))"
FOLDER = kernel_cache.cache_folder().name
"""Below the folder of the cache."""
AGAIN = "gin-env: damaged kernels in {} are compiled again"
COMPILING = "gin-env: compiling what is used for the first time (about 20 seconds on an idle core; {})"


def run_kernel(cache: Path, code: str = ONE_KERNEL, printed: str = "3\n", **environment: str) -> list[str]:
    """Compile and call small kernels with this cache, and return the lines on stderr."""
    folder = cache.parent  # Python imports from here first
    done = run_python("-c", code, cwd=folder, GIN_ENV_CACHE=str(cache), **environment)
    assert done.stdout == printed, done.stderr
    return done.stderr.splitlines()


EIGHT_KERNELS = """
from gin_env.game.cards import card_bit, count_cards, deck_cards, lowest_card, total_value
from gin_env.game.streams import below, episode_key, mix
print(card_bit(3), count_cards(7), deck_cards(1, 4), lowest_card(12), total_value(3))
print(below(1 << 63, 10), episode_key(1, 2, 3) == episode_key(1, 2, 3), mix(1, 2) == mix(1, 3))
"""
THEIR_RESULTS = "8 3 549822930945 2 3\n5 True False\n"


DAMAGES = {
    "card_bit*.nbi": lambda content: content[: len(content) // 2],
    "count_cards*.nbc": lambda content: content[: len(content) // 2],
    "deck_cards*.nbi": lambda content: b"",
    "lowest_card*.nbc": lambda content: b"",
    "total_value*.nbi": lambda content: bytes(range(256)) * (len(content) // 256 + 1),
    "below*.nbc": lambda content: bytes(range(256)) * (len(content) // 256 + 1),
}


def test_damaged_kernels_are_recompiled_with_one_message(tmp_path):
    """Six kernels, each damaged in a different way, are loaded by one process."""
    assert ["compiling" in line for line in run_kernel(tmp_path, EIGHT_KERNELS, THEIR_RESULTS)] == [True]
    assert run_kernel(tmp_path, EIGHT_KERNELS, THEIR_RESULTS) == []
    damaged = {}
    for pattern, damage in DAMAGES.items():
        (file,) = tmp_path.rglob(f"*.{pattern}")
        damaged[file] = damage(file.read_bytes())
        file.write_bytes(damaged[file])
    first, second = run_kernel(tmp_path, EIGHT_KERNELS, THEIR_RESULTS)
    assert first == AGAIN.format(tmp_path / FOLDER)
    assert "compiling" in second
    assert [file.name for file, content in damaged.items() if file.read_bytes() == content] == []
    assert run_kernel(tmp_path, EIGHT_KERNELS, THEIR_RESULTS) == []


def test_kernel_for_other_types_is_recompiled(tmp_path):
    """Processes that fill a cache in parallel may give code for different types the same name."""
    code = "import numpy; from gin_env.game.cards import card_bit as bit; print(bit(3), bit(numpy.uint8(4)))"
    run_kernel(tmp_path, code, "8 16\n")
    one, other = sorted(tmp_path.rglob("*.card_bit*.nbc"))
    one.write_bytes(other.read_bytes())
    first, second = run_kernel(tmp_path, code, "8 16\n")
    assert first == AGAIN.format(tmp_path / FOLDER)
    assert "compiling" in second
    assert run_kernel(tmp_path, code, "8 16\n") == []


@pytest.mark.skipif(os.name != "posix", reason="other systems have other rights")
@pytest.mark.parametrize("change", ["rights", "owner"])
def test_cache_that_others_can_write_is_refused(tmp_path, change):
    """Anyone able to write to the cache could run code as its owner."""
    if change == "owner" and os.getuid() != 0:
        pytest.skip("only root may give folders away")
    folder = tmp_path / FOLDER
    folder.mkdir()
    folder.chmod(0o777 if change == "rights" else 0o755)
    if change == "owner":
        os.chown(folder, 65534, -1)
    first, second = run_kernel(tmp_path)
    assert first.startswith(f"gin-env: kernels are not cached in {folder}, because other users can write")
    assert "GIN_ENV_CACHE" in first
    assert second == COMPILING.format("not kept")
    assert not list(folder.iterdir())


def test_cache_is_private_for_any_umask(tmp_path):
    run_kernel(tmp_path / "new", "import os; os.umask(0); " + ONE_KERNEL)
    assert (tmp_path / "new" / FOLDER).stat().st_mode & 0o777 == 0o700
    assert run_kernel(tmp_path / "new") == []


LIMIT = """
import resource, signal
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (200, 200))
"""
"""A full disk, simulated by a limit on the size of files."""


def test_full_disk_prints_one_line_without_an_error(tmp_path):
    lines = run_kernel(tmp_path, LIMIT + ONE_KERNEL, PYTHONDONTWRITEBYTECODE="1")
    assert [line for line in lines if "compiling" not in line] == [
        f"gin-env: compiled kernels cannot be cached in {tmp_path / FOLDER}: File too large"
    ]


def test_installations_in_different_folders_share_kernels(tmp_path):
    """Kernels are stored under their module names, so another copy of the package compiles nothing."""
    cache, copy = tmp_path / "cache", tmp_path / "other"
    run_kernel(cache)
    copy_package(copy)
    code = "import gin_env; print(gin_env.__file__); " + ONE_KERNEL
    printed = f"{copy / 'gin_env' / '__init__.py'}\n3\n"
    assert run_kernel(cache, code, printed, PYTHONPATH=str(copy)) == []


@pytest.mark.skipif(os.name != "posix" or os.getuid() != 0, reason="only root can become somebody else")
def test_kernels_compiled_by_root_serve_other_users(tmp_path):
    """As in a container: the cache is filled at build time and read by another user."""
    code = (
        "import os; from gin_env.game.cards import card_bit, count_cards, lowest_card; print(card_bit(3)); "
    )
    run_kernel(tmp_path, code + "print(count_cards(7))", "8\n3\n")
    kernel_cache.open_to_readers(tmp_path / FOLDER)
    for place in tmp_path.parents:  # pytest makes it private
        if place.stat().st_mode & 0o777 == 0o700:
            place.chmod(0o711)
    code += "os.setgid(65534); os.setuid(65534); print(count_cards(7)); "  # after the imports
    assert run_kernel(tmp_path, code, "8\n3\n") == []
    first, second = run_kernel(tmp_path, code + "print(lowest_card(12))", "8\n3\n2\n")
    assert first.endswith("not kept)")
    assert second == f"gin-env: compiled kernels cannot be cached in {tmp_path / FOLDER}: Permission denied"


@pytest.mark.parametrize("limit", ["", LIMIT], ids=["kept", "full disk"])
def test_concurrent_compilations_leave_a_valid_cache(tmp_path, limit):
    environment = os.environ | {"GIN_ENV_CACHE": str(tmp_path), "PYTHONDONTWRITEBYTECODE": "1"}
    command = [sys.executable, "-c", limit + EIGHT_KERNELS]
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE}  # the limit would also apply to files
    pair = [subprocess.Popen(command, env=environment, text=True, **pipes) for _ in range(2)]
    assert [process.communicate()[0] for process in pair] == [THEIR_RESULTS] * 2
    if limit:
        run_kernel(tmp_path, EIGHT_KERNELS, THEIR_RESULTS)
    assert run_kernel(tmp_path, EIGHT_KERNELS, THEIR_RESULTS) == []


@pytest.mark.parametrize("options", [[], ["--for-everyone"]])
def test_compile_command_opens_the_cache_to_others_only_on_request(monkeypatch, options):
    opened, used = [], []
    monkeypatch.setattr("gin_env.commands.files.parts", lambda: ["part"])
    monkeypatch.setattr("gin_env.commands.files.use", used.append)
    monkeypatch.setattr(kernel_cache, "open_to_readers", opened.append)
    assert CliRunner().invoke(app, ["compile", *options]).exit_code == 0
    assert opened == [kernel_cache.cache_folder()] * len(options)
    assert used == ["part"]


def test_compile_command_needs_a_place_for_the_cache(monkeypatch):
    monkeypatch.setattr("gin_env.commands.files.parts", lambda: pytest.fail("compiled, but not kept"))
    monkeypatch.setattr(kernel_cache, "cache_folder", lambda: None)
    done = CliRunner().invoke(app, ["compile"])
    assert isinstance(done.exception, OSError)
    assert "set GIN_ENV_CACHE" in str(done.exception)


def test_compile_command_leaves_nothing_to_compile(tmp_path):
    done = run_python("-m", "gin_env", "compile", GIN_ENV_CACHE=str(tmp_path))
    assert done.stdout == f"compiled; cached in {tmp_path / FOLDER}\n"
    code = """
import gymnasium, gin_env
from gin_env import agents, gin_rummy_v0, play_match
env = gin_rummy_v0.env()
env.reset(seed=3)
for agent in env.agent_iter(30):
    observation, reward, terminated, truncated, info = env.last()
    env.step(None if terminated or truncated else env.action_space(agent).sample(observation["action_mask"]))
envs = gymnasium.make_vec("gin_env/GinRummy-v0", num_envs=3, opponent="tonic", episode="game")
observations, infos = envs.reset(seed=4)
for _ in range(200):
    observations, *_ = envs.step(observations["action_mask"].argmax(axis=1))
for name in agents.names():
    play_match(name, "tonic", 2, seed=5, episode="hand")
"""
    assert run_kernel(tmp_path, code, "") == []
