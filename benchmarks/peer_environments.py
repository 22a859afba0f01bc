"""The other libraries, their requirements, and a virtual environment for each in benchmarks/.venvs."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

HERE = Path(__file__).parent
ENVIRONMENTS = HERE / ".venvs"
QUIETLY = ("--quiet", "--disable-pip-version-check")
PATIENCE = 3600
"""Time limit in seconds for one step of an installation."""


class Peer(NamedTuple):
    """A library to compare with."""

    title: str
    script: str
    requirements: tuple[str, ...]
    training_requirements: tuple[str, ...] = ()
    """Only for measuring SB3 training; torch is large."""
    compiled: str = ""
    """Folder in `peers` with a CMake project that is built from the sources of the first requirement."""


PEERS = {
    "openspiel": Peer("OpenSpiel", "openspiel_games.py", ("open_spiel==2.0.2", "numpy")),
    "openspiel_cpp": Peer(
        "OpenSpiel in C++", "openspiel_cpp_games.py", ("open_spiel==2.0.2",), compiled="openspiel_cpp"
    ),
    "rlcard": Peer("RLCard", "rlcard_games.py", ("rlcard==1.2.0",)),
    "pettingzoo": Peer(
        "PettingZoo 1.26",
        "pettingzoo_games.py",
        ("pettingzoo[classic]==1.26.1",),
        ("torch==2.13.0", "stable-baselines3==2.9.2", "sb3-contrib==2.9.2"),
    ),
    "pgx": Peer("pgx (other games)", "pgx_games.py", ("pgx==2.6.0", "jax[cpu]==0.10.2")),
}


class PeerUnavailableError(Exception):
    """A peer cannot be measured here; the message says why."""


def ensure(
    name: str, training: bool, say: Callable[[str], object], environments: Path = ENVIRONMENTS
) -> Path:
    """Return the Python of a peer's virtual environment, which is made on first use.

    A mark in the environment says what was installed; if the requirements differ it is made again. Raises
    PeerUnavailableError if that fails.
    """
    peer = PEERS[name]
    wanted = [*peer.requirements, *(peer.training_requirements if training else ())]
    folder = environments / name
    python = folder / "bin" / "python"
    mark = folder / "installed.txt"
    installed = mark.read_text().split() if mark.exists() and python.exists() else []
    if set(wanted) <= set(installed):
        return python
    say(f"{name}: installing {', '.join(wanted)} into {folder}")
    if not set(installed) <= set(wanted) or not installed:
        shutil.rmtree(folder, ignore_errors=True)
        _run([sys.executable, "-m", "venv", str(folder)])
    if peer.compiled:
        _compile(peer, python, folder)
    else:
        _run([str(python), "-m", "pip", "install", *QUIETLY, *wanted])
    mark.write_text("\n".join(wanted) + "\n")
    return python


def _compile(peer: Peer, python: Path, folder: Path) -> None:
    """Fetch the source distribution, which holds all that it needs, and build the peer's CMake project."""
    for tool in ("cmake", "c++"):
        if shutil.which(tool) is None:
            raise PeerUnavailableError(f"could not be compiled: there is no {tool}")
    archives, source, build = folder / "archives", folder / "source", folder / "build"
    # Preparing its metadata needs only setuptools, newer than what comes with Python; pip builds nothing.
    _run([str(python), "-m", "pip", "install", *QUIETLY, "--upgrade", "setuptools", "wheel"])
    fetch = ["download", *QUIETLY, "--no-deps", "--no-binary", ":all:", "--no-build-isolation"]
    _run([str(python), "-m", "pip", *fetch, "--dest", str(archives), peer.requirements[0]])
    source.mkdir()
    _run(["tar", "-xzf", str(next(archives.iterdir())), "-C", str(source), "--strip-components", "1"])
    project = HERE / "peers" / peer.compiled
    _run(["cmake", "-S", str(project), "-B", str(build), f"-DSOURCE={source.resolve()}"])
    _run(["cmake", "--build", str(build), "--parallel", str(os.cpu_count() or 1)])


def _run(command: list[str]) -> None:
    try:
        done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=PATIENCE)
    except subprocess.TimeoutExpired as error:
        raise PeerUnavailableError(f"could not be installed: {command[0]} took over {PATIENCE} s") from error
    if done.returncode:
        lines = (done.stderr or done.stdout).strip().splitlines() or [f"exit status {done.returncode}"]
        errors = [line for line in lines if "error" in line.lower()] or lines
        raise PeerUnavailableError(f"could not be installed: {errors[-1]}")


def packages(python: Path | str) -> dict[str, str]:
    """Return the versions of the compared packages installed in a Python."""
    code = (
        "import importlib.metadata as m, json, platform\n"
        "names = 'gin-env numpy numba gymnasium pettingzoo "
        "open_spiel rlcard pgx jax torch sb3-contrib'.split()\n"
        "found = {'python': platform.python_version()}\n"
        "for name in names:\n"
        "    try: found[name] = m.version(name)\n"
        "    except m.PackageNotFoundError: pass\n"
        "print(json.dumps(found))"
    )
    import json

    done = subprocess.run([str(python), "-c", code], capture_output=True, text=True, check=True)
    return json.loads(done.stdout)
