"""The critic that sees all cards: its numbers against a slow reconstruction, and its part in learning."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("tyro")

from ppo_runs import tiny  # noqa: E402

from gin_env import agents, cards  # noqa: E402
from gin_env.agents.turns import play_bot  # noqa: E402
from gin_env.batch import Games  # noqa: E402
from gin_env.game.melds import deadwood  # noqa: E402
from gin_env.game.rules import Rules  # noqa: E402
from gin_env.game.state import DISCARD, NO_CARD  # noqa: E402
from gin_env.observations.candidates import NUM_CONTEXT  # noqa: E402
from gin_env.training.critic import (  # noqa: E402
    NUM_ALL_CARDS,
    NUM_DRAWS,
    NUM_HAND,
    NUM_OF_PLAYER,
    write_all_cards,
)
from gin_env.training.learner import Learner  # noqa: E402
from gin_env.training.ppo import load_start  # noqa: E402

pytestmark = pytest.mark.compiled


def after_discard(hand):
    """Return a hand without the highest card that leaves the least deadwood."""
    chosen = min(hand, key=lambda card: (deadwood(mask(hand - {card})), -int(cards.CARD_VALUES[card]), card))
    return hand - {chosen}


def mask(hand):
    return sum(1 << card for card in hand)


def deadwoods(hand, drawn):
    """Return the deadwood now and after each draw."""
    found = [deadwood(mask(hand))]
    for card in drawn:
        hand = after_discard(hand | {card})
        found.append(deadwood(mask(hand)))
    return found


@pytest.mark.parametrize(
    "rules", [Rules(), Rules.parse("oklahoma"), Rules(hand_size=7)], ids=["10", "oklahoma", "7"]
)
def test_numbers_of_all_cards(rules):
    games, bot = Games(4, rules, episode="game"), agents.make("simple")
    games.start(seed=11)
    num_checked = 0
    for _ in range(150):
        running = games.everyone[~games.done]
        if not len(running):
            break
        rows = np.full((len(running), NUM_ALL_CARDS), np.nan, np.float32)
        write_all_cards(games.state, running, rows)
        context = games.candidates(running)[2]
        assert (rows[:, :NUM_CONTEXT] == context).all()
        for row, state in zip(rows, games.state[running], strict=True):
            public = state["public"]
            mover, discarding = int(public["to_move"]), public["phase"] == DISCARD
            assert row[NUM_CONTEXT] == discarding
            size, left = rules.deck_size, int(public["stock_left"])
            stock = [int(card) for card in state["hidden"]["deck"][size - left : size]]
            for seat in range(2):
                hand = set(cards.cards_of(int(state["private"]["hand"][mover ^ seat])))
                if discarding and seat == 0:
                    hand = after_discard(hand)
                drawn = stock[1 - seat :: 2] if discarding else stock[seat::2]
                expected = deadwoods(hand, drawn[: NUM_DRAWS - 1])
                expected += expected[-1:] * (NUM_DRAWS - len(expected))  # the stock is empty
                numbers = row[NUM_CONTEXT + 2 + seat * NUM_OF_PLAYER :][:NUM_OF_PLAYER]
                found = numbers[NUM_HAND : NUM_HAND + 3 * NUM_DRAWS].reshape(3, NUM_DRAWS)
                assert found[0] * 50 == pytest.approx(expected)
                assert (found[1] == (np.array(expected) <= public["knock_limit"])).all()
                assert (found[2] == (np.array(expected) == 0)).all()
                upcard = int(public["upcard"])
                saved = 0 if upcard == NO_CARD else expected[0] - deadwoods(hand, [upcard])[1]
                assert numbers[-1] * 10 == pytest.approx(saved, abs=1e-4)
                num_checked += 1
        play_bot(games, bot, running)
    assert num_checked > 300


def test_values_come_from_the_critic_and_both_learn(tmp_path):
    learner = Learner(replace(tiny(tmp_path), num_steps=100, critic_sees_all=True))
    learner.begin()
    learner.collect()
    with torch.no_grad():
        for kind, buffer in enumerate(learner.buffers):
            decisions = np.flatnonzero(learner.batch.kind[: learner.batch.count] == kind)
            all_cards = torch.from_numpy(buffer.all_cards[learner.batch.place[decisions]])
            found = learner.batch.value[decisions]
            np.testing.assert_allclose(found, learner.critic(all_cards).numpy(), atol=1e-6)
    loss, _ = learner.loss(
        np.flatnonzero(learner.batch.known[: learner.batch.count]), learner.batch.advantage, 0.01
    )
    gradients = torch.autograd.grad(loss, learner.parameters)
    assert all(gradient.any() for gradient in gradients)


def test_critic_learns_what_the_stock_decides(tmp_path):
    """After some updates it foretells the outcome better than the values that the policy's view allows."""
    settings = replace(tiny(tmp_path), num_envs=128, num_steps=64, bots_share=0.0, past_share=0.0)
    settings = replace(settings, hidden=64, start="policy", critic_sees_all=True, learning_rate=3e-3)
    learner = Learner(settings)
    weights, _ = load_start(settings)
    learner.network.load_state_dict(weights)
    learner.begin()
    for _ in range(6):
        learner.collect()
        learner.update(1.0)
    learner.collect()
    learner.batch.estimate_advantages(1.0, 1.0)
    known = np.flatnonzero(learner.batch.known[: learner.batch.count])
    outcome = learner.batch.advantage[known] + learner.batch.value[known]
    assert np.mean((outcome - learner.batch.value[known]) ** 2) < 0.9 * np.var(outcome)
