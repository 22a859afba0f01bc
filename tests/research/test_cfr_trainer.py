"""CFR training runs with stubbed iterations: steps, tables, checkpoints and resuming."""

from __future__ import annotations

import numpy as np
import pytest

from gin_env import agents
from gin_env.agents.cfr.strategy import CANDIDATES, KINDS, number_of_sets
from gin_env.support.array_files import ArrayFileError
from research.recipes.cfr import trainer
from research.recipes.cfr.trainer import CFRSettings, CFRTrainer, train_table


@pytest.fixture
def done(monkeypatch) -> list[tuple]:
    """Record (first, last, seed, exploration, kind, candidates) of each part; each part adds to set 7."""
    parts: list[tuple] = []

    def iterate(states, first, last, seed, exploration, strategy, regrets, sums):
        assert len(states) == 2
        assert states["public"]["rules"]["hand_size"].tolist() == [10, 10]
        total = regrets[5].sum()
        assert strategy.probabilities[5] == (regrets[5, 0] / total if total else 0.5)
        parts.append((first, last, seed, exploration, strategy.abstraction, strategy.candidates))
        sums[7] += (last - first) / 4, last - first

    monkeypatch.setattr(trainer, "iterate_many", iterate)
    return parts


def test_iterations_run_in_steps_and_continue_the_count(done):
    run, seen = CFRTrainer(CFRSettings("plus", seed=4, exploration=0.25)), []
    run.regrets[5] = 1.0, 3.0
    run.run(450, seen.append)
    run.run(10)
    rest = 4, 0.25, KINDS["plus"], CANDIDATES["near"]
    assert done == [(0, 200, *rest), (200, 400, *rest), (400, 450, *rest), (450, 460, *rest)]
    assert seen == [200, 200, 50]
    assert run.iterations == 460
    for wrong in (0, -1):
        with pytest.raises(ValueError, match="iterations"):
            run.run(wrong)


def test_table_has_averages_and_minus_one_for_unvisited_sets(done):
    run = CFRTrainer()
    run.run(1)
    assert run.table().strategy[7] == 0.25, "what the first iteration alone has visited counts"
    run.run(7)
    table = run.table("the command")
    assert table.strategy[7] == 0.25
    assert (np.delete(table.strategy, 7) == -1).all()
    assert len(table.strategy) == number_of_sets(KINDS["paper"])
    described = {"abstraction": "paper", "candidates": "least", "seed": 1, "exploration": 0.1}
    assert (described | {"iterations": 8, "command": "the command"}).items() <= table.metadata.items()


def test_candidates_default_to_those_of_the_abstraction():
    assert [CFRSettings(name).candidates for name in KINDS] == ["least", "near", "least"]
    assert CFRSettings("plus", "all").which == CANDIDATES["all"]
    assert CFRSettings("plus").which == CANDIDATES["near"]
    for wrong in (
        {"exploration": -0.1},
        {"exploration": 1.1},
        {"seed": -1},
        {"abstraction": "no"},
        {"rules": "no"},
    ):
        with pytest.raises(ValueError, match=next(iter(wrong))):
            CFRSettings(**wrong)


def test_run_resumes_from_its_checkpoint(done, tmp_path, monkeypatch):
    path, seen = tmp_path / "checkpoint.npz", []
    train_table(30, CFRSettings("plus", "all", seed=9, exploration=0.5), checkpoint=path)
    again = CFRTrainer.resume(path)
    assert (again.iterations, again.settings) == (30, CFRSettings("plus", "all", 9, 0.5))
    assert again.sums[7].tolist() == [7.5, 30]
    table = train_table(50, checkpoint=path, resume=True, progress=seen.append)
    assert agents.make("cfr-plus", table=table).candidates == "all"
    assert seen == [30, 20]
    assert [part[:2] for part in done] == [(0, 30), (30, 50)]
    assert done[1][2:] == done[0][2:] == (9, 0.5, KINDS["plus"], CANDIDATES["all"])
    assert CFRTrainer.resume(path).iterations == table.metadata["iterations"] == 50
    assert (
        "plus.npz --iterations 50 --seed 9 --abstraction plus --candidates all" in table.metadata["command"]
    )
    train_table(50, checkpoint=path, resume=True)
    assert len(done) == 2, "nothing is left to do"
    with pytest.raises(ValueError, match="has done 50 iterations, more than 49"):
        train_table(49, checkpoint=path, resume=True)
    with pytest.raises(ValueError, match="needs a checkpoint"):
        train_table(50, resume=True)
    with pytest.raises(ValueError, match="iterations"):
        train_table(0)
    trainer.CHECKPOINT.write(
        path,
        {"regrets": np.zeros((3, 2)), "sums": np.zeros((3, 2))},
        {"abstraction": "plus", "candidates": "all", "seed": 9, "exploration": 0.5, "iterations": 1},
    )
    with pytest.raises(ArrayFileError, match="of another abstraction"):
        CFRTrainer.resume(path)


@pytest.mark.parametrize("seconds", [60, 61])
def test_checkpoints_are_written_once_a_minute_and_at_the_end(seconds, done, tmp_path, monkeypatch):
    """The clock advances by `seconds` each time it is read."""
    clock = iter(range(0, 100 * seconds, seconds))
    monkeypatch.setattr(trainer.time, "monotonic", lambda: next(clock))
    written = []
    monkeypatch.setattr(CFRTrainer, "save", lambda self, path: written.append(self.iterations))
    train_table(450, checkpoint=tmp_path / "x.npz")
    assert written[-1] == 450
    assert (200 in written) == (seconds > 60)
