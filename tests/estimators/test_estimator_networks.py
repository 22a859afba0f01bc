"""Estimators with networks: Plug Rule, image, inputs, training, weights and ensemble."""

from __future__ import annotations

import itertools
import json

import numpy as np
import pytest
import torch

from gin_env import agents, cards, estimators
from gin_env.agents.turns import play_bot, play_seated
from gin_env.batch import Games
from gin_env.estimators import networks, shankar
from gin_env.estimators.declared_estimators import ESTIMATORS
from gin_env.estimators.ensemble import EnsembleEstimator
from gin_env.estimators.public_history import (
    CARD_FEATURES,
    POSITION_FEATURES,
    card_features,
    first_hands,
    known_cards,
    opponent_turns,
)
from gin_env.training.estimators.positions import Positions, play_hands
from research.recipes.estimators.sampling import collect_positions

NETWORK_NAMES = ("nn", "shankar-cnn", "suit-equivariant")


@pytest.fixture(scope="module")
def sample() -> Positions:
    return collect_positions(["simple", "tonic"], 40, 3, share=0.5)


# --- The image ------------------------------------------------------------------------------------------


@pytest.mark.compiled
def test_image_rows_are_the_suits_in_the_papers_order(sample):
    images = shankar.shankar_images(sample.view)
    arrays = shankar.shankar_arrays(sample.view).reshape(-1, 4, 13)
    assert images.shape == (len(sample), 1, 17, 13)
    for row, suit in enumerate(shankar.AMBI_SUPERPERMUTATION):
        assert np.array_equal(images[:, 0, row], arrays[:, suit])


def covered(sequence: tuple[int, ...]) -> set[tuple[int, ...]]:
    """Return the orders of four suits in a sequence; an order and its reverse count once."""
    windows = (sequence[start : start + 4] for start in range(len(sequence) - 3))
    return {min(window, window[::-1]) for window in windows if len(set(window)) == 4}


def test_the_ambi_superpermutation_contains_all_orders():
    sequence = shankar.AMBI_SUPERPERMUTATION
    assert len(sequence) == 17
    assert covered(sequence) == {min(order, order[::-1]) for order in itertools.permutations(range(4))}


# --- What networks see ----------------------------------------------------------------------------------


@pytest.mark.compiled
@pytest.mark.parametrize("player", [0, 1])
def test_history_matches_the_engine(player):
    """Compare first hands, the opponent's turns and known cards with the full state."""
    discards: dict[int, list[int]] = {}
    for games, waiting in play_hands(["simple", "random"], 100, 5):
        view = games.views(waiting, player)
        dealt = games.state["hidden"]["deck"][waiting][:, player:20:2]
        assert first_hands(view).tolist() == [cards.mask_of(hand) for hand in dealt.tolist()]
        truth = Positions(view, games.state["private"]["hand"][waiting, 1 - player]).truth().astype(bool)
        held, unseen, missing = known_cards(view)
        assert not (held & unseen).any()
        assert truth[held].all()
        assert not truth[~held & ~unseen].any()
        assert np.array_equal((truth & unseen).sum(axis=1), missing)
        turns, counts = opponent_turns(view)
        for game, own, count in zip(waiting.tolist(), turns, counts.tolist(), strict=True):
            known = discards.setdefault(game, [])
            assert own["discard"][: len(known)].tolist() == known, "earlier turns stay as they were"
            known[:] = own["discard"][:count].tolist()
        features, table = card_features(view)
        assert features.shape[1:] == (len(CARD_FEATURES), 4, 13)
        assert table.shape[1:] == (len(POSITION_FEATURES),)
        assert np.abs(features).max() < 10
        assert np.abs(table).max() < 10


# --- Networks -------------------------------------------------------------------------------------------


def test_shift_gives_the_expected_sum():
    torch.manual_seed(0)
    logits = (4 * torch.randn(50, 52, dtype=torch.float64)).requires_grad_()
    unseen = torch.rand(50, 52) < 0.6
    missing = (unseen.sum(1) * torch.rand(50)).clamp(min=1).floor().double()
    shifted = networks.with_expected_sum(logits, unseen, missing)
    sums = (shifted.sigmoid() * unseen).sum(1)
    assert torch.allclose(sums, missing, atol=1e-6)
    assert torch.autograd.gradcheck(
        lambda x: networks.with_expected_sum(x, unseen[:2], missing[:2]) * unseen[:2],
        (logits[:2],),
        atol=1e-5,
    )


