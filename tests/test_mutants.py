"""The tools of mutation testing: what the operators change, and that uncompiled kernels are the same game."""

from __future__ import annotations

import ast
import hashlib
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from mutants.guards import ALSO_COMPILED, EQUIVALENT, GUARDS
from mutants.operators import mutants

from gin_env import agents
from gin_env.batch import Games

pytestmark = pytest.mark.compiled

TESTS = Path(__file__).parent

SOURCE = '''"""Text, 1 < 2."""
from a import b


def f(x: int = 0) -> int:
    y = x + 1  # ä
    if not x <= 3 and y:
        y |= -x
        g(y)
    elif x in (5.5, True):
        raise ValueError(f"{x + 1} is wrong")
    return y
'''


def test_every_operator_makes_its_change_and_no_other():
    became = {(mutant.line, mutant.old, mutant.new) for mutant in mutants(SOURCE)}
    assert became == {
        (6, "y = x + 1", "pass"), (6, "+", "-"), (6, "1", "(2)"), (6, "1", "(0)"),
        (7, "not x <= 3 and y", "not (not x <= 3 and y)"), (7, "and", "or"), (7, "not x <= 3", "x <= 3"),
        (7, "<=", "<"), (7, "3", "(4)"), (7, "3", "(2)"),
        (8, "y |= -x", "pass"), (8, "|=", "&="), (8, "-x", "x"), (9, "g(y)", "pass"),
        (10, "x in (5.5, True)", "not (x in (5.5, True))"), (10, "in", "not in"),
        (10, "5.5", "(5.5 + 1)"), (10, "True", "False"),
    }  # fmt: skip


@pytest.mark.parametrize("module", GUARDS)
def test_mutants_of_the_modules_are_python_and_have_names_of_their_own(module):
    source = (TESTS.parent / module).read_text()
    found = mutants(source)
    assert len({mutant.name for mutant in found}) == len(found) > 5
    for mutant in found[::7]:
        changed = mutant.apply(source)
        ast.parse(changed)
        assert source[mutant.start : mutant.end] == mutant.old
        assert changed != source


@pytest.mark.parametrize("guards", [GUARDS, ALSO_COMPILED])
def test_the_tests_that_guard_a_module_exist(guards):
    for names in guards.values():
        for name in names.split():
            assert (TESTS / f"test_{name}.py").exists(), name


@pytest.mark.parametrize("module", EQUIVALENT)
def test_mutants_that_are_said_to_be_equivalent_are_made(module):
    """A line that has changed since its mutant was argued has to be argued again."""
    pytest.importorskip("resource", reason="run.py limits processor time, which Windows cannot")
    from mutants.run import changed_line

    source = (TESTS.parent / module).read_text()
    assert set(EQUIVALENT[module]) <= {changed_line(source, mutant) for mutant in mutants(source)}


def play_and_hash() -> str:
    """A digest of all that is in the records after five games of two Simple players."""
    games = Games(5, episode="game")
    games.start(games.everyone, np.full(5, 3, np.uint64), np.arange(5, dtype=np.uint64))
    simple = agents.make("simple")
    for _ in range(60):
        games.play(games.everyone, simple.act(games.views(games.everyone)))
    texts = [str(games.state[name].tolist()) for name in games.state.dtype.names]
    return hashlib.sha256("".join(texts).encode()).hexdigest()


def test_uncompiled_kernels_play_the_same_games():
    script = "import mutants.interpreted; from test_mutants import play_and_hash; print(play_and_hash())"
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, cwd=TESTS,
        env={"PYTHONPATH": f"{TESTS.parent}:{TESTS}", "PATH": ""},
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip() == play_and_hash()
