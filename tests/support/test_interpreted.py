"""Uncompiled kernels play the same games as compiled ones."""

from __future__ import annotations

import hashlib
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from gin_env import Games, agents

pytestmark = pytest.mark.compiled

HERE = Path(__file__).parent


def play_and_hash() -> str:
    """Return a digest of all records and observations after some turns of Simple in five games."""
    games = Games(5, episode="game")
    games.start(games.everyone, np.full(5, 3, np.uint64), np.arange(5, dtype=np.uint64))
    simple = agents.make("simple")
    for _ in range(60):
        games.play(games.everyone, simple.act(games.views(games.everyone)))
        seen = games.observations(games.everyone, 0), *games.candidates(games.everyone)
    texts = [str(games.state[name].tolist()) for name in games.state.dtype.names]
    texts += [str(array.tolist()) for array in seen]
    return hashlib.sha256("".join(texts).encode()).hexdigest()


def test_uncompiled_kernels_play_the_same_games():
    script = "import interpreted; from test_interpreted import play_and_hash; print(play_and_hash())"
    done = subprocess.run(
        [sys.executable, "-c", script],
        capture_output=True,
        text=True,
        cwd=HERE,
        env={"PYTHONPATH": f"{HERE.parents[1]}:{HERE}", "PATH": ""},
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip() == play_and_hash()
