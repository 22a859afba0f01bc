"""Data sets of hands: content, completion after an interruption and reproducible bytes."""

from __future__ import annotations

import subprocess
import sys

import gymnasium
import numpy as np
import pytest

from examples import dataset, minari_dataset
from gin_env import Rules, estimators
from gin_env.game.cards import NUM_CARDS

pytest.importorskip("pyarrow")
SETTING = {"hands": 200, "shard_size": 80, "seed": 5, "bot": "simple", "estimator": "bayes"}


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    folder = tmp_path_factory.mktemp("made")
    dataset.make(folder, **SETTING)
    return folder


def contents(folder):
    return {path.name: path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def test_hands_replay_to_the_columns(made):
    num_hands = 0
    for hands in dataset.load(made):
        num_hands += len(hands)
        estimator = estimators.make("bayes")
        for index in range(0, len(hands), 20):
            record = hands.record(index)
            decisions = [position for position in record.positions() if position.action is not None]
            start, end = hands.starts[index : index + 2]
            assert len(decisions) == end - start
            for row, position in zip(range(start, end), decisions, strict=True):
                view = position.view()
                assert view.hands[0] == hands.own_hands[row]
                assert hands.opponent_hands[row] in position.state["private"]["hand"]
                expected = estimator.estimate(view)[0].astype(np.float16)
                np.testing.assert_array_equal(hands.beliefs[row], expected)
            record.check()
            (hand,) = record.hands
            ended = hands.outcomes[index], hands.winners[index], hands.knockers[index], hands.points[index]
            winner, knocker = (-1 if seat is None else seat for seat in (hand.winner, hand.knocker))
            assert (hand.outcome, winner, knocker, hand.points) == ended
    assert num_hands == 200
    assert hands.beliefs.shape == (len(hands.actions), NUM_CARDS)


def test_hands_of_a_small_deck_replay(tmp_path):
    rules = Rules(ranks=6, hand_size=5)
    dataset.make(tmp_path, **SETTING | {"hands": 3}, rules=rules)
    (hands,) = dataset.load(tmp_path)
    for index in range(len(hands)):
        record = hands.record(index)
        record.check()
        assert record.rules == rules
        assert record.hands[0].outcome == hands.outcomes[index]


def test_interrupted_data_set_is_completed_with_the_same_bytes(made, tmp_path):
    dataset.make(tmp_path, **SETTING)
    (tmp_path / "data" / "hands-00001.parquet").unlink()
    (tmp_path / "data" / ".hands-00001.parquet.aa.partial").write_bytes(b"PAR1")
    done = []
    dataset.make(tmp_path, **SETTING, progress=done.append)
    assert done == [80, 40, 80]
    assert contents(tmp_path) == contents(made)


@pytest.mark.long
def test_workers_make_the_same_bytes(made, tmp_path):
    dataset.make(tmp_path, **SETTING, workers=2)
    assert contents(tmp_path) == contents(made)


@pytest.mark.parametrize("hands", [100, 160])
def test_smaller_data_set_can_be_made_larger(made, tmp_path, hands):
    dataset.make(tmp_path, **SETTING | {"hands": hands})
    dataset.make(tmp_path, **SETTING | {"hands": 200})
    assert contents(tmp_path) == contents(made)


@pytest.mark.parametrize(
    "other", [{"seed": 6}, {"bot": "tonic"}, {"estimator": "uniform"}, {"shard_size": 100}]
)
def test_folder_of_another_data_set_is_refused(made, other):
    before = contents(made)
    with pytest.raises(ValueError, match="another data set"):
        dataset.make(made, **SETTING | other)
    assert contents(made) == before


def test_files_of_another_kind_are_refused(tmp_path):
    with pytest.raises(FileNotFoundError, match="is not a data set"):
        dataset.load(tmp_path)
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "hands-00000.parquet").write_bytes(b"nothing")
    with pytest.raises(ValueError, match="not a file of hands"):
        list(dataset.load(tmp_path))


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"hands": 0}, "hands"),
        ({"shard_size": 0}, "shard_size"),
        ({"bot": "nobody"}, "unknown bot"),
        ({"estimator": "nothing"}, "unknown estimator"),
    ],
)
def test_wrong_settings_make_no_folder(tmp_path, wrong, message):
    with pytest.raises(ValueError, match=message):
        dataset.make(tmp_path / "new", **SETTING | wrong)
    assert not (tmp_path / "new").exists()


def run_script(*arguments: object) -> None:
    done = subprocess.run(
        [sys.executable, dataset.__file__, *map(str, arguments)], capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr


@pytest.mark.long
def test_script_writes_the_data_card(tmp_path):
    options = ("--hands", 20, "--shard-size", 10, "--bot", "simple", "--estimator", "bayes")
    run_script(tmp_path, *options)
    card = (tmp_path / "README.md").read_text()
    assert "20 hands of Gin Rummy, played by the bot `simple`" in card
    assert "--hands 20 --shard-size 10 --seed 0 --bot simple --estimator bayes" in card
    assert "| `belief`* |" in card


@pytest.mark.long
def test_data_set_carries_its_rules(tmp_path):
    run_script(tmp_path, "--hands", 30, "--bot", "simple", "--estimator", "uniform", "--rules", "straight")
    (hands,) = dataset.load(tmp_path)
    assert set(hands.outcomes) <= {"gin", "void"}
    assert hands.record(0).rules == Rules.preset("straight")
    assert hands.record(0).positions()
    card = (tmp_path / "README.md").read_text()
    assert "--rules straight" in card
    assert "rules are gin-env's `straight`" in card


@pytest.mark.filterwarnings("ignore:.*is set to None")  # author, address of the code
def test_minari_episodes_are_those_of_the_environment(made, tmp_path, monkeypatch):
    (hands, *_) = dataset.load(made)
    found = list(minari_dataset.episodes(hands))
    assert len(found) > 1.9 * len(hands)
    env = gymnasium.make("gin_env/GinRummy-v0", opponent="simple")
    for episode in found[:20]:
        count = len(episode["actions"])
        seen = episode["observations"]
        assert seen["observation"].shape == (count + 1, *env.observation_space["observation"].shape)
        assert seen["action_mask"][np.arange(count), episode["actions"]].all()
        assert not seen["action_mask"][-1].any()
        assert episode["terminations"].tolist() == [False] * (count - 1) + [True]
        assert episode["rewards"][:-1].sum() == 0
    points = {abs(round(100 * episode["rewards"][-1])) for episode in found}
    assert points == set(hands.points.tolist())
    minari = pytest.importorskip("minari")
    monkeypatch.setenv("MINARI_DATASETS_PATH", str(tmp_path))
    assert minari_dataset.export(made, "gin-rummy/simple-v0") >= 380
    read = minari.load_dataset("gin-rummy/simple-v0")
    first = read[0]
    np.testing.assert_array_equal(first.observations["observation"], found[0]["observations"]["observation"])
    assert read.recover_environment().unwrapped.seat.opponent_name(0) == "simple"
