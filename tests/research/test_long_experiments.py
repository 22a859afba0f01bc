"""Experiments with hours of training: resuming, and the tables of their results."""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from unplayed_runs import UnplayedRun

from gin_env.training.settings import PPOSettings
from research.papers.gallucci2021 import cfr_training
from research.papers.truong2021 import authors_networks, hand_strength_networks
from research.papers.truong2021.paper import TABLE
from research.questions import generations
from research.recipes.cfr.trainer import CFRSettings, train_table
from research.recipes.hand_strength import recipes, trainer
from research.recipes.hand_strength.trainer import HandStrengthSettings, Schedule
from research.reproduce import pages
from research.reproduce.by_id import find
from research.reproduce.experiment import Run
from research.reproduce.results import load

pytestmark = pytest.mark.compiled

RESULTS = Path(__file__).parents[2] / pages.RESULTS


def test_resumed_table_equals_an_uninterrupted_one(tmp_path):
    run = Run(0, True, tmp_path)
    first = cfr_training.trained_table(run, "dealt", 2, 20)
    later = cfr_training.trained_table(run, "dealt", 2, 50)
    assert (first.metadata["iterations"], later.metadata["iterations"]) == (20, 50)
    whole = train_table(50, CFRSettings("dealt", seed=2))
    assert np.allclose(later.strategy, whole.strategy, atol=0.5 / 254)
    assert not np.allclose(first.strategy, later.strategy, atol=0.01)


def test_trained_table_is_reused(tmp_path, monkeypatch):
    run = Run(0, True, tmp_path)
    table = cfr_training.trained_table(run, "paper", 1, 20)
    monkeypatch.setattr(cfr_training, "train_table", None)
    assert np.array_equal(cfr_training.trained_table(run, "paper", 1, 20).strategy, table.strategy)


def test_long_training_table_shows_the_mean_and_each_seed():
    rows = [
        {"iterations": 100, "seed": seed, "opponent": opponent, "visited": 10.0 * seed, "won": won}
        | {"low": won - seed / 10, "high": won + seed / 10}
        for seed, wins in ((1, (50.0, 30.0)), (2, (60.0, 33.0)))
        for opponent, won in zip(("simple", "cfr"), wins, strict=True)
    ]
    *_, line, _, intervals = find("gallucci2021/ten-million").table(rows).splitlines()
    assert line == "| 100 | 15 % | 55.00 (50.00, 60.00) | 31.50 (30.00, 33.00) |"
    assert intervals == "Intervals are at most ± 0.20."


def network_row(network: str, seed: int, won: float, selected: bool) -> dict:
    return {
        "network": network,
        "seed": seed,
        "train_loss": 90.0 + seed,
        "validation_loss": 100.0 + seed,
        "won": won,
        "low": won - 1,
        "high": won + 1,
        "selected": selected,
    }


def test_networks_table_shows_median_range_and_selected_network():
    rows = [
        network_row("dual-inception-random-256", seed, won, seed == 1)
        for seed, won in enumerate((46.1, 54.0, 55.2))
    ]
    assert find("truong2021/table-1").table(rows).splitlines()[-1] == (
        "| `dual-inception-random-256` | 3 | 91.0 | 74.8 | 101.0 (100.0 to 102.0) | 75.7 "
        "| 54.0 (46.1 to 55.2) | 55.4 ± 0.8 | 54.0 (53.0 to 55.0) |"
    )


def test_networks_are_selected_by_validation_games(tmp_path, monkeypatch):
    """The network with the most validation wins is marked, even if another wins more reported games."""
    shown = {"x, seed 0": 0.6, "x, seed 1": 0.5}

    class Match:
        def __init__(self, won: float) -> None:
            self.bots, self.games, self.wins = ("a", "b"), 100, (int(100 * won), 0)
            self.win_rate, self.interval, self.points_per_hand = won, (won, won), (1.0, 1.0)

            self.wins_and_decided = np.array([self.wins[0]]), np.array([100])

        def confidence_interval(self, confidence: float) -> tuple[float, float]:
            return self.interval

        def each_deal(self) -> np.ndarray:
            return np.zeros(1)

    monkeypatch.setattr(hand_strength_networks, "play_network", lambda run, path, label: Match(shown[label]))
    trainings = [
        {"validated": validated, "train_losses": [9.0, 8.0], "validation_losses": [9.5, 8.5]}
        for validated in (0.4, 0.45)
    ]
    settings = HandStrengthSettings("mlp", Schedule(4, 8, 1e-3, 0.5, 2))
    for seed in (0, 1):
        (tmp_path / f"x-{seed}.safetensors").touch()
    loaded = iter(trainings)
    monkeypatch.setattr(hand_strength_networks, "load_network", lambda path: (None, next(loaded)))
    rows = hand_strength_networks.network_rows(Run(0, True, tmp_path), "x", None, settings)
    assert [row["selected"] for row in rows] == [False, True]
    assert [row["won"] for row in rows] == [60.0, 50.0]
    assert [row["validated"] for row in rows] == [40.0, 45.0]
    assert [row["validation_loss"] for row in rows] == [8.5, 8.5]


