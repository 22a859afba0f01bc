"""The generational loop: candidate features, rollouts, fitting, the gate, resuming and files."""

from __future__ import annotations

import itertools
import json
import shutil
from dataclasses import replace

import numpy as np
import pytest
import torch
from hands_in_words import Table, action, deck_of
from played_positions import played, same_records

from gin_env import agents, cards, melds, play_match
from gin_env.agents.generations.bot import GenerationBot
from gin_env.agents.generations.network import FORMAT, GenerationNetwork, load_network, observe, save_network
from gin_env.game.actions import DRAW_STOCK, KNOCK
from gin_env.game.hands import meld_completions
from gin_env.observations import candidates
from gin_env.observations.observation import OBSERVATION_SIZE, scalars
from gin_env.observations.views import PlayerView
from gin_env.training.generations import loop, program
from gin_env.training.generations.experience import Experience, load_experiences, save_experiences
from gin_env.training.generations.fit import fit, permute_suits
from gin_env.training.generations.rollouts import Players, Search, gather, try_candidates

TINY = loop.LoopSettings(
    pool={"simple": 2.0, "simple:knock_at=0": 1.0},
    hands=512,
    hands_per_part=256,
    epochs=1,
    games=20,
)


def small_network(seed: int = 0) -> GenerationNetwork:
    torch.manual_seed(seed)
    return GenerationNetwork(16, 8)


# --- Candidates -----------------------------------------------------------------------------------------


@pytest.mark.compiled
def test_meld_completions_form_a_meld_with_two_held_cards():
    random = np.random.default_rng(3)
    for _ in range(60):
        hand = cards.mask_of(random.choice(52, size=10, replace=False).tolist())
        held = cards.cards_of(hand)
        expected = {
            card
            for card in set(range(52)) - set(held)
            for pair in itertools.combinations(held, 2)
            if melds.deadwood(cards.mask_of((card, *pair))) == 0
        }
        assert set(cards.cards_of(int(meld_completions(hand)))) == expected


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


def test_discard_rows_offer_the_legal_discards_and_knocks():
    table = Table("5D 6D 7D 9C 9H 9S AH 2H 3H KS", "2C 3D 4C 6C 7H 8H TD JD QC KC", "KD", dealer=1)
    table.play("take")
    view = table.games.views(np.array([0]))
    rows, actions = candidates.candidate_rows(view.records, discarding=True)
    offered = {int(number) for number in actions.ravel() if number != candidates.NO_ACTION}
    assert offered == set(np.flatnonzero(view.masks()[0]).tolist())
    assert {action("knock KS"), action("KS")} <= offered
    assert action("KD") not in offered
    assert rows.shape == (1, 11, candidates.NUM_FEATURES)
    assert not rows[0, 10].any(), "the taken card must not be discarded: ten rows"


def with_suits(mask: np.ndarray, order: tuple[int, ...]) -> np.ndarray:
    """Return the uint64 masks with suit order[k] mapped to suit k."""
    thirteen = np.uint64(8191)
    moved = [(mask >> np.uint64(13 * old) & thirteen) << np.uint64(13 * new) for new, old in enumerate(order)]
    return moved[0] | moved[1] | moved[2] | moved[3]


