"""Networks ignore parts of the observation and of candidates that were added after their training."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from played_positions import played

torch = pytest.importorskip("torch")

from gin_env import agents  # noqa: E402
from gin_env.agents.generations.network import load_network  # noqa: E402
from gin_env.agents.policies.candidate_network import DATA, PACKAGED, load_candidate_policy  # noqa: E402
from gin_env.agents.policies.policy import PolicyBot, describe_training  # noqa: E402
from gin_env.agents.policies.policy_networks import MlpActor, save_network  # noqa: E402
from gin_env.matches.provenance import FOLDERS  # noqa: E402
from gin_env.observations.observation import LAYOUT, OBSERVATION_SIZE  # noqa: E402
from gin_env.observations.parts import VECTORS, describe_parts, find_parts, place_columns  # noqa: E402
from gin_env.support.tensor_files import TensorFileError, read_tensors, write_tensors  # noqa: E402

ADDITIONS = {
    "observation.py": [
        ('PLANES = {\n', 'PLANES = {\n    "new_plane": "",\n'),
        ('SCALARS = {\n', 'SCALARS = {\n    "new_scalar": "",\n'),
        ("    row[_AT.offer] =", "    row[_AT.new_plane] = row[_AT.new_scalar] = 1.0\n    row[_AT.offer] ="),
    ],
    "candidate_features.py": [
        ('_HAND = {\n', '_HAND = {\n    "new_feature": "",\n'),
        ('CONTEXT = {\n', 'CONTEXT = {\n    "new_number": "",\n'),
        ("    row[_AT.deadwood] =", "    row[_AT.new_feature] = 0.5\n    row[_AT.deadwood] ="),
        ("    row[_IN_CONTEXT.turn] =", "    row[_IN_CONTEXT.new_number] = 0.5\n    row[_IN_CONTEXT.turn] ="),
    ],
}  # fmt: skip
"""File of gin_env/observations -> replacements that add four parts."""
GENERATION = FOLDERS["agents"] / "generations" / "data" / "generation.safetensors"
SMALL = {"observation": [["turn", 1], ["hand", 52], ["upcard", 52]]}
"""Parts that a small policy reads, in a different order."""
PLAY = """
import json, sys
if sys.argv[1] == "interpreted":
    import interpreted
import numpy as np
from gin_env import Games, agents
from gin_env.observations.observation import OBSERVATION_SIZE

games = Games(2)
games.start(games.everyone, np.full(2, 3, np.uint64), games.everyone.astype(np.uint64))
bots = [agents.make(name) for name in sys.argv[2:]]
actions = []
for step in range(6):
    views = games.views(games.everyone)
    chosen = [bot.act(views).tolist() for bot in bots]
    actions += chosen
    games.play(games.everyone, np.array(chosen[step % len(bots)]))
print(json.dumps([OBSERVATION_SIZE, actions]))
"""


def small_policy(path: Path) -> None:
    """Write a policy that reads the parts of `SMALL`."""
    torch.manual_seed(0)
    network = MlpActor([8], num_inputs=105)
    torch.nn.init.normal_(network.action_net.weight)
    save_network(path, network, describe_training(episode="game") | {"reads": SMALL})


def play(folder: Path | None, mode: str, *bots: str) -> list:
    environment = os.environ | {"PYTHONPATH": str(Path(__file__).parents[1] / "helpers")}
    done = subprocess.run(
        [sys.executable, "-c", PLAY, mode, *bots], cwd=folder, env=environment, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def test_bundled_networks_play_as_before_with_more_parts(tmp_path):
    small_policy(tmp_path / "small.safetensors")
    bundled = (*PACKAGED, "generation")
    bots = (*bundled, str(tmp_path / "small.safetensors"))
    package = FOLDERS["estimators"].parent
    shutil.copytree(package, tmp_path / "gin_env", ignore=shutil.ignore_patterns("__pycache__"))
    for name, replacements in ADDITIONS.items():
        file = tmp_path / "gin_env" / "observations" / name
        source = file.read_text()
        for old, new in replacements:
            assert source.count(old) == 1, old
            source = source.replace(old, new)
        file.write_text(source)
    size, actions = play(tmp_path, "interpreted", *bots)
    assert size == OBSERVATION_SIZE + 53
    assert actions == play(None, "compiled", *bots)[1]


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
    for file, kind, load in (
        (DATA / "policy.safetensors", "candidate policy", load_candidate_policy),
        (
            FOLDERS["agents"] / "generations" / "data" / "generation.safetensors",
            "generation network",
            load_network,
        ),
    ):
        tensors, metadata = read_tensors(file, kind, "2", "")
        described = (metadata["reads"] | reads) if reads else None
        write_tensors(tmp_path / "other.safetensors", kind, "2", tensors, metadata | {"reads": described})
        with pytest.raises(TensorFileError, match=r"other\.safetensors"):
            load(tmp_path / "other.safetensors")


def test_policy_reads_only_its_parts(tmp_path):
    small_policy(tmp_path / "small.safetensors")
    bot = agents.make(str(tmp_path / "small.safetensors"))
    assert isinstance(bot, PolicyBot)
    read = []
    bot.network = lambda observations: read.append(observations) or torch.zeros(len(observations), 107)
    view = played("simple").games().views(np.arange(5))
    bot.act(view)
    expected = view.observations()[:, find_parts("observation", SMALL)]
    np.testing.assert_array_equal(read[0].numpy(), expected)