def test_each_seed_has_its_own_network(tmp_path, monkeypatch):
    """A file shared by all seeds would show the figures of one network as those of ten."""

    def train(states, one):
        return SimpleNamespace(network=None, describe=lambda: {"seed": one.seed})

    monkeypatch.setattr(hand_strength_networks, "train", train)
    monkeypatch.setattr(hand_strength_networks, "validation_match", lambda *_: SimpleNamespace(win_rate=0.5))
    module = hand_strength_networks
    monkeypatch.setattr(
        module, "FORMAT", SimpleNamespace(write=lambda path, _, about: path.write_text(json.dumps(about)))
    )
    monkeypatch.setattr(module, "load_network", lambda path: (None, json.loads(path.read_text())))
    monkeypatch.setattr(module, "play_network", lambda *_: None)
    monkeypatch.setattr(module, "network_row", lambda _, **about: about)
    monkeypatch.setattr(module, "losses_row", lambda training, **_: {"trained": training["seed"]})
    settings = HandStrengthSettings("mlp", Schedule(4, 8, 1e-3, 0.5, 2))
    rows = module.network_rows(Run(4, True, tmp_path), "x", None, settings)
    assert [(row["seed"], row["trained"]) for row in rows] == [(4, 4), (5, 5)]


def test_training_is_measured_at_its_end_too(tmp_path, monkeypatch):
    """Between two measurements the number of states grows by half; the last is at the longest training."""

    class Trainer:
        def __init__(self, states, settings) -> None:
            self.epoch, self.training, self.seed = 0, range(300), settings.seed

        def run_epoch(self) -> None:
            self.validation_losses = [10.0 - self.epoch]
            self.epoch += 1

    monkeypatch.setattr(hand_strength_networks, "HandStrengthTrainer", Trainer)
    monkeypatch.setattr(hand_strength_networks, "validation_match", lambda trainer, games: trainer.seed)
    monkeypatch.setattr(hand_strength_networks, "data_set", lambda run, name: name)
    monkeypatch.setattr(hand_strength_networks, "match_row", lambda seen, **about: about | {"trained": seen})
    rows = hand_strength_networks.measure_training_length(Run(0, True, tmp_path))
    assert [row["states_seen"] for row in rows] == [300, 600, 900, 1200]
    monkeypatch.setattr(Run, "size", lambda run, full, quick: min(full, 2100))
    rows = hand_strength_networks.measure_training_length(Run(7, True, tmp_path))
    assert [row["states_seen"] for row in rows[:6]] == [300, 600, 900, 1500, 2100, 300]
    assert [row["validation_loss"] for row in rows[:5]] == [10.0, 9.0, 8.0, 6.0, 4.0]
    assert {(row["seed"], row["trained"]) for row in rows} == {(7, 7), (8, 8)}


def test_networks_learn_with_the_data_set_and_seed_of_their_rows(tmp_path, monkeypatch):
    """A fitted version takes the place of Random-256."""
    asked, seeds, module = [], [], authors_networks
    monkeypatch.setattr(module, "data_set", lambda run, name, *_: asked.append(name))

    def networks_by_epoch(run, label, states, settings, measured):
        seeds.append(settings.seed)
        return [(3, "file")]

    monkeypatch.setattr(module, "networks_by_epoch", networks_by_epoch)
    for row in ("unmelded_row", "network_row"):
        monkeypatch.setattr(module, row, lambda *_, **about: about)
    monkeypatch.setattr(module, "play_network", lambda *_: None)
    monkeypatch.setattr(module, "load_network", lambda path: (None, {}))
    monkeypatch.setattr(module, "losses_row", lambda training, **_: {})
    monkeypatch.setattr(module, "interval", lambda row: "")
    for experiment in ("truong2021/authors-features", "truong2021/authors-features-more"):
        measure = find(experiment).measure
        rows = measure(Run(5, False, tmp_path))
        assert [row["data_set"] for row in rows] == asked
        assert set(asked) & set(module.FITTED.values())
        expected = [5 + training.get("seed", 0) for training in measure.keywords["trainings"]]
        assert [row["seed"] for row in rows] == seeds == expected
        asked.clear()
        seeds.clear()


