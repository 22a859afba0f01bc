"""Players of Truong and Neller 2021: discards by hand strength, by risk and by both; Figures 6 and 7."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import torch
from bot_positions import choices, holding
from hands_in_words import ONE_GAME, started

from gin_env import agents, cards, estimators
from gin_env.agents.hand_strength.bots import (
    FORMAT,
    BalancedBot,
    OffensiveBot,
    choose_actions,
    load_network,
    trained_with,
)
from gin_env.agents.hand_strength.features import HITS, hand_features
from gin_env.agents.hand_strength.networks import CardMessages, HandStrength, build
from gin_env.estimators.risk import discard_risks


def network_of_zeros() -> HandStrength:
    network = build("mlp")
    for parameter in network.parameters():
        torch.nn.init.zeros_(parameter)
    return network


def written(folder: Path, network: HandStrength, architecture: str = "mlp", **described: str) -> str:
    """Write a network and return its path."""
    described |= {"architecture": architecture, "data": {"estimator": "uniform"}}
    FORMAT.write(folder / "network.safetensors", network, described)
    return str(folder / "network.safetensors")


@pytest.fixture(scope="module")
def deadwood_network(tmp_path_factory) -> str:
    """Write a network whose value is 100 minus the deadwood, and return its path."""
    network = network_of_zeros()
    with torch.no_grad():
        network.from_hand.weight[0, 52] = -1.0
        network.from_hand.bias[0] = 100
        network.output.weight[0, 0] = 1.0
    return written(tmp_path_factory.mktemp("network"), network)


def test_seed_determines_the_weights_and_nothing_else():
    before = torch.random.get_rng_state()
    first, again, other = (build("mlp", seed).from_hand.weight for seed in (1, 1, 2))
    assert torch.equal(first, again)
    assert not torch.equal(first, other)
    assert torch.equal(torch.random.get_rng_state(), before)


def test_messages_reach_four_ranks_and_no_further():
    """Two ranks in each of two rounds; an ace is not next to a king."""
    messages = CardMessages(3)
    torch.manual_seed(1)
    for parameter in messages.parameters():
        torch.nn.init.uniform_(parameter, 0.1, 1)
    nothing, ace = torch.zeros(1, 52), torch.zeros(1, 52)
    ace[0, cards.card_id("AC")] = 1
    changed = (messages(ace) != messages(nothing)).view(3, 13).any(dim=0)
    assert changed.tolist() == 5 * [True] + 8 * [False]


def test_sum_of_both_hands_is_rectified(deadwood_network):
    network, _ = load_network(deadwood_network)
    with torch.no_grad():
        network.from_opponent.weight[0, 0] = -30.0
    macro, opponent = torch.tensor([[80.0, 0, 0, 0]]), torch.eye(52)[:1]
    owner = torch.tensor([1, 0])
    values = network(torch.zeros(2, 52), macro.repeat(2, 1), torch.cat([opponent, 0 * opponent]), owner)
    assert values.tolist() == [20, 0]


def test_offensive_keeps_the_best_hand(deadwood_network):
    table = holding("4H 5H 6H 2C 2D 2S 9D KD 8C 7S", "3D", "KH")
    assert choices(table, "offensive", network=deadwood_network) == {"KD"}
    equal = holding("4H 5H 6H 2C 2D 2S 9D KD 8C QS", "3D", "KH")
    assert choices(equal, "offensive", network=deadwood_network) == {"KD", "QS"}


def test_offensive_counts_hits_as_its_network_was_trained(tmp_path):
    network = network_of_zeros()
    with torch.no_grad():
        network.from_hand.weight[0, 55] = network.output.weight[0, 0] = 1.0  # the value is the hit count
    hands = np.array([cards.parse("5C 6C 7C 7D 8D 9D TH QC 2H 3S")], np.uint64)
    found = {}
    for hits in HITS:
        bot = OffensiveBot(written(tmp_path, network, hits=hits))
        found[hits] = bot.hand_values(np.zeros((1, 52), np.float32), np.array([0]), hands).tolist()
        assert found[hits] == hand_features(hands, hits)[1][:, 3].tolist()
    assert found[HITS[0]] != found[HITS[1]], "7H joins a set of sevens that are in runs"


def test_estimator_of_a_network_keeps_its_parameters():
    metadata = {"data": {"estimator": "bayes-isru:table=simple,alpha=2.0"}}
    assert trained_with("a network", metadata) == metadata["data"]["estimator"]


def test_offensive_knocks_as_soon_as_its_discard_allows(deadwood_network):
    table = holding("4H 5H 6H 2C 2D 2S 9D 9H 9S 7S", "AD", "KH")
    assert choices(table, "offensive", network=deadwood_network) == {"knock 7S"}


def test_offensive_draws_like_simple(deadwood_network):
    games = started(300)
    offers = games.views(games.everyone)
    assert np.array_equal(OffensiveBot(deadwood_network).act(offers), agents.make("simple").act(offers))


def test_defensive_discards_the_unmelded_card_with_least_risk():
    # Nothing is known: the king of a suit whose adjacent cards are held or gone is the safest unmelded card.
    table = holding("4H 5H 6H 2C 2D 2S 9D TD JD QC", "7S", "KC")
    view = table.games.views(np.zeros(1, np.int64))
    risks = discard_risks(estimators.make("uniform").estimate(view))[0]
    unmelded = [cards.card_id(text) for text in ("QC", "7S")]
    safest = cards.card_text(min(unmelded, key=lambda card: risks[card]))
    assert choices(table, "defensive", estimator="uniform") == {f"knock {safest}"}


def test_balanced_weighs_value_and_risk(deadwood_network):
    # J♦ and Q♦ leave the same deadwood; J♦ may end a run of 9♦ 10♦, Q♦ helps nobody but a pair of queens.
    table = holding("4H 5H 6H 2C 2D 2S JD QD 8C 7S", "AD", "KH")
    view = table.games.views(np.zeros(1, np.int64))
    risks = discard_risks(estimators.make("uniform").estimate(view))[0]
    assert choices(table, "balanced", network=deadwood_network, risk_weight=0) == {"JD", "QD"}
    safer = "QD" if risks[cards.card_id("QD")] < risks[cards.card_id("JD")] else "JD"
    assert choices(table, "balanced", network=deadwood_network, risk_weight=0.5) == {safer}
    fearful = choices(table, "balanced", network=deadwood_network, risk_weight=1000)
    assert fearful == {
        cards.card_text(min((c for c in range(52) if int(view.hands[0]) >> c & 1), key=lambda c: risks[c]))
    }


@pytest.mark.parametrize("kind", [OffensiveBot, BalancedBot])
def test_close_discards_are_rated_in_double_precision(tmp_path, kind):
    network = written(tmp_path, build("dual-inception"), "dual-inception")
    view = holding("4H 5H 6H 2C 2D 2S 9D KD 8C QS", "3D", "KH").games.views(ONE_GAME)
    hands = np.array([cards.parse("4H 5H 6H 2C 2D 2S 9D 3D 8C QS")], np.uint64)
    king = np.array([cards.card_id("KD")])
    exact = kind(network).values(view, np.array([0]), king, hands, exact=True)
    assert exact.dtype == np.float64
    asked: list[bool] = []

    def equal_values(view, owners, cards, hands, exact):
        asked.append(exact)
        return np.zeros(len(owners))

    choose_actions(view, equal_values, unmelded_only=False)
    assert asked == [False, True]
