"""Frozen readings: their names and decisions never change."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from played_positions import same_records

from gin_env import agents
from gin_env.agents.paper import PAPER_BOTS
from gin_env.game.cards import card_columns
from gin_env.game.state import DISCARD
from gin_env.matches import fixed_positions
from gin_env.matches.fixed_positions import decision_hash, fixed_views, game_views

pytestmark = pytest.mark.compiled

FROZEN = json.loads((Path(__file__).parents[1] / "data" / "paper_bots.json").read_text())
"""name -> hash of its decisions. Names are added, and no entry is ever changed."""


def test_every_paper_name_has_a_stored_hash():
    assert set(FROZEN) == {*agents.paper_names(), "simple", "random-discard"}


@pytest.mark.parametrize("name", FROZEN)
def test_frozen_bot_decides_as_before(name):
    assert decision_hash(name) == FROZEN[name], (
        f"{name} has changed: published results name it. Leave it as it was, and give the change a new name"
    )


@pytest.mark.parametrize("action", [-1, 106, 107, 200])
def test_decision_hash_refuses_impossible_actions(action):
    class Wrong:
        name = "wrong"

        def act(self, view):
            return np.full(len(view), action)

    with pytest.raises(ValueError, match="'wrong' plays illegally"):
        decision_hash(Wrong(), 2)


@pytest.mark.parametrize("name", PAPER_BOTS)
def test_every_parameter_is_written_out(name):
    """Other defaults of the class therefore change nothing."""
    _, bot, params = PAPER_BOTS[name]
    assert list(params) == list(agents.parameters(bot))
    assert agents.parameters(name) == params
    assert agents.make(name).name == name


def test_frozen_bot_with_parameters_has_them_in_its_name():
    bot = agents.make("tonic-paper:pair_turns=4")
    assert bot.name == agents.make("tonic-paper", pair_turns=4).name == "tonic-paper:pair_turns=4"
    assert decision_hash(bot) == decision_hash(
        "tonic:increment=1.5,decrement=0.75,decline=0.4,knock_at=variable,pair_turns=4"
    )
    with pytest.raises(TypeError, match="bot 'tonic-paper': unknown parameter 'pairs'"):
        agents.make("tonic-paper:pairs=4")


def test_positions_cover_every_kind_of_decision():
    view = fixed_views()
    public = view.array["public"]
    assert 1500 < len(view) < 2500
    assert set(np.unique(public["phase"])) == {0, 1, 2, 3}
    assert np.unique(view.array["player"]).tolist() == [0, 1]
    assert public["turn"].max() > 40
    knocks = view.masks()[:, 52:104].any(axis=1)
    assert knocks.sum() > 100
    assert (public["phase"][knocks] == DISCARD).all()
    assert len(np.unique(view.array["random"])) == len(view)


def test_positions_of_games_have_scores_and_memory():
    public = game_views().array["public"]
    assert 1500 < len(public) < 2500
    assert public["hand_number"].min() == 1
    assert public["hand_number"].max() > 8
    assert (public["scores"].max(axis=1) > 0).mean() > 0.95
    assert (public["memory"]["knocks"].sum(axis=1) > 0).all()


@pytest.mark.parametrize("make", [fixed_views, game_views])
def test_positions_do_not_depend_on_the_shuffle(monkeypatch, make):
    """Games that were begun with another seed lead to the same views."""
    records = make().array
    start = fixed_positions.Games.start
    monkeypatch.setattr(fixed_positions, "_played", fixed_positions._played.__wrapped__)  # without its cache
    monkeypatch.setattr(
        fixed_positions.Games,
        "start",
        lambda self, games, seeds, episodes: start(self, games, seeds + np.uint64(99), episodes),
    )
    again = make().array
    for each in (again, records):  # the turns of cards outside the pile mean nothing
        in_pile = card_columns(each["public"]["pile"]).astype(bool)
        each["public"]["discard_turn"] *= in_pile
    assert same_records(again, records)