def test_each_training_has_its_own_file_and_paper_row():
    trainings = [
        authors_networks.Training(**fields)
        for name in ("truong2021/authors-features", "truong2021/authors-features-more")
        for fields in find(name).measure.keywords["trainings"]
    ]
    assert len({training.label for training in trainings}) == len(trainings)
    networks = {training.network for training in trainings}
    assert networks == set(TABLE) - {"dual-inception-16-random-16-augmented"}


def test_trainings_with_other_seeds_have_their_own_lines():
    rows = [
        {"network": "mlp-random-16", "observations": 500, "seed": seed, "epoch": epoch}
        | {"validation_loss": 140.0 - epoch, "won": won, "low": won - 1, "high": won + 1}
        | ({"unmelded": [won + 5, won + 4, won + 6]} if epoch == 36 else {})
        for seed, epoch, won in ((0, 3, 30.0), (0, 36, 10.0), (1, 36, 40.0))
    ]
    assert find("truong2021/authors-features").table(rows).splitlines()[2:] == [
        "| `mlp-random-16` | 500 | 0 | 159.4; 44.0 ± 0.8 | 137.0; 30.0 (29.0 to 31.0) "
        "| 104.0; 10.0 (9.0 to 11.0) | 15.0 (14.0 to 16.0) |",
        "| `mlp-random-16` | 500 | 1 | 159.4; 44.0 ± 0.8 |  "
        "| 104.0; 40.0 (39.0 to 41.0) | 45.0 (44.0 to 46.0) |",
    ]


class States:
    """A data set of which only the description counts."""

    scores = np.array([1.0, 5.0])

    def __init__(self, name: str, stages: str = "last", observations: int = 200_000, key: int = 0) -> None:
        self.metadata = {"explorer": name, "stages": stages, "size": observations, "key": key}

    def __len__(self) -> int:
        return self.metadata["size"]

    def save(self, path) -> None:
        pass


class Learner:
    """A trainer that learns nothing, and whose network's file says what it would have learned from."""

    network = None

    def __init__(self, states, settings) -> None:
        self.states, self.settings, self.epoch = states, settings, 0
        self.validation_losses = [5.0]
        self.save_checkpoint, self.win_rate = states.save, -abs(settings.seed - 3)

    def run_epoch(self) -> None:
        self.epoch += 1
        self.validation_losses.append(100.0 - self.epoch)

    def describe(self) -> dict:
        losses = {"train_losses": [3.0], "validation_losses": self.validation_losses}
        return asdict(self.settings) | losses | self.states.metadata | {"epoch": self.epoch}


@pytest.fixture
def unlearned(monkeypatch):
    """Replace trainings, data sets and bots; of each ten networks, seed 3 validates best."""
    stubs = {
        "FORMAT": SimpleNamespace(write=lambda path, _, about: path.write_text(json.dumps(about))),
        "OffensiveBot": lambda file: SimpleNamespace(file=Path(file).name),
        "data_set": lambda run, *about, **more: States(*about, **more),
        "explore": lambda bot, _, size, estimator, seed: States(bot.file, "last", size, seed),
        "load_network": lambda path: (None, json.loads(path.read_text())),
        "play_network": lambda run, path, label: run.match(f"offensive with {label}", "simple", 10_000),
    }
    for name, stub in stubs.items():
        monkeypatch.setattr(hand_strength_networks, name, stub)
    monkeypatch.setattr(hand_strength_networks, "HandStrengthTrainer", Learner)
    monkeypatch.setattr(hand_strength_networks, "train", Learner)
    monkeypatch.setattr(hand_strength_networks, "validation_match", lambda learner, _: learner)


@pytest.mark.parametrize(
    "name", ["truong2021/table-1", "truong2021/controls", "truong2021/schedule", "truong2021/loop"]
)
def test_networks_are_trained_and_measured_as_published(name, tmp_path, unlearned):
    keys = ("network", "seed", "data_set", "epoch", "generation", "bot", "opponent", "games")
    published = load(RESULTS, name)
    run = UnplayedRun(published.seed, tmp_path)
    rows = find(name).measure(run)
    mine, theirs = ([[row.get(key) for key in keys] for row in each] for each in (rows, published.rows))
    assert mine == theirs
    of_schedule = name == "truong2021/schedule"
    for row in rows:
        ends = run.matches[row["won"]].confidence_interval(0.95 if of_schedule else 0.9)
        assert (row["low"], row["high"]) == pytest.approx([100 * end for end in ends], abs=1e-3)
        if of_schedule:
            file, data = f"{row['data_set']}, seed {row['seed']}, epoch {row['epoch']}", row["data_set"]
        else:
            assert row["selected"] == (row["seed"] == 3)
            file, before = f"{row['network'].replace(' ', '-')}-{row['seed']}", row.get("generation", 1) - 1
            data = f"generation-{before}-3.safetensors" if before else "random-16"
        recipe = recipes.RECIPES.get(row.get("network"), recipes.Recipe("dual-inception", data))
        learned = json.loads((tmp_path / f"{file}.safetensors").read_text())
        expected = asdict(recipe) | {"seed": row["seed"], "epoch": row.get("epoch", 0), "key": run.seed}
        expected |= {"explorer": expected.pop("data_set"), "size": 1_000_000 if of_schedule else 200_000}
        assert {key: learned[key] for key in expected} == expected
        assert row["validation_loss"] == learned["validation_losses"][-1]
        if "explorer" in row:
            described = [row[key] for key in ("explorer", "states", "mean_score", "score_deviation")]
            assert described == [recipe.data_set, 200_000, 3, 2]


