"""Estimator metrics on worked examples, and the evaluation of several estimators."""

from __future__ import annotations

import csv
import math
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest
from hands_in_words import ONE_GAME, Table

from gin_env import Rules, agents, cards, cli, estimators
from gin_env.training.estimators import evaluation
from gin_env.training.estimators.evaluation import FIGURES, draw_all, evaluate_estimators
from gin_env.training.estimators.metrics import METRICS, held_ranks, measure
from gin_env.training.estimators.positions import Positions, play_hands
from research.recipes.estimators.sampling import collect_positions

HAND = "AH 2H 3H 4H 5H 6H 7H 8H 9H TH"


def metrics_of(estimate: np.ndarray, hand: str = HAND) -> dict[str, float]:
    """Return the metrics of one estimate of a hand when only the player's clubs and upcard KC are known."""
    table = Table("AC 2C 3C 4C 5C 6C 7C 8C 9C TC", HAND, "KC", dealer=0)
    positions = Positions(table.games.views(ONE_GAME, 0), np.array([cards.parse(hand)], np.uint64))
    return dict(zip(METRICS, measure(estimate[None], positions)[0].tolist(), strict=True))


def held() -> np.ndarray:
    return np.array([cards.parse(HAND) >> card & 1 for card in range(52)], np.float32)


def test_true_hand_is_perfect_in_every_metric():
    perfect = dict.fromkeys(METRICS, 0) | {"minimum_top_largest": 10, "top_cards": 10}
    assert metrics_of(held()) == pytest.approx(perfect, abs=1e-6)
    losses = [metrics_of(estimate)["log_loss"] for estimate in (held(), 1 - held())]
    assert losses == pytest.approx([-math.log(1 - 1e-7), -math.log(1e-7)])


def test_one_wrong_guess_has_the_worked_metrics():
    """The most likely card (KD) is wrong; the next ten are the hand in descending order."""
    estimate = held() * np.linspace(0.9, 0.8, 52, dtype=np.float32)
    estimate[cards.card_id("KD")] = 1
    values = metrics_of(estimate)
    assert values["minimum_top_largest"] == 11
    assert values["top_cards"] == 9
    assert values["drift_area"] == sum(11 - k for k in range(1, 11))
    expected = sum((1 - p) ** 2 for p in estimate[held() == 1].tolist()) + 1
    assert values["squared_difference"] == pytest.approx(expected / 52)


def test_hand_of_seven_cards_is_measured_by_its_size():
    """Of the seven most likely cards, AH to 7H, four are held; the held ones rank 4th to 10th."""
    values = metrics_of(held() * np.linspace(0.9, 0.8, 52, dtype=np.float32), "4H 5H 6H 7H 8H 9H TH")
    assert (values["top_cards"], values["minimum_top_largest"]) == (4, 10)
    assert values["drift_area"] == sum((8 - k) * 3 for k in range(1, 8))
    assert metrics_of(held(), HAND[:20])["integrity_loss"] == pytest.approx(100 * 3 / 7)


def test_integrity_and_log_loss_match_worked_values():
    estimate = np.full(52, 0.25, np.float32)
    estimate[:13] = 0
    values = metrics_of(estimate)
    assert values["integrity_loss"] == pytest.approx(abs(0.25 * 39 - 10) * 10)
    unknown = {"held": 10, "not held": 52 - 11 - 10}
    estimate[10] = estimate[11] = 0.25  # JC and QC are unseen too, KC is the upcard
    loss = -(unknown["held"] * math.log(0.25) + unknown["not held"] * math.log(0.75)) / 41
    assert metrics_of(estimate)["log_loss"] == pytest.approx(loss)


def test_tied_estimates_are_ranked_at_random():
    """A constant estimate finds 10 * 10 / 52 cards on average, whichever cards are held."""
    ranks = np.empty(52, np.int64)
    found = []
    for key in range(2000):
        held_ranks(np.full(52, 0.5), cards.parse(HAND), np.uint64(key), ranks)
        assert len(set(ranks[:10].tolist())) == 10
        assert sorted(ranks[:10].tolist()) == ranks[:10].tolist()
        found.append((ranks[:10] <= 10).sum())
    assert np.mean(found) == pytest.approx(100 / 52, abs=0.15)


