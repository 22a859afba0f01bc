"""Policies that read the memory of earlier hands: identical play at first, files, and no leaks."""

from __future__ import annotations

from itertools import islice

import numpy as np
import pytest
import torch
from hands_in_words import started
from played_positions import as_games, later_hands, redealt

from gin_env import PlayerView, agents
from gin_env.agents.policies.candidate_network import (
    CandidateScorer,
    load_candidate_policy,
    save_candidate_policy,
)
from gin_env.agents.policies.candidate_policy import CandidatePolicyBot
from gin_env.game.rules import Rules
from gin_env.observations.candidates import NUM_CONTEXT, NUM_FEATURES, new_arrays
from gin_env.observations.memory import NUM_MEMORY

pytestmark = pytest.mark.compiled


def policy_with_memory() -> CandidateScorer:
    """Return the network of `policy-1`, which adds nothing yet for the memory."""
    torch.manual_seed(3)
    network = CandidateScorer(64, memory=True)
    network.load_state_dict(network.state_dict() | load_candidate_policy("policy-1")[0].state_dict())
    return network.eval()


def reading(network: CandidateScorer) -> CandidateScorer:
    """Return the network with random weights for the memory."""
    for scores in (network.draws, network.discards):
        torch.nn.init.normal_(scores.memory.to_first.weight)
    return network


@pytest.mark.parametrize("deterministic", [True, False])
def test_policy_with_memory_plays_like_policy_before_training(deterministic):
    expected = CandidatePolicyBot.shipped_first(deterministic)
    found = CandidatePolicyBot(policy_with_memory(), deterministic=deterministic)
    games, known = started(100, seed=2, episode="game"), 0
    for playing in islice(games.until_over(), 250):
        view = games.views(playing)
        known += view.memories().any()
        actions = expected.act(view)
        assert np.array_equal(found.act(view), actions)
        games.play(playing, actions)
    assert known > 100


def test_network_equals_its_description_row_by_row():
    """Type probabilities scale what is added to both layers and to the outputs; chances weigh the values."""
    torch.manual_seed(5)
    scores = CandidateScorer(6, memory=True).discards
    for weights in scores.parameters():
        torch.nn.init.normal_(weights, std=0.3)
    rows, table = torch.rand(3, 11, NUM_FEATURES), torch.rand(3, NUM_CONTEXT + NUM_MEMORY)
    possible = torch.rand(3, 22) < 0.6
    logits, values = scores(rows, possible, table)
    w = {name: weights.detach().double().numpy() for name, weights in scores.state_dict().items()}
    for n, each in enumerate(table.double().numpy()):
        context, memory = each[:NUM_CONTEXT], each[NUM_CONTEXT:]
        units = np.maximum(w["memory.first.weight"] @ memory + w["memory.first.bias"], 0)
        types = np.exp(w["memory.types.weight"] @ units + w["memory.types.bias"])
        types /= types.sum()
        outputs = w["outputs.weight"] + (w["memory.to_outputs.weight"] @ types).reshape(6, 4).T
        found = []
        for row in rows[n].double().numpy():
            first = w["row_first.weight"] @ row + w["row_first.bias"] + w["table_first.weight"] @ context
            first = np.maximum(first + w["memory.to_first.weight"] @ types, 0)
            second = w["row_second.weight"] @ first + w["row_second.bias"]
            second = np.maximum(second + w["memory.to_second.weight"] @ types, 0)
            found.append(outputs @ second + w["outputs.bias"])
        found, can = np.array(found), possible[n].numpy()
        scored, worth = found[:, :2].ravel(), found[:, 2:].ravel()
        np.testing.assert_allclose(logits[n].detach(), np.where(can, scored, -1e9), rtol=1e-4, atol=1e-4)
        value = np.average(worth[can], weights=np.exp(scored[can]))
        assert values[n].item() == pytest.approx(value, abs=1e-4)
    values.sum().backward()
    assert not scores.outputs.weight.grad[:2].any(), "the value does not teach the policy"


def test_candidates_with_room_for_the_memory_end_with_it():
    games = later_hands()
    playing = games.everyone[~games.done]
    rows, actions, context = new_arrays(len(playing), 11)
    wide = np.full((len(playing), NUM_CONTEXT + NUM_MEMORY), np.nan, np.float32)
    games.candidates(playing, rows, actions, context)
    again = games.candidates(playing, context=wide)
    assert np.array_equal(again[0], rows)
    assert again[2] is wide
    assert np.array_equal(wide[:, :NUM_CONTEXT], context)
    assert np.array_equal(wide[:, NUM_CONTEXT:], games.memories(playing))
    of_views = np.empty_like(wide)
    games.views(playing).candidates(context=of_views)
    assert np.array_equal(of_views, wide)
    with pytest.raises(ValueError, match="context must be a writable, contiguous float32 array"):
        games.candidates(playing, context=wide[:, :-1].copy())


def test_memory_changes_decisions_and_hidden_cards_do_not():
    bot = CandidatePolicyBot(reading(policy_with_memory()))
    games = later_hands()
    playing = games.everyone[~games.done]
    view = games.views(playing)
    actions = bot.act(view)
    alone = [int(bot.act(view[index])[0]) for index in range(len(view))]
    assert alone == actions.tolist()
    for player in (0, 1):
        own = playing[games.to_move()[playing] == player]
        again = as_games(redealt(games.state[own], Rules(), player, seed=1), Rules())
        assert np.array_equal(bot.act(again.views(again.everyone)), actions[np.isin(playing, own)])
    assert (bot.act(forgotten(view)) != actions).any()


def forgotten(view: PlayerView) -> PlayerView:
    """Return the same views without the memory of earlier hands."""
    records = view.array.copy()
    for name in records["public"]["memory"].dtype.names:
        records["public"]["memory"][name] = 0
    return PlayerView(records)


def test_packaged_policy_with_memory_uses_it():
    bot, games = agents.make("policy-memory"), later_hands(400)
    view = games.views(games.everyone[~games.done])
    assert bot.network.reads_memory
    assert (bot.act(view) != bot.act(forgotten(view))).any()


def test_policy_with_memory_is_read_from_its_file(tmp_path):
    network = reading(policy_with_memory())
    path = tmp_path / "memory.safetensors"
    save_candidate_policy(path, network)
    bot = agents.make(str(path))
    view = later_hands().views(np.arange(20))
    assert np.array_equal(bot.act(view), CandidatePolicyBot(network).act(view))
    read, _, _ = load_candidate_policy(path)
    rows, table = torch.rand(5, 11, NUM_FEATURES), torch.rand(5, NUM_CONTEXT + NUM_MEMORY)
    possible = torch.ones(5, 22, dtype=torch.bool)
    for expected, found in zip(network(rows, possible, table), read(rows, possible, table), strict=True):
        assert torch.equal(found, expected)


def test_search_refuses_a_policy_that_reads_the_memory(tmp_path):
    path = tmp_path / "memory.safetensors"
    save_candidate_policy(path, policy_with_memory())
    with pytest.raises(ValueError, match="must not read the memory of earlier hands"):
        agents.make("search", policy=str(path))
