"""Players of paper 002: discards by hand strength, by risk and by both; Figures 6 and 7."""

from __future__ import annotations

from functools import partial

import numpy as np
import pytest
import torch
from bot_positions import choices, holding

from gin_env import agents, cards, estimators
from gin_env.agents.hand_strength.bots import BalancedBot, OffensiveBot
from gin_env.agents.hand_strength.networks import build
from gin_env.agents.hand_strength.weights import save_network
from gin_env.batch import Games
from gin_env.estimators.risk import discard_risks


@pytest.fixture(scope="module")
def deadwood_network(tmp_path_factory) -> str:
    """Write a network whose value is 100 minus the deadwood, and return its path."""
    network = build("mlp")
    with torch.no_grad():
        for parameter in network.parameters():
            parameter.zero_()
        network.from_hand.weight[0, 52] = -1.0
        network.from_hand.bias[0] = 100
        network.output.weight[0, 0] = 1.0
    path = tmp_path_factory.mktemp("network") / "deadwood.safetensors"
    save_network(path, network, {"architecture": "mlp", "data": {"estimator": "uniform"}})
    return str(path)


@pytest.fixture(scope="module")
def random_network(tmp_path_factory) -> str:
    """Write an untrained network and return its path."""
    path = tmp_path_factory.mktemp("network") / "random.safetensors"
    save_network(
        path, build("dual-inception"), {"architecture": "dual-inception", "data": {"estimator": "uniform"}}
    )
    return str(path)


def test_offensive_keeps_the_best_hand(deadwood_network):
    table = holding("4H 5H 6H 2C 2D 2S 9D KD 8C 7S", "3D", "KH")
    assert choices(table, "offensive", network=deadwood_network) == {"KD"}
    equal = holding("4H 5H 6H 2C 2D 2S 9D KD 8C QS", "3D", "KH")
    assert choices(equal, "offensive", network=deadwood_network) == {"KD", "QS"}


def test_offensive_knocks_as_soon_as_its_discard_allows(deadwood_network):
    table = holding("4H 5H 6H 2C 2D 2S 9D 9H 9S 7S", "AD", "KH")
    assert choices(table, "offensive", network=deadwood_network) == {"knock 7S"}


def test_offensive_draws_like_simple(deadwood_network):
    games = Games(300)
    numbers = np.arange(300, dtype=np.uint64)
    games.start(games.everyone, numbers, numbers)
    views = games.views(games.everyone)
    assert np.array_equal(
        OffensiveBot(deadwood_network).act(views), agents.make("simple").act(views)
    )  # the opening offer


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


@pytest.mark.parametrize("kind", [OffensiveBot, partial(BalancedBot, risk_weight=0.0)])
def test_suits_can_be_averaged(random_network, kind):
    """With averaged suits, a hand with swapped suits gets the same discard with swapped suits."""
    bot = kind(random_network, average_suits=True)
    first = holding("4H 5H 9H 2C 3D TS JD QD 8C 7S", "AD", "KH")
    second = holding("4S 5S 9S 2H 3C TD JC QC 8H 7D", "AC", "KS")  # H -> S -> D -> C -> H
    moved = dict(zip("HSDC", "SDCH", strict=True))
    for table in (first, second):
        table.views = table.games.views(np.zeros(1, np.int64))
    ours, theirs = (cards.card_text(int(bot.act(table.views)[0]) % 52) for table in (first, second))
    assert theirs == ours[0] + moved[ours[1]]


def test_invalid_parameters_raise(deadwood_network, tmp_path):
    with pytest.raises(ValueError, match="unknown network 'nothing'"):
        agents.make("offensive:network=nothing")
    with pytest.raises(FileNotFoundError, match="there is no hand-strength network"):
        agents.make("offensive", network=str(tmp_path / "missing.safetensors"))
    with pytest.raises(ValueError, match="unknown estimator"):
        agents.make("defensive:estimator=nobody")
    with pytest.raises(ValueError, match=r"risk_weight must be from .* not -1"):
        agents.make("balanced", network=deadwood_network, risk_weight=-1)
    with pytest.raises(TypeError, match="average_suits must be True or False"):
        agents.make("offensive", network=deadwood_network, average_suits="yes")


def test_equation_5_without_information_is_the_classical_count():
    risks = discard_risks(np.ones((1, 52), np.float32))[0]
    assert risks[cards.card_id("TH")] == 6
    assert risks[cards.card_id("KH")] == 4
    known = np.ones((1, 52), np.float32)
    known[0, [cards.card_id("9H"), cards.card_id("JH")]] = 0
    assert discard_risks(known)[0, cards.card_id("TH")] == 3  # "if the opponent does not have any 9 or J"