@pytest.fixture(scope="module")
def result() -> evaluation.Evaluation:
    return evaluate_estimators(["uniform", "omniscient"], hands=300, seed=1)


@pytest.mark.compiled
def test_uniform_and_omniscient_have_the_expected_metrics(result):
    none, everything = 0, 1
    assert result.counts[0] == 0
    assert 280 <= result.counts[1] < 300, "few knock in the first turn"
    assert (np.diff(result.counts[1:]) <= 0).all()
    along = evaluation.estimate_along([], agents.make("simple"), 300, 1)
    assert result.counts.sum() == sum(len(positions) for positions, *_ in along), "the last turn included"
    assert result.overall("squared_difference")[everything] == 0
    assert result.overall("minimum_top_largest")[everything] == 10
    assert result.overall("top_cards")[everything] == 10
    assert result.overall("drift_area")[everything] == 0
    assert (result.overall("integrity_loss") < 1e-3).all()
    # After the first turn the opponent holds 10 of the 41 cards that are neither in hand nor in the pile, or
    # 9 of 40 if the upcard was taken, or 10 of 40 if it was declined.
    shares = [10 / 40, 9 / 41, 9 / 40, 10 / 41]
    entropies = [-p * math.log(p) - (1 - p) * math.log(1 - p) for p in shares]
    assert min(entropies) - 0.01 < result.mean("log_loss")[none, 1] < max(entropies) + 0.01
    assert result.bins[:, :, 0].sum() > 0
    assert result.calibration_error()[everything] == 0
    assert result.calibration_error()[none] < 0.02


@pytest.mark.compiled
def test_bins_count_unknown_cards_by_their_estimates():
    expected = np.zeros((evaluation.BINS, 3))
    along = evaluation.estimate_along([estimators.make("nn")], agents.make("simple"), 20, 2)
    for positions, _, (estimates,), _ in along:
        unseen = estimators.known_cards(positions.view)[1]
        for estimate, truth in zip(
            estimates[unseen].tolist(), positions.truth()[unseen].tolist(), strict=True
        ):
            expected[min(int(20 * estimate), 19)] += 1, estimate, truth
    assert (expected[:, 0] > 0).sum() > 10
    with pytest.raises(ValueError, match="expected estimates of shape"):
        measure(estimates[:, 1:], positions)
    np.testing.assert_allclose(evaluate_estimators(["nn"], 20, 2).bins[0], expected)


@pytest.mark.compiled
def test_each_player_of_each_hand_has_a_memory_of_its_own():
    class Counting:
        def new_memory(self, count: int) -> np.ndarray:
            return np.zeros(count, np.int64)

        def advance(self, view, memory: np.ndarray) -> np.ndarray:
            memory += 1
            return memory[:, None].repeat(52, axis=1)

    seen = np.zeros((20, 2), np.int64)
    for positions, numbers, (counted,), _ in evaluation.estimate_along(
        [Counting()], agents.make("simple"), 20, 1
    ):
        places = numbers, positions.view.array["player"]
        seen[places] += 1
        assert np.array_equal(counted[:, 0], seen[places])


def numbers_of_hands(seed: int = 2) -> list[int]:
    along = evaluation.estimate_along([], agents.make("simple"), 50, seed)
    return sorted(number for _, numbers, *_ in along for number in numbers.tolist())


