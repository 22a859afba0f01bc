"""Paper 003's own scoring, with small synthetic files of networks."""

from __future__ import annotations

import itertools
import json

import h5py
import numpy as np
import pytest
import torch

from gin_env import agents
from gin_env.agents.turns import play_bot
from gin_env.batch import Games
from gin_env.game.cards import count_cards
from gin_env.reproduce.experiment import Run
from gin_env.reproduce.experiments import authors_estimators as authors

RNG = np.random.default_rng(3)


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
        for pair in itertools.pairwise(sizes)
    ]


@pytest.mark.parametrize("functional", [False, True])
def test_keras_layers_come_in_the_order_of_the_model(tmp_path, functional):
    layers = dict(zip("zab", dense_layers(3, 4, 5, 2), strict=True))
    write_keras(tmp_path / "model.h5", layers, functional)
    read = authors.read_keras(tmp_path / "model.h5")
    assert [bias.tolist() for _, bias in read] == [bias.tolist() for _, bias in layers.values()]


def test_keras_reader_refuses_other_files(tmp_path):
    (tmp_path / "text.h5").write_text("not a model")
    with pytest.raises(ValueError, match="not a Keras model"):
        authors.read_keras(tmp_path / "text.h5")
    with pytest.raises(FileNotFoundError, match="must be a checkout"):
        authors.read_keras(tmp_path / "missing.h5")


def test_dense_network_reads_the_authors_order_of_inputs():
    network = authors.AuthorsDense(dense_layers(157, 100, 85, 60, 52))
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
        found = authors.authors_cnn(layers)(torch.from_numpy(image.transpose(2, 0, 1)[None]))
    np.testing.assert_allclose(found.numpy()[0], expected, rtol=1e-4, atol=1e-3)


def test_every_completed_turn_is_scored_for_both_players():
    hands, seed = 40, 5
    scored = np.zeros((hands, 2), np.int64)
    for positions, numbers, _ in authors.completed_turns(hands, seed):
        assert all(count_cards(int(hand)) == 10 for hand in positions.hands)
        scored[numbers, positions.view.records["player"]] += 1
    games = Games(hands, episode="hand")
    games.start(games.everyone, np.full(hands, seed, np.uint64), np.arange(hands, dtype=np.uint64))
    running = games.everyone
    while len(running):
        play_bot(games, agents.make("simple"), running)
        running = running[~games.done[running]]
    knocked = games.results["winner"] >= 0
    assert knocked.mean() > 0.8
    assert (scored[knocked] == games.results["turns"][knocked, None]).all()


@pytest.mark.parametrize(
    ("figure", "low", "high", "expected"),
    [
        (4, -2.0, -1.0, "agrees"),
        (4, -2.0, 1.0, "undecided"),
        (4, 1.0, 2.0, "differs"),
        (5, 1.0, 2.0, "agrees"),
    ],
)
def test_sentence_agrees_if_all_intervals_are_on_its_side(figure, low, high, expected):
    sentence = next(one for one in authors.SENTENCES if one.figure == figure)
    rows = [{"low": low, "high": high, "means": [10.0, 10.0]} for _ in sentence.pairs]
    assert authors.verdict(sentence, rows) == expected
    assert authors.verdict(sentence, [row | {"quick": True} for row in rows]) == ""


def test_nearly_even_allows_a_twentieth():
    sentence = next(one for one in authors.SENTENCES if one.even)
    assert authors.verdict(sentence, [{"low": -0.4, "high": 0.4, "means": [10.0, 10.0]}]) == "agrees"
    assert authors.verdict(sentence, [{"low": 0.6, "high": 0.9, "means": [10.0, 10.0]}]) == "differs"


def test_scoring_needs_a_checkout(tmp_path):
    with pytest.raises(ValueError, match="name a checkout"):
        authors.measure_scoring(Run(0, True, tmp_path))
