"""Training of CFR tables: seeds, resumption and what the tables are worth."""

from __future__ import annotations

import numpy as np
import pytest
from hands_in_words import Table
from typer.testing import CliRunner

from gin_env import cards, play_match
from gin_env.agents import fitness
from gin_env.agents.cfr import paper_sets
from gin_env.agents.cfr import strategy as cfr_sets
from gin_env.agents.cfr.bot import CfrBot, StrategyTable, packaged_table
from gin_env.support.array_files import ArrayFileError
from research.__main__ import app
from research.papers.gallucci2021 import stages
from research.papers.gallucci2021.fitness import shuffled as shuffled_table
from research.recipes.cfr import trainer as cfr_training
from research.recipes.cfr.trainer import CFRSettings, CFRTrainer

ABSTRACTIONS = list(cfr_sets.KINDS)


# --- Every bot ----------------------------------------------------------------------------------------


# --- The four characteristics (Gallucci et al. 2021, "Ranking the Fitness of a Card") --------


def characteristics(table: Table, card: str, shown: str = "", discarded: str = "") -> set[str]:
    """Return the names of the card's characteristics; `shown` and `discarded` are the opponent's cards."""
    table.games.state["public"]["shown"][0, 1] = cards.parse(shown)
    table.games.state["public"]["discarded"][0, 1] = cards.parse(discarded)
    view = table.games.views(np.zeros(1, np.int64)).array[0]
    candidates = int(view["private"]["hand"])
    limit = fitness.deadwood_limit(view["public"], view["private"], 0, candidates, False)
    bits = fitness.card_fitness(view["public"], view["private"], 0, cards.card_id(card), limit, 15)
    return {name for index, name in enumerate(fitness.FACTORS) if bits >> index & 1}


# --- Between the stages -------------------------------------------------------------------------------


def test_stages_are_weighted_by_the_cards_dealt():
    hard = stages.stage_weights("hard")
    assert [int(row.argmax()) for row in hard] == [0] * 11 + [1] * 10 + [
        2
    ] * 10  # 20 to 30, 31 to 40, 41 to 50
    for mapping in stages.MAPPINGS:
        weights = stages.stage_weights(mapping)
        np.testing.assert_allclose(weights.sum(axis=1), 1)
        assert (weights >= 0).all()
        assert weights[[0, 5, 30]].tolist() == [[1, 0, 0], [1, 0, 0], [0, 0, 1]]
    linear, harmonic = stages.stage_weights("linear"), stages.stage_weights("harmonic")
    assert linear[30 - 20] == pytest.approx([5.5 / 10.5, 5 / 10.5, 0])
    assert harmonic[30 - 20][0] == pytest.approx(5.5 * 26 / (10.5 * 31))  # (B - x)(1 + A) / ((B - A)(1 + x))
    assert linear[40 - 20] == pytest.approx([0, 0.55, 0.45])


@pytest.mark.compiled
def test_hard_stages_equal_the_papers_bot_and_others_differ():
    def match(table):
        result = play_match(CfrBot(table), "random", games=100, seed=2)
        return result.points, result.turns

    hard, linear = (stages.interpolate(packaged_table("paper"), mapping) for mapping in ("hard", "linear"))
    assert match(hard) == match(None) != match(linear)


def test_unvisited_stage_uses_the_other_stage():
    strategy = packaged_table("paper").strategy.copy()
    discards = strategy[: paper_sets.FIRST_DRAW_SETS[0]].reshape(52, 3, 101)
    discards[7, :, 40] = 0.2, -1.0, 0.6
    discards[7, :, 41] = 0.2, 0.6, -1.0
    discards[7, :, 42] = -1.0
    table = StrategyTable(strategy, packaged_table("paper").metadata)
    mapped = (
        stages.interpolate(table, "linear").strategy[: paper_sets.FIRST_DRAW_SETS[1]].reshape(52, 31, 101)
    )
    assert mapped[7, 10, 40:43] == pytest.approx([0.2, 0.2 * 5.5 / 10.5 + 0.6 * 5 / 10.5, -1])
    assert mapped[7, 20, 40:43] == pytest.approx([0.6, 0.6, -1])
    with pytest.raises(ValueError, match="only a table of the abstraction 'paper' has stages"):
        stages.interpolate(packaged_table("plus"), "linear")


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
    shuffled = CfrBot(shuffled_table(table, 1))
    untrained = CfrBot(StrategyTable(np.full(len(table.strategy), -1.0), table.metadata))
    trained = CfrBot(table)
    assert play_match(trained, shuffled, games=1000, seed=1).interval[0] > 0.55
    assert play_match(trained, untrained, games=1000, seed=1).interval[0] > 0.55
    assert np.array_equal(np.sort(shuffled.table.strategy), np.sort(table.strategy))


def test_shuffled_table_permutes_the_entries_of_each_decision():
    rng = np.random.default_rng(1)
    values = np.where(rng.random(cfr_sets.number_of_sets(cfr_sets.PAPER)) < 0.5, -1.0, rng.random(19793))
    table = StrategyTable(values, {"abstraction": "paper", "iterations": 1234})
    other = shuffled_table(table, 3)
    assert other.metadata == {"abstraction": "paper", "iterations": 1234, "shuffled": 3}
    assert np.array_equal(other.visited, table.visited)
    for part in cfr_sets.decision_slices(cfr_sets.PAPER):
        assert np.array_equal(np.sort(other.strategy[part]), np.sort(values[part]))
        assert not np.array_equal(other.strategy[part], values[part])
    assert not np.array_equal(shuffled_table(table, 4).strategy, other.strategy)
    assert str(table).startswith("strategy table: abstraction paper, 1,234 iterations, ")
    assert f"{int((values >= 0).sum()):,} of 19,793 information sets visited" in str(table)