@pytest.mark.compiled
def test_result_does_not_depend_on_batching(result, monkeypatch):
    names, numbers = ["uniform", "nn"], numbers_of_hands()
    whole = evaluate_estimators(names, hands=50, seed=2)
    seen: list[int] = []
    monkeypatch.setattr("gin_env.training.estimators.positions.HANDS_PER_BATCH", 20)
    assert numbers_of_hands() == numbers
    parts = evaluate_estimators(names, hands=50, seed=2, progress=seen.append)
    assert sum(seen) == 50
    assert whole.counts.sum() == len(numbers) != len(numbers_of_hands(seed=3))
    assert np.array_equal(whole.counts, parts.counts)
    rounding = np.full(len(METRICS), 1e-8)
    rounding[list(METRICS).index("integrity_loss")] = 1e-5  # the small difference of two float32 sums
    assert (np.abs(whole.sums - parts.sums) <= rounding + 1e-5 * np.abs(parts.sums)).all()
    assert np.allclose(whole.bins[:, :, 0], parts.bins[:, :, 0])


@pytest.mark.compiled
def test_each_seat_has_a_bot_of_its_own():
    class Watching:
        def __init__(self, name: str) -> None:
            self.name, self.players = name, set()

        def act(self, view) -> np.ndarray:
            self.players.update(view.array["player"].tolist())
            return agents.make("simple").act(view)

    seats = set()
    for seed in range(20):
        bots = Watching("one"), Watching("other")
        for _ in play_hands(bots, 1, seed):
            pass
        seats.add(tuple(tuple(sorted(bot.players)) for bot in bots))
    assert seats == {((0, 1), ()), ((), (0, 1)), ((0,), (1,)), ((1,), (0,))}


@pytest.mark.compiled
def test_standard_errors_follow_from_the_stored_sums(result):
    mean, error = result.mean("log_loss")[0, 3], result.standard_error("log_loss")[0, 3]
    column = list(METRICS).index("log_loss")
    count, squares = result.counts[3], result.squares[0, 3, column]
    assert error == pytest.approx(math.sqrt((squares / count - mean**2) / (count - 1)))
    assert result.standard_error("top_cards")[0, 3] > 0
    total = np.nansum(result.mean("log_loss")[0] * result.counts)
    assert result.overall("log_loss")[0] == pytest.approx(total / result.counts.sum())
    bins = np.array([[[2, 0.2, 1], [2, 1.8, 1]]])  # too low in one bin and as much too high in the other
    assert replace(result, bins=bins).calibration_error() == pytest.approx([(0.8 + 0.8) / 4])


@pytest.mark.compiled
def test_summary_has_a_column_for_each_figure(result):
    microseconds = 1e6 * result.seconds / result.counts.sum()
    columns = *map(result.overall, METRICS), result.calibration_error(), microseconds
    for line, expected in zip(result.summary().splitlines()[1:3], zip(*columns, strict=True), strict=True):
        assert list(map(float, line.split()[1:])) == pytest.approx(expected, abs=1e-4)


@pytest.mark.compiled
def test_evaluation_plays_its_bot_under_its_rules():
    rules = Rules(max_turns=20)
    found = evaluate_estimators(["uniform"], 50, 3, "random", rules=rules)
    assert (found.opponent, found.rules, len(found.counts)) == ("random", rules, 20)
    assert found.counts[19] > 40, "unlike simple, random rarely ends a hand"
    assert "50 hands, random against itself under max_turns=20, seed 3\n" in found.summary()
    own = evaluate_estimators(["uniform"], 2, 3, "hand_endings:Plain")
    assert "2 hands, hand_endings:Plain against itself, seed 3\n" in own.summary()


@pytest.mark.long
@pytest.mark.compiled
def test_csv_and_figures_are_written(result, tmp_path):
    result.save_csv(tmp_path / "result.csv")
    with (tmp_path / "result.csv").open() as file:
        rows = list(csv.DictReader(file))
    turns, played = np.flatnonzero(result.counts).tolist(), ["simple", "300", "1"]
    first = [[*played, name, str(n), str(result.counts[n])] for name in result.names for n in turns]
    assert [list(row.values())[:6] for row in rows] == first
    errors = result.standard_error("drift_area")[:, turns].ravel()
    np.testing.assert_allclose([float(row["drift_area_error"]) for row in rows], errors, rtol=1e-5)
    means = result.mean("log_loss")[[0, 1], [1, -1]]
    assert [float(rows[place]["log_loss"]) for place in (0, -1)] == pytest.approx(means, rel=1e-5)
    files = draw_all(result, tmp_path / "figures")
    assert {file.name for file in files} == {*FIGURES.values(), "calibration.png"}
    assert all(file.stat().st_size > 5000 for file in files)


