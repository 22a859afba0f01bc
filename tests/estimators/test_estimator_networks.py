"""Estimators with networks: Plug Rule, image, inputs, training, weights and ensemble."""

from __future__ import annotations

import itertools
import json

import numpy as np
import pytest
from hands_in_words import ONE_GAME, Table, ids
from played_positions import played, redealt

from gin_env import agents, cards, estimators
from gin_env.agents.turns import play_bot, play_seated
from gin_env.batch import Games
from gin_env.estimators import shankar
from gin_env.estimators.ensemble import EnsembleEstimator
from gin_env.estimators.neural import find_weights, packaged_weights
from gin_env.estimators.public_history import (
    CARD_FEATURES,
    POSITION_FEATURES,
    card_features,
    first_hands,
    known_cards,
    opponent_turns,
)
from gin_env.training.estimators.positions import Positions, collect_positions, play_hands

torch = pytest.importorskip("torch")
from gin_env.estimators import networks  # noqa: E402 (they need torch)

NETWORK_NAMES = ("nn", "shankar-cnn", "suit-equivariant")
ESTIMATORS = [
    *((name, weights) for name in NETWORK_NAMES for weights in packaged_weights(name)),
    *(("ensemble", switching) for switching in ("paper", "fitted", "adaptive")),
]


def make(name: str, setting: str):
    return estimators.make(name, **{"switching" if name == "ensemble" else "weights": setting})


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


def longest_cover(length: int) -> int:
    """The most of the 12 orders that a sequence of four symbols can contain, by search over all of them.

    The first window of a best sequence may be taken to be 0123 (drop what is before it, rename the symbols).
    A branch ends when even new orders in all the remaining windows could not beat the best.
    """
    best = 0

    def extend(sequence: tuple[int, ...], orders: frozenset[tuple[int, ...]]) -> None:
        nonlocal best
        best = max(best, len(orders))
        left = length - len(sequence)
        if len(orders) + left <= best:
            return
        for symbol in range(4):
            window = (*sequence[-3:], symbol)
            new = {min(window, window[::-1])} if len(set(window)) == 4 else set()
            extend((*sequence, symbol), orders | new)

    extend((0, 1, 2, 3), frozenset({(0, 1, 2, 3)}))
    return best


def test_no_shorter_ambi_superpermutation_exists():
    assert longest_cover(17) == 12
    assert longest_cover(16) < 12


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


def test_opponents_turn_contains_what_the_player_saw():
    table = Table("AC 2C 3C 4C 5C 6C 7C 8C 9C TC", "AH 2H 3H 4H 5H 6H 7H 8H 9H TD", "TH", "JH", dealer=0)
    table.play("take", "TD")  # player 1, the non-dealer, completes a run
    turns, counts = opponent_turns(table.games.views(ONE_GAME, 0))
    assert counts.tolist() == [1]
    turn = turns[0, 0]
    assert (turn["upcard"], turn["took"], turn["discard"]) == (*ids("TH"), True, *ids("TD"))
    assert cards.format(int(turn["held"])) == "TH"
    assert int(turn["out"]) == cards.parse("AC 2C 3C 4C 5C 6C 7C 8C 9C TC TD")


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
@pytest.mark.parametrize(("name", "setting"), [pair for pair in ESTIMATORS if pair[0] != "ensemble"])
def test_packaged_weights_record_their_provenance(name, setting):
    _, metadata = find_weights(name, setting)
    assert metadata["estimator"] == name
    assert f"train estimator {name} " in metadata["command"]
    assert json.dumps(metadata)


# --- Estimates ------------------------------------------------------------------------------------------


@pytest.mark.compiled
@pytest.mark.parametrize(("name", "setting"), ESTIMATORS)
def test_estimates_are_probabilities_and_exact_for_known_cards(name, setting, sample):
    estimate = make(name, setting).estimate(sample.view)
    held, unseen, missing = known_cards(sample.view)
    assert estimate.shape == (len(sample), 52)
    assert estimate.dtype == np.float32
    assert (estimate >= 0).all()
    assert (estimate <= 1).all()
    assert (estimate[held] == 1).all()
    assert (estimate[~held & ~unseen] == 0).all()
    if name == "suit-equivariant":
        assert np.allclose((estimate * unseen).sum(axis=1), missing, atol=1e-3)


@pytest.mark.compiled
@pytest.mark.parametrize(("name", "setting"), ESTIMATORS)
@pytest.mark.parametrize("policy", ["simple", "knock-immediately, small deck"])
def test_estimates_do_not_depend_on_hidden_cards(name, setting, policy):
    play = played(policy)
    estimator = make(name, setting)
    for player in range(2):
        states = redealt(play.states, play.rules, player, seed=player)
        true = play.games().views(np.arange(len(states)), player)
        games = play.games()
        games.state[:] = states
        estimate = estimator.estimate(true)
        assert np.isfinite(estimate).all()
        assert np.array_equal(estimate, estimator.estimate(games.views(games.everyone, player)))


@pytest.mark.compiled
@pytest.mark.parametrize(("name", "setting"), ESTIMATORS)
def test_batch_equals_single_estimates(name, setting, sample):
    estimator, few = make(name, setting), sample.view[:12]
    single = np.concatenate([estimator.estimate(view) for view in few])
    assert np.allclose(estimator.estimate(few), single, atol=1e-5)
    assert estimator.estimate(sample.view[:0]).shape == (0, 52)


@pytest.mark.compiled
@pytest.mark.parametrize("name", [*NETWORK_NAMES, "ensemble"])
def test_memory_does_not_change_estimates(name):
    """This holds even if the memory is from an earlier hand, or if the estimator missed some decisions."""
    estimator = estimators.make(name)
    memory = estimator.new_memory(60)
    for seed in (1, 2):
        for step, (games, waiting) in enumerate(play_hands(["simple"], 60, seed)):
            if step % 3 == 1:
                continue
            view, own = games.views(waiting, 0), memory[waiting]
            assert np.allclose(estimator.advance(view, own), estimator.estimate(view), atol=1e-5)
            memory[waiting] = own


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


def test_adaptive_ensemble_learns_the_better_member():
    """Weights move to the member that gave drawn cards the lowest probability; without a memory they stay."""
    members = ("suit-equivariant", "uniform")
    ensemble = EnsembleEstimator("adaptive", members)
    memory = ensemble.new_memory(200)
    for seed in (1, 2, 3):
        for games, waiting in play_hands(["simple"], 200, seed):
            own = memory[waiting]
            ensemble.advance(games.views(waiting, 0), own)
            memory[waiting] = own
    good, bad = memory["scores"].mean(axis=0)
    assert good > bad + 0.1, "in the mean of 200 games of three hands"
    view = games.views(games.everyone, 0)
    halves = [estimators.make(member).estimate(view) for member in members]
    assert np.allclose(ensemble.estimate(view), np.mean(halves, axis=0), atol=1e-6)