def test_schedule_resumes_from_its_checkpoint(tmp_path):
    from small_data_set import tiny_data

    data, settings = tiny_data(40), HandStrengthSettings("mlp", Schedule(4, 8, 1e-3, 0.5, 2))
    whole = trainer.train(data, settings)
    run = Run(0, True, tmp_path)
    ((epoch, _),) = hand_strength_networks.networks_by_epoch(run, "x", data, settings, [2])
    assert epoch == 2
    _, (epoch, path) = hand_strength_networks.networks_by_epoch(run, "x", data, settings, [2, 4])
    assert epoch == 4
    stored = hand_strength_networks.load_network(path)[1]
    assert stored["validation_losses"] == pytest.approx(whole.validation_losses)


def test_pools_exclude_their_left_out_and_the_held_out_bots():
    whole, *others = generations.LEFT_OUT.items()
    assert whole[0] == "nothing"
    for left_out, pool in others:
        assert set(whole[1]) - set(pool) == {left_out.strip("`")}
    for _, pool in generations.LEFT_OUT.items():
        assert not {bot.partition(":")[0] for bot in (*pool, *PPOSettings.bots)} & set(generations.HELD_OUT)
    assert "late-knock" not in generations.HELD_OUT  # almost `simple:knock_at=0`, which is in the pools


def test_unmet_bots_are_marked():
    rows = [
        {"left_out": left_out, "seed": seed, "opponent": opponent, "won": won}
        for opponent in ("tonic", "late-knock", "utility")
        for left_out, wins in (("nothing", (66.0, 68.0)), ("`tonic`", (60.0, 62.0)))
        for seed, won in enumerate(wins)
    ]
    table = find("generation-held-out").table(rows)
    assert "| `tonic` | 67.0 (66.0, 68.0) | *61.0 (60.0, 62.0)* |" in table
    assert "| `late-knock` | 67.0 (66.0, 68.0) | 61.0 (60.0, 62.0) |" in table
    assert "| `utility` | *67.0 (66.0, 68.0)* | *61.0 (60.0, 62.0)* |" in table


@pytest.fixture
def finished_loop(monkeypatch):
    """Replace the loop: generation 1 was rejected and generation 2 kept, with the same weights."""
    from gin_env.agents.generations.bot import SHIPPED
    from gin_env.training.generations import loop

    history = [loop.Generation(number, number != 1, {}, {}, {}, 0, 0, 0.0) for number in range(3)]

    def run(folder, *arguments, **options):
        folder.mkdir()
        for number in (1, 2):
            (folder / f"generation-{number}.safetensors").write_bytes(Path(SHIPPED).read_bytes())
        return iter(history)

    monkeypatch.setattr(loop, "run", run)
    monkeypatch.setattr(loop, "read_history", lambda folder: history)


def test_each_generation_meets_the_champion_before_it(finished_loop, tmp_path):
    rows = generations.measure_generations(Run(0, True, tmp_path))
    assert [row["kept"] for row in rows if row["opponent"] == "tonic"] == 2 * [True, False, True]
    for knock in generations.LAST:
        found = {(row["generation"], row["opponent"]): row for row in rows if row["run"] == knock}
        assert len(found) == 3 * 3 + 2
        for number in (1, 2):  # the champion is generation 0, which is `simple`, until generation 2 is kept
            against = [found[number, opponent] for opponent in ("simple", "previous")]
            assert against[0]["deals"] == against[1]["deals"]
    assert found[0, "tonic"]["bot"] == "generation 0, knock simple"


def test_measured_champion_is_the_last_kept_generation(finished_loop, tmp_path):
    kept, bots = generations.read_generations(Run(0, True, tmp_path), tmp_path / "pool", 1, generations.POOL)
    assert kept == [True, False, True]
    assert [bot.name for bot in bots] == ["simple", "generation-1", "generation-2"]
