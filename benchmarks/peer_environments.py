"""The other libraries: what each needs, and a virtual environment of its own in benchmarks/.venvs."""

from __future__ import annotations

import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

HERE = Path(__file__).parent
ENVIRONMENTS = HERE / ".venvs"


class Peer(NamedTuple):
    """A library to compare with."""

    title: str
    script: str
    requirements: tuple[str, ...]
    training_requirements: tuple[str, ...] = ()
    """Only for measuring SB3 training; torch is large."""


PEERS = {
    "openspiel": Peer("OpenSpiel", "openspiel_games.py", ("open_spiel==2.0.2", "numpy")),
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
    """The Python of a peer's virtual environment, made and filled on first use.

    A mark in the environment says what was installed; other requirements make it anew. Raises
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
    _run([str(python), "-m", "pip", "install", "--quiet", "--disable-pip-version-check", *wanted])
    mark.write_text("\n".join(wanted) + "\n")
    return python


def _run(command: list[str]) -> None:
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        lines = (done.stderr or done.stdout).strip().splitlines() or [f"exit status {done.returncode}"]
        errors = [line for line in lines if "error" in line.lower()] or lines
        raise PeerUnavailableError(f"could not be installed: {errors[-1]}")


def packages(python: Path | str) -> dict[str, str]:
    """Versions of what the comparison is about, as installed in that Python."""
    code = (
        "import importlib.metadata as m, json, platform\n"
        "names = 'gin-env numpy numba gymnasium pettingzoo open_spiel rlcard pgx jax torch sb3-contrib'.split()\n"
        "found = {'python': platform.python_version()}\n"
        "for name in names:\n"
        "    try: found[name] = m.version(name)\n"
        "    except m.PackageNotFoundError: pass\n"
        "print(json.dumps(found))"
    )
    import json

    done = subprocess.run([str(python), "-c", code], capture_output=True, text=True, check=True)
    return json.loads(done.stdout)
