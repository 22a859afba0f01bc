"""The generational loop: candidate features, rollouts, fitting, the gate, resuming and files."""

from __future__ import annotations

import json
import shutil
from dataclasses import replace

import numpy as np
import pytest
import torch
from played_positions import played

from gin_env import PlayerView, agents, cards, play_match
from gin_env.agents.generations.bot import GenerationBot, GenerationNetwork
from gin_env.observations import candidates
from gin_env.observations.observation import OBSERVATION_SIZE
from gin_env.training.generations import loop
from gin_env.training.generations.fit import Experience
from gin_env.training.generations.rollouts import Search, gather

TINY = loop.LoopSettings(
    pool={"simple": 2.0, "simple:knock_at=0": 1.0}, hands=512, hands_per_part=256, epochs=1, games=20
)


def small_network(seed: int = 0) -> GenerationNetwork:
    torch.manual_seed(seed)
    return GenerationNetwork(16, 8)


# --- Candidates -----------------------------------------------------------------------------------------


def row_of(hand: str, unseen: str, least: int = 0) -> np.ndarray:
    row = np.zeros(candidates.NUM_FEATURES, np.float32)
    after = np.empty((52, 52), np.int64)
    candidates.write_hand(row, cards.parse(hand), least, cards.parse(unseen), 10, after)
    return row


def test_hand_features_match_a_worked_example():
    # 5D 6D 7D | 9C 9H 9S | KH QH 2S 3C: deadwood 25, kings and queens unmelded.
    row = row_of("5D 6D 7D 9C 9H 9S KH QH 2S 3C", "JH 8D 4C AC", least=20)
    assert row[0] == pytest.approx(25 / 50)
    assert row[1] == row[2] == 0
    assert row[3] == pytest.approx(1 / (1 + 5))
    # JH makes a run: discard 3C or 2S, deadwood 2. 8D extends the run: discard the king, deadwood 15.
    assert row[4] == pytest.approx(2 / 12)
    assert row[5] == pytest.approx(1 / 4), "only JH allows a knock: 25 - 10 + 1 is more than 10"
    assert row[6] == 0
    # Deadwood saved: 23 by JH, 10 by 8D, 6 by 4C and 9 by AC, which replace the king.
    assert row[7] == pytest.approx((23 + 10 + 6 + 9) / (5 * 4))
    assert row[8] == pytest.approx(4 / 10)
    assert row[9] == 1


def test_hand_features_of_a_hand_one_card_from_gin():
    row = row_of("5D 6D 7D 9C 9H 9S AH AS 2H 3H", "AD AC 4H KD")
    assert row[1] == 1
    assert row[0] == pytest.approx(1 / 50)
    assert row[6] == pytest.approx(1 / 6), "4H, and the ace goes; a third ace only replaces the run"


def with_suits(mask: np.ndarray, order: tuple[int, ...]) -> np.ndarray:
    """Return the uint64 masks with suit order[k] mapped to suit k."""
    thirteen = np.uint64(8191)
    moved = [(mask >> np.uint64(13 * old) & thirteen) << np.uint64(13 * new) for new, old in enumerate(order)]
    return moved[0] | moved[1] | moved[2] | moved[3]


