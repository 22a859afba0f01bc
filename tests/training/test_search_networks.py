"""Training of the small networks of the search."""

import numpy as np
import pytest

torch = pytest.importorskip("torch")

from typer.testing import CliRunner  # noqa: E402

from gin_env.agents.search.opponents import MODELS  # noqa: E402
from gin_env.agents.search.small_networks import load_networks, packaged_networks  # noqa: E402
from gin_env.cli import app  # noqa: E402
from gin_env.training.search_networks import collect_decisions  # noqa: E402

pytestmark = pytest.mark.compiled


def test_networks_learn_and_repeat(tmp_path):
    contents = []
    for name in ("one", "other"):
        path = tmp_path / f"{name}.safetensors"
        done = CliRunner().invoke(app, ["train", "opponents", str(path), "--games", "40", "--seed", "3"])
        assert done.exit_code == 0, done.output + repr(done.exception)
        for line in done.output.splitlines():
            if "cross-entropy" in line:
                words = line.split()
                assert float(words[words.index("cross-entropy") + 1]) < float(words[-4])
        contents.append(path.read_bytes())
    assert contents[0] == contents[1]
    networks = load_networks(path)
    assert list(networks) == list(packaged_networks()) == sorted([*MODELS, "opponents"])
    for name, network in networks.items():
        for mine, packaged in zip(network, packaged_networks()[name], strict=True):
            assert mine.shape == packaged.shape


def test_decisions_come_in_the_order_of_their_games():
    positions = collect_decisions("simple", 6, seed=2)
    numbers = positions.view.records["public"]["hand_number"]
    assert (np.diff(numbers.astype(int)) < 0).sum() == 5  # a new game begins with its first hands
    assert (positions.view.records["public"]["to_move"] == positions.view.records["player"]).all()
