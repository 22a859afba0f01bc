"""Hands weighted by the opponent's actions: Markov chains whose worlds have the right shares."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest

torch = pytest.importorskip("torch")

from played_positions import view_of_world, views_of_policy  # noqa: E402
from positions_of_hands import past_of, positions  # noqa: E402

from gin_env import cards  # noqa: E402
from gin_env.agents.policies.candidate_network import CandidateScorer  # noqa: E402
from gin_env.agents.policies.candidate_policy import CandidatePolicyBot  # noqa: E402
from gin_env.agents.search.best_response import MISTAKES  # noqa: E402
from gin_env.batch import Games  # noqa: E402
from gin_env.game.rules import Rules  # noqa: E402
from research.questions.whole_hands import Chains, WholeHands  # noqa: E402

pytestmark = pytest.mark.compiled

TINY = Rules(ranks=4, suits=2, hand_size=2, knock_limit=2, stock_floor=0, opening_offer=False)
"""A deck of eight cards, so that all worlds can be enumerated."""


def a_network(seed: int = 5) -> CandidateScorer:
    """Return an untrained policy with different probabilities for its actions."""
    torch.manual_seed(seed)
    network = CandidateScorer(hidden=8)
    with torch.no_grad():
        for scores in (network.draws, network.discards):
            scores.outputs.weight *= 8
    return network.eval()


def test_worlds_of_chains_agree_with_the_view(monkeypatch):
    monkeypatch.setattr("research.questions.whole_hands.WARM_UP", 3)
    held = WholeHands(a_network(), "uniform", chains=4)
    for number, (state, view) in enumerate(views_of_policy(1)):
        for world in held.worlds(view, 6, np.random.default_rng(number)):
            seen = view_of_world(world, state, view).array
            assert seen["public"] == view.array["public"]
            assert seen["private"] == view.array["private"]


def log_chance(network: CandidateScorer, world: np.ndarray, player: int, mistakes: float) -> float:
    """Return the likelihood of the opponent's actions in a world, computed decision by decision."""
    bot = CandidatePolicyBot(network)
    public = world["public"]
    table = Games(1, Rules.from_record(public["rules"]))
    table.start(np.array([0]), np.zeros(1, np.uint64), np.zeros(1, np.uint64))
    size = table.rules.deck_size
    table.set_deck(0, world["hidden"]["deck"][:size], dealer=int(public["dealer"]))
    table.state["public"]["scores"] = public["scores"]
    total = 0.0
    for action in public["history"][: public["history_length"]]:
        if table.to_move()[0] != player:
            view = table.views(np.array([0]))
            share = bot.action_chances(view)[0, action]
            total += np.log((1 - mistakes) * share + mistakes / view.masks().sum())
        table.play(np.array([0]), np.array([int(action)]))
    return total


def test_likelihood_is_that_of_the_policys_decisions():
    network = a_network()
    for number, view in enumerate(positions(Rules(), 6)[1][::3]):
        chains = Chains(WholeHands(network, "uniform"), view, 3, np.random.default_rng(number))
        chains.step()
        expected = [
            log_chance(network, world, int(view.array["player"][0]), MISTAKES) for world in chains.worlds()
        ]
        assert chains._logarithm == pytest.approx(expected, abs=1e-3)


@pytest.mark.parametrize(("unequal", "trust"), [(False, 1.0), (True, 1.0), (True, 0.5)])
def test_worlds_are_sampled_in_proportion_to_their_likelihood(unequal, trust):
    """On a deck of eight cards, the shares of all hands match the sums of the weights of their worlds.

    A weight is a product of powers of the likelihood and the odds of the estimator. Unequal odds change the
    proposals, but with ``trust=1`` not the shares.
    """
    odds = np.tile([0.2, 5, 1, 2], 13) if unequal else np.ones(52)

    class OddsEstimator:
        def estimate(self, view):
            return np.tile(odds / (1 + odds), (len(view), 1))

    network = a_network(2)
    views = positions(TINY, 40, bot="random")[1]
    after_two_discards = [view for view in views if past_of(view)["discards"] == 2]
    four_unseen = [view for view in views if past_of(view)[["draws", "missing"]].tolist() == (1, 2)]
    for view in (*after_two_discards[:2], four_unseen[0]):
        player = int(view.array["player"][0])
        uniform = WholeHands(network, "uniform", trust=0.0, chains=3000).worlds(
            view, 3000, np.random.default_rng(1)
        )
        worlds = {
            deck.tobytes(): world for world, deck in zip(uniform, uniform["hidden"]["deck"], strict=True)
        }
        shares: Counter[int] = Counter()
        for world in worlds.values():
            hand = int(world["private"]["hand"][1 - player])
            stock = cards.cards_of(int(past_of(view)["unseen"]) & ~hand)
            likelihood = np.exp(log_chance(network, world, player, MISTAKES))
            shares[hand] += likelihood**trust / odds[stock].prod() ** (1 - trust)
        held = WholeHands(network, "uniform", trust, chains=200)
        held.estimator = OddsEstimator()
        found = Counter(held.sample(view, 8000, np.random.default_rng(2)).tolist())
        assert set(found) <= set(shares)
        for hand, share in shares.items():
            assert found[hand] / 8000 == pytest.approx(share / sum(shares.values()), abs=0.03)


@pytest.mark.parametrize(
    ("settings", "error", "message"),
    [
        ({"trust": 1.5}, ValueError, "trust"),
        ({"chains": 0}, ValueError, "chains"),
        ({"model": "nowhere.safetensors"}, FileNotFoundError, "nowhere"),
        ({"trust": 0.5, "shapes": "policy"}, ValueError, "trust must be 0"),
    ],
)
def test_invalid_settings_raise(settings, error, message):
    with pytest.raises(error, match=message):
        WholeHands(**settings)