@pytest.mark.parametrize("share", [0.0, 1.0])
def test_shift_handles_all_or_no_missing_cards(share):
    logits, unseen = torch.randn(3, 52), torch.zeros(3, 52, dtype=torch.bool)
    unseen[1:, :10] = True
    p = networks.with_expected_sum(logits, unseen, share * unseen.sum(1)).sigmoid()
    assert torch.isfinite(p).all()
    assert torch.allclose(p[1:, :10], torch.tensor(share), atol=1e-3)


@pytest.mark.compiled
def test_permuting_the_suits_permutes_the_estimate(sample):
    torch.manual_seed(0)
    network = networks.NETWORKS["suit-equivariant"]().eval()
    features, table = map(torch.from_numpy, card_features(sample.view[:20]))
    order = [2, 0, 3, 1]
    with torch.inference_mode():
        plain = network(features, table).view(-1, 4, 13)
        permuted = network(features[:, :, order].contiguous(), table).view(-1, 4, 13)
    assert torch.allclose(plain[:, order], permuted, atol=1e-5)


# --- Weights --------------------------------------------------------------------------------------------


@pytest.mark.compiled
@pytest.mark.parametrize(
    ("name", "setting"),
    [(name, weights) for name in NETWORK_NAMES for weights in ESTIMATORS.packaged(name, "weights")],
)
def test_packaged_weights_record_their_provenance(name, setting):
    metadata = estimators.make(name, weights=setting).provenance
    assert metadata["estimator"] == name
    assert f"train estimator {name} " in metadata["command"]
    assert json.dumps(metadata)


# --- Estimates ------------------------------------------------------------------------------------------


@pytest.mark.compiled
@pytest.mark.parametrize("name", [*NETWORK_NAMES, "bayes", "ensemble"])
def test_memory_of_the_same_deals_played_otherwise_is_reset(name):
    estimator, memories = estimators.make(name), []
    for opponent in ("simple", "random-discard"):
        bots = [agents.make("simple"), agents.make(opponent)]
        games = Games(20)
        games.start(games.everyone, np.full(20, 8, np.uint64), np.arange(20, dtype=np.uint64))
        for step in range(12):
            playing = games.everyone[~games.done]
            view = games.views(playing, 0)
            if opponent == "simple":
                memories.append(estimator.new_memory(20))
                estimator.advance(view, own := memories[-1][playing])
                memories[-1][playing] = own
            else:
                own = memories[max(step - 2, 0)][playing]
                assert np.allclose(estimator.advance(view, own), estimator.estimate(view), atol=1e-5)
            play_seated(games, bots, games.to_move()[playing], playing, play_bot)


# --- Ensemble -------------------------------------------------------------------------------------------


def test_paper_ensemble_switches_by_turn():
    chosen = [EnsembleEstimator("paper").weights[turn].argmax() for turn in (0, 3, 4, 9, 10, 28, 29, 60)]
    bayes, nn, cnn = 0, 1, 2
    assert chosen == [nn, nn, nn, nn, cnn, cnn, bayes, bayes]


@pytest.mark.long
def test_adaptive_ensemble_learns_the_better_member():
    """Weights move to the member that gave drawn cards the lowest probability; without a memory they stay."""
    members = ("suit-equivariant", "uniform")
    ensemble = EnsembleEstimator("adaptive", members)
    memory, alone = ensemble.new_memory(200), ensemble.new_memory(1)
    for seed in (1, 2, 3):
        for games, waiting in play_hands(["simple"], 200, seed):
            own = memory[waiting]
            ensemble.advance(games.views(waiting, 0), own)
            memory[waiting] = own
            if waiting[-1] == 199:
                ensemble.advance(games.views(waiting[-1:], 0), alone)
    assert memory["scores"][-1] == pytest.approx(alone["scores"][0], abs=1e-3), "as in a batch of one"
    good, bad = memory["scores"].mean(axis=0)
    assert good > bad + 0.1, "in the mean of 200 games of three hands"
    view = games.views(games.everyone, 0)
    halves = [estimators.make(member).estimate(view) for member in members]
    assert np.allclose(ensemble.estimate(view), np.mean(halves, axis=0), atol=1e-6)
