"""Counting and training of the table of frequencies."""

from __future__ import annotations

import json
import warnings

import numpy as np
import pytest
from played_positions import played
from typer.testing import CliRunner

import gin_env
from gin_env import PlayerView, agents, estimators
from gin_env.batch import Games
from gin_env.estimators.public_history import known_cards
from gin_env.estimators.turn_buckets import Frequencies, suit_relation
from research.__main__ import app
from research.recipes.estimators import by_name, counting
from research.recipes.estimators.counting import count_frequencies

pytestmark = pytest.mark.compiled

with warnings.catch_warnings():
    warnings.simplefilter("ignore", DeprecationWarning)  # its own, on import, from PettingZoo 1.27 on


def views_of(policy: str, player: int) -> PlayerView:
    play = played(policy)
    return play.games().views(np.arange(len(play.states)), player)


# --- Names ----------------------------------------------------------------------------------------------


# --- What all of them promise ---------------------------------------------------------------------------


# --- The rules of each ----------------------------------------------------------------------------------


# --- omniscient -----------------------------------------------------------------------------------------


# --- Tables ---------------------------------------------------------------------------------------------


# --- In the environments --------------------------------------------------------------------------------


# PettingZoo warns about all dict observations but those of its own environments.


# --- Trained policies -----------------------------------------------------------------------------------


def test_frequencies_equal_a_slow_count():
    table = count_frequencies(3, seed=5)
    games = Games(3, episode="game")
    games.start(games.everyone, np.full(3, 5, np.uint64), np.arange(3, dtype=np.uint64))
    seen, held = np.zeros_like(table.seen), np.zeros_like(table.held)
    before = np.zeros((2, 13), np.int64)
    hand_before = {}
    while not games.done.all():
        waiting = np.flatnonzero(~games.done)
        for game in waiting.tolist():
            state = games.state[game]
            mover = int(state["public"]["to_move"])
            if state["public"]["phase"] != gin_env.game.state.DISCARD:
                view = games.views(np.array([game]), 1 - mover)
                hand_before[game] = int(state["private"]["hand"][mover]), known_cards(view)[1][0]
        turns = games.state["public"]["turn"][waiting].copy()
        games.play(waiting, agents.make("simple").act(games.views(waiting)))
        ended = games.results["ended"][waiting]
        for game in waiting[(games.state["public"]["turn"][waiting] > turns) & ~ended].tolist():
            state = games.state[game]
            player = int(state["public"]["to_move"])
            view = games.views(np.array([game]), player)
            *_, draw, discard = view.history()
            offered = [event.card for event in view.history()[:-2] if event.action < 104]
            upcard = offered[-1] if offered else int(state["public"]["first_upcard"])
            hand, unseen = int(state["private"]["hand"][1 - player]), known_cards(view)[1][0]
            for card in np.flatnonzero(unseen).tolist():
                relation = suit_relation(card // 13, upcard, discard.card)
                bucket = int(draw.action == 105), upcard % 13, discard.card % 13, card % 13, relation
                seen[bucket] += 1
                held[bucket] += hand >> card & 1
            earlier, unseen_before = hand_before[game]
            for card in np.flatnonzero(unseen_before).tolist():
                before[0, card % 13] += 1
                before[1, card % 13] += earlier >> card & 1
    assert np.array_equal(table.seen, seen)
    assert np.array_equal(table.held, held)
    assert np.array_equal([table.seen_before, table.held_before], before)
    assert table.metadata["turns"] > 100


def test_training_depends_on_the_seed_only_and_reports_progress(monkeypatch):
    done = []
    first = by_name.train_estimator("bayes", 12, seed=3, progress=done.append)
    assert sum(done) == 12
    monkeypatch.setattr(counting, "GAMES_PER_BATCH", 5)
    second = by_name.train_estimator("bayes-isru", 12, seed=3)
    assert np.array_equal(first.seen, second.seen)
    assert np.array_equal(first.held, second.held)
    assert not np.array_equal(first.seen, by_name.train_estimator("bayes", 12, seed=4).seen)
    mixed = by_name.train_estimator("bayes", 12, seed=3, opponents=("simple", "random"))
    assert mixed.metadata["opponents"] == ["simple", "random"]
    with pytest.raises(ValueError, match="games must be positive"):
        count_frequencies(0)
    with pytest.raises(ValueError, match=r"unknown trainable estimator 'uniform'; choose from bayes"):
        by_name.train_estimator("uniform")
    assert by_name.default_games("bayes") == 10_000
    assert "bayes-isru" in by_name.MODULES


def test_damaged_tables_raise_and_are_named(tmp_path):
    path = tmp_path / "table.npz"
    runner = CliRunner()
    arguments = ["train", "estimator", "bayes", str(path), "--games", "30", "--seed", "2"]
    shown = runner.invoke(app, arguments)
    assert shown.exit_code == 0, shown.output
    table = Frequencies.load(path)
    assert np.array_equal(table.held, count_frequencies(30, seed=2).held)
    assert estimators.make("bayes", table=str(path)).estimate(views_of("simple", 0)).any()
    assert estimators.make("bayes", table=path).name == f"bayes:table={path}"

    damaged = tmp_path / "damaged.npz"
    damaged.write_bytes(path.read_bytes()[:-700])
    with pytest.raises(ValueError, match=r"damaged\.npz is not a file of kind 'table of frequencies'"):
        estimators.make("bayes", table=str(damaged))
    np.savez(damaged, seen=np.array([{}], object))
    with pytest.raises(ValueError, match=r"damaged\.npz"):
        Frequencies.load(damaged)
    wrong = Frequencies(table.seen, table.seen + 1, table.seen_before, table.held_before, table.metadata)
    wrong.save(damaged)
    with pytest.raises(ValueError, match="its counts are inconsistent"):
        Frequencies.load(damaged)
    with np.load(path) as arrays:
        parts = dict(arrays)
    parts["metadata"] = np.frombuffer(
        json.dumps({"kind": "table of frequencies", "file_version": 0}).encode(), np.uint8
    )
    np.savez(damaged, **parts)
    with pytest.raises(ValueError, match="has version 0, this release reads 1"):
        Frequencies.load(damaged)
    with pytest.raises(FileNotFoundError, match=r"nowhere\.npz"):
        estimators.make("bayes", table="nowhere.npz")
    with pytest.raises(ValueError, match=r"unknown table 'nobody'; choose from .*simple"):
        estimators.make("bayes", table="nobody")
    with pytest.raises(TypeError, match="table must be a name or a path"):
        estimators.make("bayes", table=3)
