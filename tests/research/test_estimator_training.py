"""Training of the networks and tables of the estimators."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from damaged_files import any_numbers

from gin_env import estimators
from gin_env.estimators.neural import NnEstimator
from gin_env.game.rules import Rules
from gin_env.training.estimators.positions import Positions
from research.recipes import derived_seed
from research.recipes.estimators import ensemble as ensemble_training
from research.recipes.estimators.ensemble import _fit
from research.recipes.estimators.sampling import collect_positions

torch = pytest.importorskip("torch")
from gin_env.estimators import networks  # noqa: E402 (they need torch)
from research.recipes.estimators import network_trainer  # noqa: E402

BICYCLE = Rules.preset("bicycle")
NETWORK_NAMES = ("nn", "shankar-cnn", "suit-equivariant")
TINY = network_trainer.Course(rounds=2, hands=60, validation_hands=40, generations=2)


def make(name: str, setting: str):
    return estimators.make(name, **{"switching" if name == "ensemble" else "weights": setting})


# --- The image ------------------------------------------------------------------------------------------


# --- What networks see ----------------------------------------------------------------------------------


# --- Networks -------------------------------------------------------------------------------------------


# --- Weights --------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def weights(tmp_path_factory):
    path = tmp_path_factory.mktemp("weights") / "nn.safetensors"
    network_trainer.train_network("nn", ["simple"], 4, TINY, rules=BICYCLE).save(path)
    return path


# --- Estimates ------------------------------------------------------------------------------------------


# --- Ensemble -------------------------------------------------------------------------------------------


@pytest.mark.long
@pytest.mark.parametrize("name", NETWORK_NAMES)
def test_network_can_memorise_a_few_positions(name):
    everything = collect_positions(["simple"], 8, 3)
    positions = Positions(everything.view[:24], everything.hands[:24])
    torch.manual_seed(0)
    network = networks.NETWORKS[name]()
    data = network_trainer.prepare(network, positions, None)
    at_first = network_trainer.evaluate(network, data)
    optimizer = torch.optim.Adam(network.parameters(), lr=1e-2)
    for _ in range(400 if name == "nn" else 120):
        loss = network_trainer.cross_entropy(network, data)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    assert network_trainer.evaluate(network, data) < 0.3 * at_first


@pytest.mark.compiled
def test_repeated_training_gives_the_same_weights(tmp_path):
    runs = [network_trainer.train_network("nn", ["simple"], seed, TINY) for seed in (4, 4, 5)]
    first, second, other = ([*run.network.state_dict().values()] for run in runs)
    assert all(torch.equal(a, b) for a, b in zip(first, second, strict=True))
    assert not all(torch.equal(a, b) for a, b in zip(first, other, strict=True))
    assert runs[0].curve == runs[1].curve
    assert len(runs[0].curve) == TINY.rounds
    runs[0].save(tmp_path / "nn.safetensors")
    assert (tmp_path / "nn.curve.csv").read_text().count("\n") == 1 + TINY.rounds


@pytest.mark.compiled
def test_training_never_sees_the_hands_held_out(monkeypatch):
    seeds = []

    def collect(bots, hands, seed, *options):
        seeds.append(seed)
        return collect_positions(bots, hands, seed, *options)

    monkeypatch.setattr(network_trainer, "collect_positions", collect)
    network_trainer.train_network("nn", ["simple"], 4, TINY)
    assert len(set(seeds)) == len(seeds) == 1 + TINY.rounds


@pytest.mark.compiled
def test_rounds_have_different_positions():
    first, again, other = (collect_positions(["simple"], 20, seed) for seed in (1, 1, 2))
    assert np.array_equal(first.hands, again.hands)
    assert not set(first.hands.tolist()) & set(other.hands.tolist())


def test_generations_read_estimates_of_the_network_before(monkeypatch):
    """Held-out positions (40 hands) are prepared again with the network that prepares those to learn from."""
    prepared = []

    def prepare(network, hands, before, all_cards):
        prepared.append((hands, before and before.rounds))
        return [[0]]

    def learn(network, *_):
        network.rounds = getattr(network, "rounds", 0) + 1

    for one in (prepare, learn):
        monkeypatch.setattr(network_trainer, one.__name__, one)
    monkeypatch.setattr(network_trainer, "collect_positions", lambda bots, hands, *_: hands)
    monkeypatch.setattr(network_trainer, "evaluate", lambda *_: 0.0)
    network_trainer.train_network("nn", ["simple"], 4, network_trainer.Course(6, 60, 256, 1.0, 3, 40))
    assert prepared == [(hands, before) for before in (None, 2, 4) for hands in (40, 60, 60)]


@pytest.mark.compiled
def test_weights_are_stored_with_their_provenance(weights):
    network, metadata = networks.load("nn", weights)
    trained = network_trainer.train_network("nn", ["simple"], 4, TINY, rules=BICYCLE).network
    for name, tensor in trained.state_dict().items():
        assert torch.equal(tensor, network.state_dict()[name]), "as measured, so loaded"
    assert (metadata["seed"], metadata["opponents"], metadata["rules"]) == (4, ["simple"], "bicycle")
    assert metadata["command"].endswith(" --games 120 --seed 4 --opponents simple --rules bicycle")
    assert isinstance(NnEstimator(weights=str(weights)), NnEstimator)


@pytest.mark.compiled
def test_foreign_or_missing_weights_raise(weights, tmp_path):
    with pytest.raises(ValueError, match=r"nn\.safetensors.*not a network of shankar-cnn"):
        networks.load("shankar-cnn", weights)
    with pytest.raises(FileNotFoundError, match="missing"):
        networks.load("nn", tmp_path / "missing.safetensors")
    with pytest.raises(ValueError, match="choose from simple"):
        NnEstimator("nobody")


@pytest.mark.compiled
def test_weights_of_another_version_or_invalid_numbers_raise(weights, tmp_path):
    network, metadata = networks.load("nn", weights)
    with torch.no_grad():
        network.layers[0].weight[0, 0] = torch.nan
    with any_numbers():
        networks.format_of("nn").write(tmp_path / "nan.safetensors", network.half(), metadata)
    with pytest.raises(ValueError, match=r"nan\.safetensors.*not finite"):
        networks.load("nn", tmp_path / "nan.safetensors")
    older = tmp_path / "older.safetensors"
    replace(networks.format_of("nn"), version="0").write(older, networks.DenseNetwork(), metadata)
    with pytest.raises(ValueError, match=r"older\.safetensors.*version 0, this release reads 1"):
        networks.load("nn", older)


def test_fitted_ensemble_selects_the_better_member():
    rng = np.random.default_rng(0)
    turns = np.repeat([1, 2, 3], [30_000, 30_000, 10])
    right = rng.uniform(0.4, 0.6, (len(turns), 3))
    right[turns == 1, 2] = 0.9
    right[turns == 2, 0] = 0.9
    table = _fit(turns, right)
    assert table["choice"][:5].tolist() == [2, 2, 0, 0, 0]
    assert (table["weights"][1].argmax(), table["weights"][2].argmax()) == (2, 0)
    assert np.allclose(table["weights"].sum(axis=1), 1)


@pytest.mark.long
def test_ensemble_is_fitted_on_hands_of_no_training(monkeypatch):
    """Members are trained on hands of the same seed, so the table needs other hands."""
    seeds, estimate_along = [], ensemble_training.estimate_along

    def record_seed(members, bot, hands, seed, *others):
        seeds.append(seed)
        return estimate_along(members, bot, hands, seed, *others)

    monkeypatch.setattr(ensemble_training, "estimate_along", record_seed)
    for seed in (1, 2):
        ensemble_training.fit_table(4, seed)
    assert len({1, 2, *seeds}) == 4
    assert not set(seeds) & {derived_seed(seed, number) for seed in (1, 2) for number in range(300)}
