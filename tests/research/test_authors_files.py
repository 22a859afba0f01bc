"""Reading the files of the authors of Truong and Neller and of Francis et al., with small synthetic files."""

from __future__ import annotations

import csv
import json
from itertools import pairwise, product

import h5py
import numpy as np
import pytest
import torch
from checkpoints import write_checkpoint
from scipy import stats
from small_data_set import random_hands

from gin_env.agents.hand_strength.features import hand_features
from gin_env.game import cards
from research.papers.francis2021 import authors_files as authors_003
from research.papers.truong2021 import authors_files as authors
from research.papers.truong2021 import authors_networks
from research.papers.truong2021.paper import TABLE
from research.papers.truong2021.tensorflow_checkpoints import read_checkpoint
from research.reproduce.by_id import find
from research.reproduce.experiment import Run

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
    for name in tensors:
        with pytest.raises(ValueError, match=f"not one of mlp: '{name}' is missing"):
            authors.authors_network("mlp", {key: one for key, one in tensors.items() if key != name})


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


def test_figure_4_has_the_logged_losses_of_every_network(tmp_path):
    (tmp_path / "results").mkdir()
    (tmp_path / authors.SAMPLE).parent.mkdir()
    (tmp_path / authors.SAMPLE).touch()
    columns = ["TrainDI", "ValDI", "TrainFCIT", "ValFCIT", "TrainFC", "ValFC"]
    augmented = ["TrainDIA", "ValDIA", "TrainDIA16", "ValDIA16"]
    for number, name in enumerate(("SimpleLast", "SimpleAll", "Random16", "Random256", "Random16A")):
        header = augmented if name == "Random16A" else columns
        lines = [
            [epoch, *(1000 * number + 100 * k + epoch for k in range(len(header)))] for epoch in range(1, 97)
        ]
        with (tmp_path / "results" / f"{name}.csv").open("w", newline="") as file:
            csv.writer(file).writerows([["", *header], *lines])
    for source in authors.SOURCES.values():
        if source.training:
            (tmp_path / source.training).parent.mkdir(parents=True, exist_ok=True)
            (tmp_path / source.training).write_text(
                "loss: 8.1 - val_loss: 9.2\nloss: 5.1 - val_loss: 7.257 - lr"
            )
    run = Run(0, False, tmp_path / "work", authors=tmp_path)
    rows = {row["network"]: row for row in authors_networks.measure_losses(run)}
    assert set(rows) == set(TABLE)
    assert {name for name, row in rows.items() if row.get("folder_loss") == 7.26} == {
        name for name, source in authors.SOURCES.items() if source.training
    }
    mlp = rows["mlp-random-16"]
    assert [mlp[key][-1] for key in ("after", "train_losses", "validation_losses")] == [96, 2496, 2596]
    assert rows["dual-inception-16-random-16-augmented"]["validation_losses"][0] == 4301


def test_errors_and_dealings_are_those_of_the_worked_rows():
    scores = np.array([10.0, -20.0, 30.0, 4.0])
    row = authors_networks.error_and_bias(np.array([11, -18, 33, 6], np.float32), scores)
    assert row == {"error": (1 + 4 + 9 + 4) / 4, "bias": 2}
    hands = ["AC 3C 5C 7C 9C JC KC 2D 4D 6D", "AC 2C 3C 4C 5C 6C 7C 9D 9H 9S"]
    hands += ["AC 2C 3C 4H 5H 6H 7D 8D 9D KS"] * 2  # deadwood of exactly 10
    masks = np.array([cards.parse(hand) for hand in hands], np.uint64)
    row = authors_networks.dealing_row("x", scores, masks, np.array([1.0, 2.0, 3.0]))
    assert (row["states"], row["mean"], row["negative"], row["over_10"]) == (4, 6, 25, 25)
    assert (row["gin"], row["mean_without_gin"], row["deviation"]) == (25, 14.67, 17.83)
    assert row["p"] == round(stats.ks_2samp([1, 2, 3], scores).pvalue, 4)


# --- Francis et al. 2021 --------