@pytest.mark.compiled
def test_candidates_do_not_depend_on_suit_order():
    play = played("simple")
    views = play.games().views(np.arange(len(play.states))).array
    views = views[candidates.are_discarding(views)]
    order = (2, 0, 3, 1)
    moved = views.copy()
    new_card = np.array([order.index(card // 13) * 13 + card % 13 for card in range(52)], np.int8)
    moved["private"]["hand"] = with_suits(views["private"]["hand"], order)
    for name in ("pile", "discarded", "declined", "shown"):
        moved["public"][name] = with_suits(views["public"][name], order)
    taken = views["public"]["taken"]
    moved["public"]["taken"] = np.where(taken >= 0, new_card[taken], -1)
    rows, actions, _ = PlayerView.of_array(views).candidates()
    moved_rows, moved_actions, _ = PlayerView.of_array(moved).candidates()
    for index in range(len(views)):
        before = {
            int(new_card[number]): row
            for row, number in zip(rows[index], actions[index, :, 0], strict=True)
            if number >= 0
        }
        after = {
            int(number): row
            for row, number in zip(moved_rows[index], moved_actions[index, :, 0], strict=True)
            if number >= 0
        }
        assert before.keys() == after.keys()
        assert all(np.array_equal(before[card], after[card]) for card in before)


# --- Rollouts -------------------------------------------------------------------------------------------


@pytest.mark.compiled
def test_gathering_is_reproducible_by_seed_and_part():
    bot = GenerationBot(small_network())
    pool = [agents.make("simple"), agents.make("tonic")]

    def gathered(seed: int, part: int) -> Experience:
        return gather(bot, pool, [1.0, 2.0], hands=12, seed=seed, part=part, search=Search())[1]

    first = gathered(1, 0)
    again, part, seed = gathered(1, 0), gathered(1, 1), gathered(2, 0)
    assert np.array_equal(first.returns, again.returns, equal_nan=True)
    for other in (part, seed):
        assert first.views["private"]["hand"].tolist() != other.views["private"]["hand"].tolist()


# --- Fitting and playing --------------------------------------------------------------------------------


def test_value_of_the_position_is_part_of_every_value():
    """Decisions do not depend on it, but what the values are compared with does."""
    network = small_network()
    observations, rows = torch.rand(3, OBSERVATION_SIZE), torch.rand(3, 2, candidates.NUM_FEATURES)
    before = network(observations, rows)
    with torch.no_grad():
        network.table_value.bias += 0.5
    torch.testing.assert_close(network(observations, rows), before + 0.5)


# --- Loop -----------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def whole_run(tmp_path_factory):
    """Run three generations without interruption in one process."""
    folder = tmp_path_factory.mktemp("generations") / "whole"
    history = list(loop.run(folder, 2, TINY, workers=1))
    return folder, history


@pytest.mark.long
def test_resumed_run_is_identical_for_any_number_of_workers(whole_run, tmp_path):
    folder, history = whole_run
    resumed = tmp_path / "resumed"
    list(loop.run(resumed, 1, TINY, workers=2))
    again = list(loop.run(resumed, 2, workers=2))
    assert [each.number for each in again] == [2]
    assert again[0].win_rates == history[2].win_rates
    for number in (1, 2):
        name = f"generation-{number}.safetensors"
        assert (folder / name).read_bytes() == (resumed / name).read_bytes()


@pytest.mark.long
def test_program_says_when_no_generation_passes_the_gate(whole_run, tmp_path, capsys):
    folder = tmp_path / "run"
    shutil.copytree(whole_run[0], folder)
    history = json.loads((folder / "history.json").read_text())
    for entry in history[1:]:
        entry["kept"] = False
    (folder / "history.json").write_text(json.dumps(history))
    loop.climb(loop.Options(folder, generations=2, workers=1, settings=TINY))
    shown = capsys.readouterr().out
    assert [line.split()[:2] for line in shown.splitlines()[1:4]] == [["0", "yes"], ["1", "no"], ["2", "no"]]
    assert "none of the 2 after it has passed the gate" in shown


@pytest.mark.long
def test_invalid_settings_fail_before_training(tmp_path):
    with pytest.raises(ValueError, match="seed must be"):
        next(loop.run(tmp_path / "large", 1, replace(TINY, seed=2**60)))
    assert not (tmp_path / "large").exists()
    for other in ({"pool": {"nobody": 1.0}}, {"ancestor": "nobody"}):
        with pytest.raises(ValueError, match="unknown bot 'nobody'"):
            next(loop.run(tmp_path / f"new {[*other]}", 1, replace(TINY, **other)))


# --- Files ----------------------------------------------------------------------------------------------


@pytest.mark.long
def test_bot_loads_weights_by_path_and_by_parameter(whole_run):
    path = whole_run[0] / "generation-2.safetensors"
    by_path = play_match(str(path), "simple", games=10, seed=3)
    by_parameter = play_match(f"generation:weights={path}", "simple", games=10, seed=3)
    assert by_path.bots[0] == "generation-2"
    assert by_path.wins == by_parameter.wins


@pytest.mark.long
@pytest.mark.compiled
def test_bundled_generation_beats_tonic():
    result = play_match("generation", "tonic", games=400, seed=0)
    assert result.interval[0] > 0.5
