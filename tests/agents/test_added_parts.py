"""Networks ignore parts of the observation and of candidates that were added after their training."""

from __future__ import annotations

import json

import numpy as np
import pytest
import torch
from played_positions import played

from gin_env import agents
from gin_env.agents.generations.bot import load_network
from gin_env.agents.policies.candidate_network import DATA, PACKAGED, load_candidate_policy
from gin_env.agents.policies.policy import PolicyBot, describe_training
from gin_env.agents.policies.policy_networks import MlpActor, save_network
from gin_env.matches.provenance import FOLDERS
from gin_env.observations.observation import LAYOUT
from gin_env.observations.parts import VECTORS, describe_parts, find_parts, place_columns
from gin_env.support.tensor_files import NetworkFormat, TensorFileError

GENERATION = FOLDERS["agents"] / "generations" / "data" / "generation.safetensors"
SMALL = {"observation": [["turn", 1], ["hand", 52], ["upcard", 52]]}
"""Parts that a small policy reads, in a different order."""
READERS = {
    "row": "row_first.weight",
    "context": "table_first.weight",
    "memory": "memory.first.weight",
    "observation": "trunk.0.weight",
}
FILES = {
    **{name: (DATA / f"{name}.safetensors", "candidate policy", load_candidate_policy) for name in PACKAGED},
    "generation": (GENERATION, "generation network", load_network),
}


@pytest.mark.parametrize("name", FILES)
def test_bundled_network_finds_its_parts_by_name(tmp_path, name):
    """As after a release with more parts, in another order: here the file has them in reverse."""
    file, kind, load = FILES[name]
    tensors, metadata = NetworkFormat(kind, "2", "").read_tensors(file)
    moved = 0
    for vector, parts in metadata["reads"].items():
        ends = np.cumsum([size for _, size in parts]).tolist()
        starts = [0, *ends]
        order = [column for part in reversed(range(len(parts))) for column in range(starts[part], ends[part])]
        for layer, tensor in tensors.items():
            if layer.endswith(READERS[vector]):
                tensors[layer], moved = tensor[:, order], moved + 1
        metadata["reads"][vector] = parts[::-1]
    NetworkFormat(kind, "2", "").write_tensors(tmp_path / "moved.safetensors", tensors, metadata)
    expected, found = load(file)[0].state_dict(), load(tmp_path / "moved.safetensors")[0].state_dict()
    assert all(torch.equal(found[layer], weights) for layer, weights in expected.items())
    assert moved >= 2


def test_parts_are_found_by_name_in_the_order_of_the_file():
    reads = {"observation": [["turn", 1], ["hand", 52]]}
    turn, hand = LAYOUT["turn"].slice.start, LAYOUT["hand"].slice.start
    assert find_parts("observation", reads).tolist() == [turn, *range(hand, hand + 52)]
    for vector in VECTORS:
        columns = find_parts(vector, json.loads(json.dumps(describe_parts(vector))))
        assert columns.tolist() == list(range(len(columns)))


def test_columns_of_a_layer_are_placed_by_name():
    reads = {"row": [["gin", 1], ["deadwood", 1]]}
    placed = place_columns(torch.tensor([[1.0, 2.0], [3.0, 4.0]]), "row", reads)
    gin, deadwood = VECTORS["row"]["gin"].start, VECTORS["row"]["deadwood"].start
    assert placed[:, gin].tolist() == [1, 3]
    assert placed[:, deadwood].tolist() == [2, 4]
    assert placed.sum() == 10


@pytest.mark.parametrize(
    ("reads", "message"),
    [
        (None, "does not say which parts of the row it reads"),
        ({"row": []}, "does not say which parts of the row"),
        ({"row": ["gin"]}, r"a part of the row must be \[name, size\]"),
        ({"row": [["colour", 1]]}, "reads 'colour' of the row, which this release does not have"),
        ({"row": [["rank", 1]]}, "reads 1 values of 'rank', which has 13 here"),
        ({"row": [["gin", 1], ["gin", 1]]}, "reads 'gin' of the row"),
    ],
)
def test_missing_and_redefined_parts_are_refused(tmp_path, reads, message):
    with pytest.raises(ValueError, match=message):
        find_parts("row", reads)
    for file, kind, load in (FILES["policy"], FILES["generation"]):
        tensors, metadata = NetworkFormat(kind, "2", "").read_tensors(file)
        described = (metadata["reads"] | reads) if reads else None
        NetworkFormat(kind, "2", "").write_tensors(
            tmp_path / "other.safetensors", tensors, metadata | {"reads": described}
        )
        with pytest.raises(TensorFileError, match=r"other\.safetensors"):
            load(tmp_path / "other.safetensors")


@pytest.mark.parametrize("parts", [SMALL["observation"], describe_parts("observation")["observation"][::-1]])
@pytest.mark.parametrize(("episode", "reads_mask"), [("hand", False), ("game", False), ("game", True)])
def test_policy_reads_only_its_parts(tmp_path, parts, episode, reads_mask):
    """A policy trained on hands sees no scores."""
    reads, path = {"observation": parts}, tmp_path / "small.safetensors"
    columns = find_parts("observation", reads)
    network = MlpActor([8], reads_mask=reads_mask, num_inputs=len(columns))
    save_network(path, network, describe_training(episode=episode) | {"reads": reads})
    bot, read = agents.make(str(path)), []
    assert isinstance(bot, PolicyBot)
    bot.network.register_forward_pre_hook(lambda _, inputs: read.append(inputs[0].numpy()))
    view = played("simple").games().views(np.arange(5))
    bot.act(view)
    expected = view.observations()
    for name in ("own_score", "opponent_score"):
        assert expected[:, LAYOUT[name].slice].any()
        expected[:, LAYOUT[name].slice] *= episode == "game"
    expected = np.concatenate([view.masks()] * reads_mask + [expected[:, columns]], axis=1)
    np.testing.assert_array_equal(read[0], expected)