@pytest.mark.compiled
def test_candidates_do_not_depend_on_suit_order():
    play = played("simple")
    views = play.games().views(np.arange(len(play.states))).records
    views = views[candidates.are_discarding(views)]
    order = (2, 0, 3, 1)
    moved = views.copy()
    new_card = np.array([order.index(card // 13) * 13 + card % 13 for card in range(52)], np.int8)
    moved["private"]["hand"] = with_suits(views["private"]["hand"], order)
    for name in ("pile", "discarded", "declined", "shown"):
        moved["public"][name] = with_suits(views["public"][name], order)
    taken = views["public"]["taken"]
    moved["public"]["taken"] = np.where(taken >= 0, new_card[taken], -1)
    rows, actions = candidates.candidate_rows(views, True)
    moved_rows, moved_actions = candidates.candidate_rows(moved, True)
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


@pytest.mark.compiled
def test_permuting_suits_changes_only_the_card_planes():
    play = played("simple")
    observations = torch.from_numpy(observe(play.games().views(np.arange(50))))
    permuted = permute_suits(observations, torch.tensor([1, 0, 3, 2]))
    assert torch.equal(permuted[:, 13:26], observations[:, 0:13])
    assert np.array_equal(scalars(permuted.numpy()), scalars(observations.numpy()))
    assert torch.equal(permute_suits(permuted, torch.tensor([1, 0, 3, 2])), observations)


# --- Rollouts -------------------------------------------------------------------------------------------


@pytest.mark.compiled
def test_returns_equal_replayed_outcomes():
    """Replay every tried action with the same bots and compare the outcome with its return."""
    simple = agents.make("simple")
    draws, discards = gather(simple, [simple], [1.0], hands=64, seed=5, part=0, search=Search(stop_share=0.3))
    assert len(draws) > 20
    assert len(discards) > 20
    tables = [
        Table("5D 6D 7D 9C 9H 9S AH 2H 3H KS", "2C 3D 4C 6C 7H 8H TD JD QC KC", "KD", dealer=1).play("take")
    ]
    state = tables[0].games.state.copy()
    players = Players(simple, [simple], np.zeros(1, np.int8), np.zeros(1, np.int64))
    experience = try_candidates(state, True, players, np.random.default_rng(0), Search(best_tried=11))
    _, actions = candidates.candidate_rows(experience.views, discarding=True)
    tried = np.argwhere(np.isfinite(experience.returns[0]))
    assert len(tried) == 10 + 1, "all discards, and the knock with KS"
    for row, knock in tried:
        table = Table("5D 6D 7D 9C 9H 9S AH 2H 3H KS", "2C 3D 4C 6C 7H 8H TD JD QC KC", "KD", dealer=1)
        table.play("take")
        table.games.play(np.array([0]), actions[0, row, knock][None])
        while not table.games.done[0]:
            table.games.play(np.array([0]), simple.act(table.games.views(np.array([0]))))
        assert experience.returns[0, row, knock] == table.games.rewards[0]


def test_returns_of_the_second_seat_have_its_sign():
    simple = agents.make("simple")
    deck = deck_of("2C 3D 4C 6C 7H 8H TD JD QC KC", "5D 6D 7D 9C 9H 9S AH 2H 3H KS", "KD")
    table = Table("2C 3D 4C 6C 7H 8H TD JD QC KC", "5D 6D 7D 9C 9H 9S AH 2H 3H KS", "KD", dealer=0)
    assert table.games.deck(0).tolist() == deck
    state = table.play("take").games.state.copy()
    players = Players(simple, [simple], np.ones(1, np.int8), np.zeros(1, np.int64))
    experience = try_candidates(state, True, players, np.random.default_rng(0), Search(knocks_tried=11))
    knocks = experience.returns[0, :, 1]
    assert np.nanmax(knocks) == pytest.approx(0.60), "KS: deadwood 6 against 66"


@pytest.mark.compiled
def test_gathering_is_reproducible_by_seed_and_part():
    bot = GenerationBot(small_network(), name="small")
    pool = [agents.make("simple"), agents.make("tonic")]

    def gathered(seed: int, part: int) -> Experience:
        return gather(bot, pool, [1.0, 2.0], hands=12, seed=seed, part=part, search=Search())[1]

    first = gathered(1, 0)
    again, part, seed = gathered(1, 0), gathered(1, 1), gathered(2, 0)
    assert np.array_equal(first.returns, again.returns, equal_nan=True)
    for other in (part, seed):
        assert first.views["private"]["hand"].tolist() != other.views["private"]["hand"].tolist()


@pytest.mark.compiled
def test_experience_round_trips_through_a_file(tmp_path):
    simple = agents.make("simple")
    experiences = gather(simple, [simple], [1.0], hands=20, seed=1, part=0, search=Search())
    path = tmp_path / "experience.npz"
    save_experiences(experiences, path)
    for before, after in zip(experiences, load_experiences(path), strict=True):
        assert same_records(before.views, after.views)
        assert np.array_equal(before.returns, after.returns, equal_nan=True)
    path.write_bytes(path.read_bytes()[:100])
    with pytest.raises(ValueError, match=r"experience\.npz is not a file of kind 'experience'"):
        load_experiences(path)


# --- Fitting and playing --------------------------------------------------------------------------------


@pytest.mark.long
def test_network_overfits_a_few_positions():
    simple = agents.make("simple")
    experiences = gather(simple, [simple], [1.0], hands=12, seed=1, part=0, search=Search(stop_share=0.5))
    network = GenerationNetwork(64, 64)
    few = tuple(Experience(each.views[:19], each.returns[:19]) for each in experiences)
    fit(network, few, epochs=1, seed=0)
    torch.manual_seed(0)
    losses = []
    for _ in range(2):
        fit(network, few, epochs=150, seed=0, batch_size=64, learning_rate=3e-3)
        losses.append(spread_error(network, few[1]))
    untrained = spread_error(GenerationNetwork(64, 64), few[1])
    assert losses[-1] < 0.3 * untrained


def spread_error(network: GenerationNetwork, experience: Experience) -> float:
    """Mean squared error of the differences between candidates."""
    bot = GenerationBot(network, name="network")
    values, _ = bot.values(PlayerView(experience.views), discarding=True)
    errors = np.where(np.isfinite(experience.returns), values - experience.returns, np.nan)
    return float(np.nanvar(errors, axis=(1, 2)).mean())


def test_value_of_the_position_is_part_of_every_value():
    """Decisions do not depend on it, but what the values are compared with does."""
    network = small_network()
    observations, rows = torch.rand(3, OBSERVATION_SIZE), torch.rand(3, 2, candidates.NUM_FEATURES)
    before = network(observations, rows)
    with torch.no_grad():
        network.table_value.bias += 0.5
    torch.testing.assert_close(network(observations, rows), before + 0.5)


@pytest.mark.compiled
def test_simple_knock_rule_knocks_as_soon_as_legal():
    play = played("simple")
    view = play.games().views(np.flatnonzero(candidates.are_discarding(play.states)))
    may = view.masks()[:, KNOCK : KNOCK + 52].any(axis=1)
    assert 5 < may.sum() < len(may)
    actions = GenerationBot(small_network(), knock="simple").act(view)
    assert np.array_equal((actions >= KNOCK) & (actions < DRAW_STOCK), may)


# --- Loop -----------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def whole_run(tmp_path_factory):
    """Run three generations without interruption in one process."""
    folder = tmp_path_factory.mktemp("generations") / "whole"
    history = list(loop.run(folder, 2, TINY, workers=1))
    return folder, history


@pytest.mark.long
def test_run_writes_a_history_and_networks(whole_run):
    folder, history = whole_run
    assert [each.number for each in history] == [0, 1, 2]
    assert history[0].kept
    assert set(history[0].win_rates) == set(TINY.pool)
    assert set(history[1].win_rates) == {*TINY.pool, loop.PREVIOUS}
    stored = loop.read_history(folder)
    assert [each.win_rates for each in stored] == [each.win_rates for each in history]
    assert history[1].returns > history[1].positions > 500


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


@pytest.mark.parametrize(
    ("before", "rates", "kept"),
    [
        ({"a": 0.6, "b": 0.5}, {"a": 0.62, "b": 0.5, loop.PREVIOUS: 0.5}, True),
        ({"a": 0.6, "b": 0.5}, {"a": 0.58, "b": 0.5, loop.PREVIOUS: 0.51}, False),
        ({"a": 0.6, "b": 0.5}, {"a": 0.58, "b": 0.5, loop.PREVIOUS: 0.53}, True),
    ],
)
def test_gate_weighs_all_matches(before, rates, kept):
    assert loop.passes_gate(before, rates, {"a": 1.0, "b": 1.0, loop.PREVIOUS: 1.0}) == kept


@pytest.mark.long
def test_rejected_generation_does_not_become_champion(whole_run, tmp_path):
    folder = tmp_path / "run"
    shutil.copytree(whole_run[0], folder)
    history = json.loads((folder / "history.json").read_text())
    for entry, kept in zip(history, (True, True, False), strict=True):
        entry["kept"] = kept
    (folder / "history.json").write_text(json.dumps(history))
    assert loop.champion(folder).name == "generation-1.safetensors"


@pytest.mark.long
def test_program_says_when_no_generation_passes_the_gate(whole_run, tmp_path, capsys):
    folder = tmp_path / "run"
    shutil.copytree(whole_run[0], folder)
    history = json.loads((folder / "history.json").read_text())
    for entry in history[1:]:
        entry["kept"] = False
    (folder / "history.json").write_text(json.dumps(history))
    program.climb(program.Options(folder, generations=2, workers=1))
    assert "none of the 2 after it has passed the gate" in capsys.readouterr().out


@pytest.mark.long
def test_invalid_settings_fail_before_training(whole_run, tmp_path):
    folder, _ = whole_run
    with pytest.raises(ValueError, match="other settings"):
        next(loop.run(folder, 3, replace(TINY, seed=9)))
    with pytest.raises(ValueError, match="seed must be"):
        next(loop.run(tmp_path / "large", 1, replace(TINY, seed=2**60)))
    assert not (tmp_path / "large").exists()
    with pytest.raises(ValueError, match="unknown bot 'nobody'"):
        next(loop.run(tmp_path / "new", 1, replace(TINY, pool={"nobody": 1.0})))
    with pytest.raises(FileNotFoundError, match="no generation has been kept"):
        loop.champion(tmp_path)
    (tmp_path / "settings.json").write_text("{")
    with pytest.raises(ValueError, match=r"settings\.json does not contain the settings"):
        next(loop.run(tmp_path, 1))


# --- Files ----------------------------------------------------------------------------------------------


@pytest.mark.long
def test_bot_loads_weights_by_path_and_by_parameter(whole_run):
    path = whole_run[0] / "generation-2.safetensors"
    by_path = play_match(str(path), "simple", games=10, seed=3)
    by_parameter = play_match(f"generation:weights={path}", "simple", games=10, seed=3)
    assert by_path.bots[0] == "generation-2"
    assert by_path.wins == by_parameter.wins


@pytest.mark.compiled
def test_bundled_generation_beats_tonic():
    result = play_match("generation", "tonic", games=400, seed=0)
    assert result.interval[0] > 0.5


def test_network_file_keeps_provenance(tmp_path):
    path = tmp_path / "network.safetensors"
    network = small_network()
    save_network(network, path, {"command": "x", "seed": 3})
    loaded, provenance = load_network(path)
    assert provenance == {"command": "x", "seed": 3}
    for name, tensor in network.state_dict().items():
        assert torch.equal(tensor, loaded.state_dict()[name])


def test_invalid_network_files_raise(tmp_path):
    path = tmp_path / "network.safetensors"
    with pytest.raises(FileNotFoundError, match="there is no generation network"):
        load_network(path)
    replace(FORMAT, version="99").write(path, small_network(), {})
    with pytest.raises(ValueError, match="has version 99"):
        load_network(path)
    network = small_network()
    network.sizes = (2, 4)
    save_network(network, path, {})
    with pytest.raises(ValueError, match="does not match its own architecture"):
        load_network(path)


def test_unknown_knock_rule_raises():
    with pytest.raises(ValueError, match="unknown knock 'never'; choose from value, simple"):
        agents.make("generation", knock="never")


@pytest.mark.parametrize("text", ["[", '[{"number": 1}]', '["kept"]'])
def test_damaged_generation_history_is_named(tmp_path, text):
    (tmp_path / "history.json").write_text(text)
    with pytest.raises(ValueError, match=r"history\.json is not a history of generations"):
        loop.read_history(tmp_path)
