"""Training of the small networks of the search."""

import numpy as np
import pytest

torch = pytest.importorskip("torch")

from typer.testing import CliRunner  # noqa: E402

from gin_env.agents.search.small_networks import MODELS, evaluate, load_networks, packaged_networks  # noqa: E402
from research.__main__ import app  # noqa: E402
from research.recipes import search_networks  # noqa: E402
from research.recipes.search_networks import WIDTH, _train_recognition, collect_decisions  # noqa: E402

pytestmark = pytest.mark.compiled


def test_networks_learn_and_repeat(tmp_path):
    contents = []
    for name in ("one", "other"):
        path = tmp_path / f"{name}.safetensors"
        done = CliRunner().invoke(app, ["train", "opponents", str(path), "--games", "100", "--seed", "3"])
        assert done.exit_code == 0, done.output + repr(done.exception)
        for line in done.output.splitlines():
            if "cross-entropy" in line:
                words = line.split()
                assert float(words[words.index("cross-entropy") + 1]) < float(words[-4])
        contents.append(path.read_bytes())
    assert contents[0] == contents[1]
    networks = load_networks(path)
    assert list(networks) == list(packaged_networks())
    assert sorted(networks) == sorted([*MODELS, "opponents"])
    for name, network in networks.items():
        for mine, packaged in zip(network, packaged_networks()[name], strict=True):
            assert mine.shape == packaged.shape


def test_each_model_learns_from_its_own_hands_and_estimator(monkeypatch):
    played = collect_decisions("simple", 1, seed=4)
    bots = []
    monkeypatch.setattr(search_networks, "collect_decisions", lambda bot, *_: bots.append(bot) or played)
    monkeypatch.setattr(search_networks, "_train_shapes", lambda positions, estimator, seed: (estimator, {}))
    monkeypatch.setattr(search_networks, "_train_recognition", lambda conduct, seed: ("conduct", {}))
    monkeypatch.setattr(search_networks, "TrainedNetworks", lambda networks, metadata: networks)
    trained = search_networks.train_opponents(1, seed=5)
    assert bots == list(MODELS)
    assert trained == {**MODELS, "opponents": "conduct"}


def test_decisions_come_in_the_order_of_their_games():
    positions = collect_decisions("simple", 6, seed=4)
    numbers = positions.view.array["public"]["hand_number"]
    assert (np.diff(numbers.astype(int)) < 0).sum() == 5  # a new game begins with its first hands
    assert (positions.view.array["public"]["to_move"] == positions.view.array["player"]).all()


def test_last_tenth_is_held_out():
    seen, inputs = [], torch.ones(300, 4)

    def loss(network, part):
        seen.append(part.tolist())
        return network(inputs[part]).mean()

    search_networks._train(inputs, 1, loss, 1, 2)
    *learned, judged = seen
    assert set().union(*learned) == set(range(270))
    assert judged == list(range(270, 300))


def test_validation_loss_is_that_of_all_models_in_new_games():
    """Only the third of three models can be recognised, so the best loss is two thirds of log 2."""

    def conduct(seed):
        rows = np.random.default_rng(seed).normal(5, 2, (3, 1000, 4)).astype(np.float32)
        rows[2, :, 0] += 20
        return rows

    network, about = _train_recognition(list(conduct(1)), seed=1)
    losses, hidden, logits = [], np.empty((2, WIDTH), np.float32), np.empty(3, np.float32)
    for label, rows in enumerate(conduct(2)):
        for row in rows:
            evaluate(network, row, hidden, logits)
            losses.append(np.log(np.exp(logits - logits[label]).sum()))
    assert about["validation_loss"] == pytest.approx(np.log(2) * 2 / 3, abs=0.08)
    assert np.mean(losses) == pytest.approx(about["validation_loss"], abs=0.08)