def write_keras(path, layers, functional=False) -> None:
    """Write layers, a dict from name to (kernel, bias), as Keras writes a model."""
    config = [{"class_name": "Dense", "config": {"name": name}} for name in layers]
    with h5py.File(path, "w") as file:
        model = {"config": {"layers": config} if functional else config}
        file.attrs["model_config"] = json.dumps(model)
        for name, tensors in layers.items():
            for part, tensor in zip(("kernel", "bias"), tensors, strict=True):
                file[f"model_weights/{name}/{name}/{part}:0"] = tensor


def dense_layers(*sizes: int):
    return [
        (RNG.normal(size=pair).astype(np.float32), RNG.normal(size=pair[1]).astype(np.float32))
        for pair in pairwise(sizes)
    ]


@pytest.mark.parametrize("functional", [False, True])
def test_keras_layers_come_in_the_order_of_the_model(tmp_path, functional):
    layers = dict(zip("zab", dense_layers(3, 4, 5, 2), strict=True))
    write_keras(tmp_path / "model.h5", layers, functional)
    read = authors_003.read_keras(tmp_path / "model.h5")
    assert [bias.tolist() for _, bias in read] == [bias.tolist() for _, bias in layers.values()]


def test_keras_reader_refuses_other_files(tmp_path):
    (tmp_path / "text.h5").write_text("not a model")
    with pytest.raises(ValueError, match="not a Keras model"):
        authors_003.read_keras(tmp_path / "text.h5")


def test_dense_network_reads_the_authors_order_of_inputs():
    network = authors_003.AuthorsDense(dense_layers(157, 100, 85, 60, 52))
    inputs = np.zeros((2, 157), np.float32)
    inputs[0, [3, 52, 53 + 7, 105 + 9]] = 1  # upcard 3, taken, discard 7, certain of card 9
    inputs[1, [3, 53 + 7, 105 + 9]] = 1
    theirs = np.zeros((2, 157), np.float32)
    theirs[:, [9, 52 + 7, 104 + 3]] = 1
    theirs[:, 156] = [1, -1]
    x = np.maximum(theirs @ network.layers[0][0] + network.layers[0][1], 0)
    for kernel, bias in network.layers[1:]:
        x = 1 / (1 + np.exp(-(x @ kernel + bias)))
    np.testing.assert_allclose(network.probabilities(inputs), x, rtol=1e-5)
    for sizes in ((157, 99, 85, 60, 52), (157, 100, 85, 52), (157, 100, 85, 60, 51)):
        with pytest.raises(ValueError, match="must have layers of 100, 85, 60 and 52"):
            authors_003.AuthorsDense(dense_layers(*sizes))


def test_cnn_pads_and_flattens_as_tensorflow():
    shapes = ((4, 4, 1, 2), (4, 4, 2, 3), (60, 52))
    layers = [
        (RNG.normal(size=shape).astype(np.float32), RNG.normal(size=shape[-1]).astype(np.float32))
        for shape in shapes
    ]
    image = RNG.normal(size=(17, 13, 1)).astype(np.float32)
    x = image
    for kernel, bias in layers[:2]:
        padded = np.pad(x, ((1, 2), (1, 2), (0, 0)))
        rows, columns = (x.shape[0] + 1) // 2, (x.shape[1] + 1) // 2
        x = np.array(
            [
                [
                    np.tensordot(padded[2 * r : 2 * r + 4, 2 * c : 2 * c + 4], kernel, 3) + bias
                    for c in range(columns)
                ]
                for r in range(rows)
            ]
        )
        x = np.maximum(x, 0)
    expected = x.ravel() @ layers[2][0] + layers[2][1]
    with torch.inference_mode():
        found = authors_003.authors_cnn(layers)(torch.from_numpy(image.transpose(2, 0, 1)[None]))
    np.testing.assert_allclose(found.numpy()[0], expected, rtol=1e-4, atol=1e-3)


# --- Checkouts ------------------------------------------------------------------------------------------


def test_missing_checkout_says_what_to_do(tmp_path):
    with pytest.raises(ValueError, match="git clone"):
        find("truong2021/authors-networks").measure(Run(0, True, tmp_path / "work"))
    with pytest.raises(FileNotFoundError, match="must be a checkout"):
        find("truong2021/authors-networks").measure(Run(0, True, tmp_path / "work", authors=tmp_path))
