"""Training of CFR tables: seeds, resumption and what the tables are worth."""

from __future__ import annotations

import numpy as np
import pytest
from hands_in_words import Table
from typer.testing import CliRunner

from gin_env import cards, play_match
from gin_env.agents import fitness
from gin_env.agents.cfr import abstractions as cfr_sets
from gin_env.agents.cfr.bot import CfrBot
from gin_env.agents.cfr.table import StrategyTable, packaged_table
from gin_env.support.array_files import ArrayFileError
from research.__main__ import app
from research.recipes.cfr import trainer as cfr_training
from research.recipes.cfr.trainer import CFRSettings, CFRTrainer

ABSTRACTIONS = list(cfr_sets.KINDS)


# --- Every bot ----------------------------------------------------------------------------------------


# --- The four characteristics (paper 000, "Ranking the Fitness of a Card in a Game State") -------------


def characteristics(table: Table, card: str, shown: str = "", discarded: str = "") -> set[str]:
    """Return the names of the card's characteristics; `shown` and `discarded` are the opponent's cards."""
    table.games.state["public"]["shown"][0, 1] = cards.parse(shown)
    table.games.state["public"]["discarded"][0, 1] = cards.parse(discarded)
    view = table.games.views(np.zeros(1, np.int64)).records[0]
    candidates = int(view["private"]["hand"])
    limit = fitness.deadwood_limit(view["public"], view["private"], 0, candidates, False)
    bits = fitness.card_fitness(view["public"], view["private"], 0, cards.card_id(card), limit, 15)
    return {name for index, name in enumerate(fitness.FACTORS) if bits >> index & 1}


# --- Between the stages -------------------------------------------------------------------------------


# --- Training -----------------------------------------------------------------------------------------


# --- Tables -------------------------------------------------------------------------------------------


# --- Strength -----------------------------------------------------------------------------------------


@pytest.mark.long
@pytest.mark.parametrize("abstraction", ABSTRACTIONS)
def test_training_is_deterministic_and_resumes_exactly(abstraction, tmp_path):
    whole = CFRTrainer(CFRSettings(abstraction, seed=3))
    whole.run(60)
    part = CFRTrainer(CFRSettings(abstraction, seed=3))
    part.run(25)
    part.save(tmp_path / "checkpoint.npz")
    resumed = CFRTrainer.resume(tmp_path / "checkpoint.npz")
    assert (resumed.iterations, resumed.settings) == (25, part.settings)
    resumed.run(35)
    for name in ("regrets", "sums"):
        assert np.array_equal(getattr(whole, name), getattr(resumed, name))
    assert (whole.regrets >= 0).all()
    other = CFRTrainer(CFRSettings(abstraction, seed=4))
    other.run(60)
    assert not np.array_equal(whole.sums, other.sums)


def test_invalid_settings_raise():
    with pytest.raises(ValueError, match="unknown abstraction 'papers'; choose from paper"):
        CFRSettings("papers")
    with pytest.raises(ValueError, match="unknown candidates 'most'; choose from least"):
        CFRSettings(candidates="most")
    with pytest.raises(ValueError, match=r"exploration must be from .* not 2"):
        CFRSettings(exploration=2)
    assert CFRSettings("plus").candidates == "near"


@pytest.mark.long
def test_command_line_trains_and_resumes(tmp_path):
    run = CliRunner()
    files = {name: str(tmp_path / f"{name}.npz") for name in ("checkpoint", "whole", "resumed")}
    for arguments in (
        [files["whole"], "--iterations", "40"],
        [files["resumed"], "--iterations", "15", "--checkpoint", files["checkpoint"]],
        [files["resumed"], "--iterations", "40", "--checkpoint", files["checkpoint"], "--resume"],
    ):
        done = run.invoke(app, ["train", "cfr", *arguments])
        assert done.exit_code == 0, done.output
    tables = [StrategyTable.load(files[name]) for name in ("whole", "resumed")]
    assert np.array_equal(tables[0].strategy, tables[1].strategy)
    assert tables[0].metadata == tables[1].metadata
    assert tables[0].metadata["iterations"] == 40
    with pytest.raises(ValueError, match="needs a checkpoint"):
        cfr_training.train_table(10, resume=True)
    with pytest.raises(FileNotFoundError, match="there is no checkpoint"):
        cfr_training.train_table(10, resume=True, checkpoint=tmp_path / "nothing.npz")
    with pytest.raises(ValueError, match="has done 40 iterations, more than 10"):
        cfr_training.train_table(10, resume=True, checkpoint=tmp_path / "checkpoint.npz")
    done = run.invoke(app, ["train", "cfr", str(tmp_path / "none.npz"), "--iterations", "-5"])
    assert "iterations must be from" in str(done.exception)
    assert not (tmp_path / "none.npz").exists()
    (tmp_path / "checkpoint.npz").write_bytes(b"PK not a checkpoint")
    with pytest.raises(ArrayFileError, match="not a file of kind 'checkpoint', or is damaged"):
        CFRTrainer.resume(tmp_path / "checkpoint.npz")


@pytest.mark.compiled
def test_trained_table_beats_a_shuffled_and_an_empty_one():
    table = packaged_table("paper")
    shuffled = CfrBot(table.shuffled(1))
    untrained = CfrBot(StrategyTable(np.full(len(table.strategy), -1.0), table.metadata))
    trained = CfrBot(table)
    assert play_match(trained, shuffled, games=1000, seed=1).interval[0] > 0.55
    assert play_match(trained, untrained, games=1000, seed=1).interval[0] > 0.55
    assert untrained.hit_rate == 0
    assert trained.hit_rate > 0.999
    assert np.array_equal(np.sort(shuffled.table.strategy), np.sort(table.strategy))
