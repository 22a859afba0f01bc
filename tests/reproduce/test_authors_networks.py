"""Reading the authors' files of paper 002 (networks, rows, logs), with small synthetic files."""

from __future__ import annotations

import csv
from itertools import product

import numpy as np
import pytest
import torch
from checkpoints import write_checkpoint
from small_data_set import random_hands

from gin_env.agents.hand_strength.features import hand_features
from gin_env.game import cards
from gin_env.reproduce.experiment import Run
from gin_env.reproduce.experiments import authors_networks as authors
from gin_env.support.tensorflow_checkpoints import read_checkpoint

RNG = np.random.default_rng(2)


def weights(*shape: int) -> np.ndarray:
    return RNG.normal(size=shape).astype(np.float32)


def layers(*pairs: tuple[np.ndarray, np.ndarray]) -> dict[str, np.ndarray]:
    """Return tensors under Keras's names for layers with weights."""
    return {
        f"layer_with_weights-{number}/{part}/.ATTRIBUTES/VARIABLE_VALUE": tensor
        for number, pair in enumerate(pairs)
        for part, tensor in zip(("kernel", "bias"), pair, strict=True)
    }


def convolved(plane: np.ndarray, kernel: np.ndarray, bias: np.ndarray) -> np.ndarray:
    """Return a Keras convolution with valid padding and ReLU, flattened channels-last."""
    width = len(kernel)
    values = [
        np.maximum(
            np.tensordot(plane[row : row + width, column : column + width], kernel[:, :, 0], 2) + bias, 0
        )
        for row, column in product(range(5 - width), range(14 - width))
    ]
    return np.concatenate(values)


def check(network, features: list[np.ndarray], kernel, bias, last, last_bias, x, macro, o) -> None:
    """Check that the network's value equals that of the authors' layers."""
    hidden = np.maximum(np.concatenate(features) @ kernel + bias, 0)
    expected = hidden @ last[:, 0] + last_bias[0]
    found = network(*(torch.from_numpy(array[None]) for array in (x, macro, o)))
    assert float(found[0].detach()) == pytest.approx(float(expected), rel=1e-4, abs=1e-4)


@pytest.fixture(name="position")
def _position():
    x, macro = hand_features(random_hands(1), "arrangement")
    return x[0], macro[0], RNG.random(52).astype(np.float32)


def authors_macro(macro: np.ndarray) -> np.ndarray:
    deadwood, sets, runs, hits = macro
    return np.array([runs, sets, deadwood, hits], np.float32)


@pytest.mark.parametrize("filters", [4, 16])
def test_dual_inception_checkpoint_matches_keras_values(tmp_path, position, filters):
    x, macro, o = position
    convolutions = [(weights(w, w, 1, filters), weights(filters)) for _ in range(2) for w in (4, 3, 2)]
    dense = (weights(4 + 2 * 68 * filters, 16), weights(16))
    output = (weights(16, 1), weights(1))
    write_checkpoint(tmp_path / "cp", layers(*convolutions, dense, output), 2)
    name = "dual-inception" if filters == 4 else "dual-inception-16"
    network = authors.authors_network(name, read_checkpoint(tmp_path / "cp"))
    planes = [o.reshape(4, 13)] * 3 + [x.reshape(4, 13)] * 3
    seen = [convolved(plane, *pair) for plane, pair in zip(planes, convolutions, strict=True)]
    check(network, [authors_macro(macro), *seen], *dense, *output, x, macro, o)


def test_mlp_checkpoints_match_keras_values(position):
    x, macro, o = position
    for name, size in (("mlp", 108), ("mlp-i", 182)):
        dense, output = (weights(size, 16), weights(16)), (weights(16, 1), weights(1))
        network = authors.authors_network(name, layers(dense, output))
        own = x
        if name == "mlp-i":  # addGeoRelation_Numpy: a card with the later suits, then with the next rank
            own = np.array(
                [
                    x[card] * x[other]
                    for rank in range(13)
                    for card in range(rank, 52, 13)
                    for other in [*range(card + 13, 52, 13), *([card + 1] if rank < 12 else [])]
                ],
                np.float32,
            )
        check(network, [authors_macro(macro), o, own], *dense, *output, x, macro, o)


def test_checkpoint_of_another_architecture_is_refused():
    tensors = layers((weights(108, 16), weights(16)), (weights(16, 1), weights(1)))
    for name in ("mlp-i", "dual-inception"):
        with pytest.raises(ValueError, match=f"not one of {name}"):
            authors.authors_network(name, tensors)


def test_authors_rows_are_converted_to_hands_and_features(tmp_path):
    names = [f"{rank}{suit}" for suit in "ABCD" for rank in range(1, 14)]
    header = ["score0_mean", "GamestateNum", "RunNum0", "SetNum0", "Deadwood0", "Hitscore0", *names]
    hand = cards.parse("AC 2C 3C 5H 5S 5D KD QD JD TD")
    row = [-12.0, 0, 2, 1, 7, 3, *(hand >> card & 1 for card in range(52))]
    with (tmp_path / "rows.csv").open("w", newline="") as file:
        csv.writer(file).writerows([[*header, *(f"e{name}" for name in names)], [*row, *np.arange(52) / 100]])
    sample = authors.read_sample(tmp_path / "rows.csv")
    assert sample.scores.tolist() == [-12]
    assert sample.hands.tolist() == [hand]
    assert sample.macro.tolist() == [[7, 1, 2, 3]]
    assert sample.estimates[0, 51] == pytest.approx(0.51)
    (tmp_path / "other.csv").write_text("a,b\n1,2\n")
    with pytest.raises(ValueError, match="score0_mean"):
        authors.read_sample(tmp_path / "other.csv")


def test_game_and_loss_logs_are_parsed(tmp_path):
    log = tmp_path / "winningRate.txt"
    log.write_text("100 games played in 9 ms.\nGames Won: P0:53, P1:47.\nWon: P0:36, P1:64.")
    assert authors.logged_games(log) == (89, 200)
    (tmp_path / "Random.csv").write_text("\ufeff,TrainDI,ValDI\n1,3.5,4.5\n2,3.0,4.0\n")
    assert authors.logged_losses(tmp_path, "Random.csv: DI") == ([3.5, 3.0], [4.5, 4.0])


def test_missing_checkout_says_what_to_do(tmp_path):
    with pytest.raises(ValueError, match="git clone"):
        authors.measure(Run(0, True, tmp_path / "work"))
    with pytest.raises(FileNotFoundError, match="must be a checkout"):
        authors.measure(Run(0, True, tmp_path / "work", authors=tmp_path))