def test_estimators_of_a_figure_have_different_lines():
    styles = evaluation._styles(SimpleNamespace(names=[*evaluation.COLOURS, *"123456789"]))
    assert len({(style["color"], style["linestyle"]) for style in styles.values()}) == 5 + 9


@pytest.mark.compiled
def test_calibration_curve_rises_from_the_estimates_to_the_shares_held(result, tmp_path, monkeypatch):
    drawn, held = [], [200, 0.3 * 200, 60 * 0.5]  # cards, the sum of their estimates, those held
    other, few = [100, 80, 90], [99, 1, 1]
    both = replace(
        result, names=("uniform", "omniscient", "nn"), bins=np.array([[held, few]] * 2 + [[few, other]])
    )
    monkeypatch.setattr(evaluation.plots, "save_figure", lambda figure, *_, **options: drawn.append(figure))
    evaluation.draw_calibration(both, tmp_path / "x.png")
    _, *curves = drawn[0].axes[0].lines  # the diagonal, uniform, nn; not omniscient
    assert [curve.get_xydata().tolist() for curve in curves] == [[[0.3, 0.15]], [[0.8, 0.9]]]


@pytest.mark.compiled
def test_figure_shades_one_standard_error(result, tmp_path, monkeypatch):
    drawn = []
    monkeypatch.setattr(evaluation.plots, "save_figure", lambda *given, **more: drawn.append((*given, more)))
    draw_all(result, tmp_path)
    evaluation.draw_metric(result, "top_cards", tmp_path, origin="own")
    labels = {path.name: figure.axes[0].get_ylabel() for figure, path, _ in drawn[:6]}
    assert labels == {name: METRICS[metric] for metric, name in FIGURES.items()}
    assert [more["origin"][:18] for *_, more in drawn[-3:]] == ["300 hands, seed 1,"] * 2 + ["own"]
    (axes,) = drawn[5][0].axes
    mean, error = result.mean("log_loss"), result.standard_error("log_loss")
    for number, (line, shade) in enumerate(zip(axes.lines, axes.collections, strict=True)):
        turns = line.get_xdata().astype(int)
        np.testing.assert_allclose(line.get_ydata(), mean[number, turns])
        corners = {tuple(point) for point in shade.get_paths()[0].vertices.round(9).tolist()}
        for sign in (-1, 1):
            ends = np.round(mean[number, turns] + sign * error[number, turns], 9)
            assert set(zip(turns.tolist(), ends.tolist(), strict=True)) <= corners


@pytest.mark.compiled
def test_command_prints_a_summary_and_writes_csv(tmp_path, monkeypatch, capsys):
    path = tmp_path / "table.csv"
    arguments = ["estimators", "uniform", "omniscient", "--games", "20", "--csv", str(path)]
    monkeypatch.setattr("sys.argv", ["gin-rummy", *arguments])
    with pytest.raises(SystemExit) as end:
        cli.main()
    assert end.value.code == 0
    assert "20 hands, simple against itself" in capsys.readouterr().out
    assert path.exists()
    assert "omniscient" in estimators.names()


def test_invalid_evaluations_are_refused():
    with pytest.raises(ValueError, match="at least one estimator is needed"):
        evaluate_estimators([])
    with pytest.raises(ValueError, match="have different names, not uniform, uniform"):
        evaluate_estimators(["uniform", "uniform"])
    with pytest.raises(ValueError, match="hands must be positive, not 0"):
        evaluate_estimators(["uniform"], 0)
    for share in (0, -0.5, 1.5, float("nan")):
        with pytest.raises(ValueError, match=f"share must be above 0 and at most 1, not {share}"):
            collect_positions(["simple"], 2, 1, share)
