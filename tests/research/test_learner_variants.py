"""Variants of the learner: what they read, and what they add to the loss."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("tyro")

from ppo_runs import tiny  # noqa: E402

from gin_env import agents  # noqa: E402
from gin_env.agents.turns import play_bot  # noqa: E402
from gin_env.batch import Games  # noqa: E402
from gin_env.game.actions import NUM_ACTIONS  # noqa: E402
from gin_env.matches.matches import play_match  # noqa: E402
from gin_env.observations.candidates import DISCARD_ROWS, NUM_CONTEXT, NUM_FEATURES  # noqa: E402
from research.questions import learner_variants  # noqa: E402
from research.questions.learner_variants import VARIANTS, VariantBot  # noqa: E402

pytestmark = pytest.mark.compiled


def learner_of(variant, folder):
    learner = VARIANTS[variant](replace(tiny(folder), past_share=0.0))
    learner.begin()
    learner.collect()
    return learner


@pytest.fixture
def discarding():
    """Views of 40 hands after nine turns, of players who have to discard."""
    games = Games(40)
    games.start(seed=5)
    bot = agents.make("simple")
    for _ in range(18):
        play_bot(games, bot, games.everyone[~games.done])
    view = games.views(games.everyone[~games.done])
    return view[np.flatnonzero(view.array["public"]["phase"] == 3)]


@pytest.mark.parametrize("variant", VARIANTS)
def test_variant_learns_and_plays(variant, tmp_path):
    learner = learner_of(variant, tmp_path)
    before = [parameter.clone() for parameter in learner.parameters]
    assert learner.update(1.0)[0] > 0
    assert all((old != new).any() for old, new in zip(before, learner.parameters, strict=True))
    bot = VariantBot(learner, variant)
    assert play_match(bot, "random", 20, seed=1).games == 20
    kept = {*map(id, bot.network.parameters())}
    assert not kept & {*map(id, learner.network.parameters())}, "the bot would learn with its learner"


def test_training_is_annealed_from_all_to_nothing():
    class Noted:
        def __init__(self, settings):
            self.left = []

        def begin(self):
            pass

        collect = begin

        def update(self, left):
            self.left.append(left)
            return 25, {}

    learner, decisions = learner_variants.learn(Noted, SimpleNamespace(total_timesteps=100))
    assert (learner.left, decisions) == ([1, 0.75, 0.5, 0.25], 100)


def test_magnet_pulls_back_to_the_average(tmp_path):
    learner = learner_of("pull towards a moving average", tmp_path)
    decisions = np.flatnonzero(learner.batch.kind[: learner.batch.count] == 1)
    arguments = 1, decisions, np.zeros(len(decisions), np.float32), 0.0
    pulled = learner.loss_of_kind(*arguments)[0].item()
    learner.coef = 0.0
    assert pulled == pytest.approx(learner.loss_of_kind(*arguments)[0].item())
    with torch.no_grad():
        learner.network.discards.outputs.weight += 1.0
    free = learner.loss_of_kind(*arguments)[0].item()
    learner.coef = 1.0
    pull = learner.loss_of_kind(*arguments)[0].item() - free
    inputs = learner.buffers[1].inputs(learner.batch.place[decisions])
    with torch.no_grad():
        policy, average = (
            torch.log_softmax(network(*inputs)[0], dim=1) for network in (learner.network, learner.magnet)
        )
    assert pull == pytest.approx((policy.exp() * (policy - average)).nansum().item(), rel=1e-3)
    assert pull > 1


def test_predicted_hands_are_the_opponents(tmp_path):
    learner = learner_of("prediction of the opponent's hand", tmp_path)
    learner.buffers[1].count = 0
    envs = np.flatnonzero(learner.games.state["public"]["phase"] == 3)
    learner.observe(envs, 1, slice(0, len(envs)))
    for place, env in enumerate(envs):
        game = learner.games.state[env]
        expected = game["private"]["hand"][1 - game["public"]["to_move"]]
        assert learner.opponent_hands[1][place] == expected


def test_tokens_are_the_latest_actions(discarding):
    _, _, context = VARIANTS["the last 24 actions as a sequence"].inputs_of(discarding, 1)
    for index, tokens in enumerate(context[:, NUM_CONTEXT:].astype(int)):
        player = int(discarding.array["player"][index])
        events = discarding.history(index)[-len(tokens) :]
        expected = [1 + event.action + NUM_ACTIONS * (event.player != player) for event in events]
        assert tokens.tolist() == [0] * (len(tokens) - len(expected)) + expected


def test_estimates_are_those_around_the_discard(discarding):
    rows, actions, _ = VARIANTS["an estimator's probabilities"].inputs_of(discarding, 1)
    estimate = learner_variants.estimators.make("bayes").estimate(discarding).astype(np.float64)
    assert rows.shape == (len(discarding), DISCARD_ROWS, NUM_FEATURES + 5)
    for index, place in np.argwhere(actions[..., 0] < 52):
        card = actions[index, place, 0]
        rank = card % 13
        expected = [sum(estimate[index, rank + 13 * other] for other in range(4)) / 3]
        for step in (-1, 1, -2, 2):
            expected.append(estimate[index, card + step] if 0 <= rank + step < 13 else 0)
        np.testing.assert_allclose(rows[index, place, NUM_FEATURES:], expected, atol=1e-6)
