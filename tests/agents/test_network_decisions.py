"""Bots with networks decide the same alone and in any batch, with any number of threads."""

from __future__ import annotations

from itertools import islice

import numpy as np
import pytest
import torch
from hands_in_words import started

from gin_env import agents
from gin_env.agents.policies.candidate_network import PACKAGED
from gin_env.observations.views import PlayerView

pytestmark = pytest.mark.compiled


@pytest.fixture(scope="module")
def positions() -> PlayerView:
    """Return positions of hands between two random players: all kinds of decisions, in random order."""
    games, parts = started(300, seed=0), []
    for waiting in islice(games.until_over(), 12):
        views = games.views(waiting)
        parts.append(views.array)
        games.play(waiting, agents.make("simple:knock_at=0").act(views))
    records = np.concatenate(parts)
    return PlayerView(records[np.random.default_rng(0).permutation(len(records))])


@pytest.fixture(params=[1, 2])
def threads(request):
    before = torch.get_num_threads()
    torch.set_num_threads(request.param)
    yield request.param
    torch.set_num_threads(before)


@pytest.mark.parametrize(
    "name",
    [
        "generation",
        "generation:knock=simple",
        *PACKAGED,
        "policy:margin=0",
        "policy-1:deterministic=false",
        "offensive",
        "defensive",
        "balanced",
    ],
)
def test_decisions_do_not_depend_on_batch_or_threads(name, positions, threads):
    """Regression: alone, `generation` chose differently among candidates of equal value."""
    bot = agents.make(name)
    together = bot.act(positions)
    for size, number in ((1, 60), (2, 60), (64, 1024)):
        apart = [bot.act(positions[first : first + size]) for first in range(0, number, size)]
        assert np.array_equal(np.concatenate(apart)[:number], together[:number]), size
