"""Truong and Neller 2021's hand-strength networks: features, data sets, networks, training and files."""

from __future__ import annotations

from dataclasses import replace
from unittest import mock

import numpy as np
import pytest
import torch
from bot_positions import holding
from small_data_set import random_hands, tiny_data

from gin_env import cards
from gin_env.agents.declared_bots import BOTS
from gin_env.agents.hand_strength import bots as weights
from gin_env.agents.hand_strength import networks
from gin_env.agents.hand_strength.features import hand_features
from gin_env.agents.hand_strength.networks import ARCHITECTURES
from gin_env.game.engine import start_episode
from gin_env.game.melds import best_melds, completes_meld
from gin_env.game.rules import Rules
from gin_env.game.state import STATE
from gin_env.support.array_files import ArrayFileError
from gin_env.support.tensor_files import TensorFileError
from research.recipes.hand_strength import architectures, data_sets, recipes, trainer
from research.recipes.hand_strength.architectures import INTERACTIONS, build
from research.recipes.hand_strength.data_sets import DataSet, average_identical, discounted_scores, generate
from research.recipes.hand_strength.selection import Contestant
from research.recipes.hand_strength.simulation import start_sample
from research.recipes.hand_strength.suits import (
    CARD_ORDERS,
    SUIT_ORDERS,
    AveragedOffensiveBot,
    permuted_suits,
    value_averaged_over_suits,
)
from research.recipes.hand_strength.trainer import (
    SCHEDULES,
    HandStrengthSettings,
    HandStrengthTrainer,
    Schedule,
    find_schedule,
    train,
)

FIGURE_1 = "5S QS 3H 6H QH 6D 7D JC AC 3C"


def features_of(text: str) -> list[float]:
    """Return the deadwood, sets, runs and hits of a hand."""
    return hand_features(np.array([cards.parse(text)], np.uint64))[1][0].tolist()


# --- Features -------------------------------------------------------------------------------------------


def test_features_of_figure_1_match_the_paper():
    # Q♣ Q♦, 3♠ 3♦, 6♠ 6♣ make sets, 5♦ 8♦ and 2♣ make runs: nine cards would make a meld.
    assert features_of(FIGURE_1) == [61, 0, 0, 9]


@pytest.mark.parametrize(
    ("hand", "expected"),
    [
        ("4H 5H 5S", [14, 0, 0, 4]),  # the introduction's triangle: 3♥, 6♥, 5♦, 5♣
        ("4C 5H 6S", [15, 0, 0, 0]),  # three separated cards
        ("4H 5H 6H", [0, 0, 1, 2]),  # "a meld (hit count = 1 or 2)"
        ("AH 2H 3H", [0, 0, 1, 1]),
        ("5H 5S 5D", [0, 1, 0, 1]),
        ("5H 5S 5D 5C", [0, 1, 0, 0]),
        ("5H 5S 5D AC 2C 3C 9D TD JD QD", [0, 1, 2, 4]),
        ("AH 2H 3H AC AD", [2, 1, 1, 2]),  # the ace is in a set and in a run, deadwood 2; A♠ and 4♥ hit
        ("5H 5S 5D 5C AC 2C 3C 4C TD JD", [20, 1, 1, 3]),  # A 2 3 4 5 is one run; 6♣, 9♦, Q♦ hit
        ("QH KH AH", [21, 0, 0, 1]),  # only J♥: runs do not wrap around
    ],
)
def test_macro_features_match_worked_examples(hand, expected):
    assert features_of(hand) == expected


def test_hit_count_is_the_number_of_cards_that_complete_a_meld():
    hands = random_hands(200)
    hits = hand_features(hands)[1][:, 3]
    for hand, count in zip(hands.tolist(), hits, strict=True):
        assert count == sum(completes_meld(hand, card) for card in range(52) if not hand >> card & 1)


def test_interaction_terms_are_the_126_pairs_of_the_paper():
    assert len(INTERACTIONS) == 126
    assert len({tuple(sorted(pair)) for pair in INTERACTIONS.tolist()}) == 126
    ace = cards.card_id("AH")
    neighbours = {sum(pair) - ace for pair in INTERACTIONS.tolist() if ace in pair}
    assert neighbours == {cards.card_id(text) for text in ("AC", "AD", "AS", "2H")}  # the paper's example
    x, _ = hand_features(np.array([cards.parse("4H 5H 5S KD AD")], np.uint64))
    terms = architectures.Interactions()(torch.from_numpy(x))[0]
    held = [INTERACTIONS[index].tolist() for index in terms.nonzero()[:, 0].tolist()]
    assert sorted(map(sorted, held)) == sorted(
        sorted(map(cards.card_id, pair)) for pair in (("4H", "5H"), ("5H", "5S"))
    )


def test_arrangement_hits_leave_no_more_cards_unmelded():
    hands = random_hands(200)
    by_melds, by_arrangement = (hand_features(hands, hits)[1][:, 3] for hits in ("any-meld", "arrangement"))
    for hand, count in zip(hands.tolist(), by_arrangement.tolist(), strict=True):
        others = [1 << card for card in range(52) if not hand >> card & 1]
        assert count == sum(_unmelded(hand | other) <= _unmelded(hand) for other in others)
    assert (by_arrangement < by_melds).any()  # a meld that needs the cards of another one
    with pytest.raises(ValueError, match="unknown hits 'all'"):
        hand_features(hands, "all")


def _unmelded(hand: int) -> int:
    """Return the number of cards left unmelded by the best melds."""
    return hand.bit_count() - sum(len(meld) for meld in best_melds(hand))


def test_macro_features_do_not_depend_on_suit_order():
    assert len({tuple(order) for order in SUIT_ORDERS.tolist()}) == 24
    hands = random_hands(20)
    x, macro = hand_features(hands)
    for order in CARD_ORDERS:
        moved = x[:, order]
        masks = np.array([cards.mask_of(np.flatnonzero(row).tolist()) for row in moved], np.uint64)
        assert np.array_equal(hand_features(masks)[1], macro)  # melds do not depend on the names of suits


# --- Data sets ------------------------------------------------------------------------------------------


def test_scores_are_discounted_by_equation_2():
    points, stages = np.array([30, 30, -30, -30, 7], np.int16), np.array([0, 2, 0, 3, 1], np.uint8)
    assert discounted_scores(points, stages, 0.5).tolist() == [30, 7.5, -30, -3.75, 3.5]
    assert discounted_scores(points, stages, 1.0).tolist() == points.tolist()


def test_identical_states_are_averaged():
    hands = np.array([7, 9, 7, 7, 9], np.uint64)
    estimates = np.zeros((5, 52), np.uint8)
    estimates[3, 20] = 1  # the third 7 was seen with another estimate
    scores = np.array([10, 1, 20, 99, 3], np.float32)
    deadwood = np.array([1, 2, 3, 4, 2], np.uint8)
    kept, kept_estimates, kept_deadwood, means, counts = average_identical(hands, estimates, deadwood, scores)
    assert kept_deadwood.tolist() == [1, 2, 4]
    assert kept.tolist() == [7, 9, 7]
    assert means.tolist() == [15, 2, 99]
    assert counts.tolist() == [2, 2, 1]
    assert kept_estimates[:, 20].tolist() == [0, 0, 1]


@pytest.fixture
def small_tasks(monkeypatch):
    """Use tasks of 64 deals instead of 1024 so that small data sets are cheap."""
    monkeypatch.setattr(data_sets, "_DEALS_PER_TASK", 64)


@pytest.mark.long
def test_data_do_not_depend_on_workers(small_tasks):
    first = generate("random-16", 150, estimator="uniform", seed=3)  # more than two tasks' deals
    second = generate("random-16", 150, estimator="uniform", seed=3, workers=2)
    assert np.array_equal(first.hands, second.hands)
    assert np.array_equal(first.estimates, second.estimates)
    assert np.array_equal(first.scores, second.scores)
    assert first.metadata == second.metadata
    assert not np.array_equal(first.hands, generate("random-16", 150, estimator="uniform", seed=4).hands)


def test_samples_keep_the_players_hand_and_redeal_the_rest():
    tables = np.zeros(1, STATE)
    tables["public"]["rules"] = Rules().record()
    start_episode(tables[0], 3, 7, False)
    own = int(tables["private"]["hand"][0, 0])
    held = np.zeros(52, np.int64)
    for sample in range(840):
        start_sample(tables[0], 3, 7, sample)
        own_hand, other_hand = (int(hand) for hand in tables["private"]["hand"][0])
        deck = tables["hidden"]["deck"][0]
        assert own_hand == own
        assert sorted(deck) == list(range(52))
        assert tables["public"]["upcard"][0] == deck[20]
        assert not other_hand & own
        held += [other_hand >> card & 1 for card in range(52)]
    others = held[[card for card in range(52) if not own >> card & 1]]
    assert others.sum() == 8400
    assert (abs(others - 200) < 60).all()  # each of the 42 cards in about 10 of 42 samples


@pytest.mark.long
def test_best_samples_score_higher(small_tasks):
    """Figure 2: "as the sample frequency increases, the mean increases"."""
    means = [
        generate(name, 400, estimator="uniform", seed=1).scores.mean()
        for name in ("simple", "random-16", "random-256")
    ]
    assert means[0] + 5 < means[1]
    assert means[1] + 5 < means[2]


@pytest.mark.long
def test_all_stages_include_every_discard_of_a_hand(small_tasks):
    last = generate("simple", 300, estimator="uniform", seed=3)
    every = generate("simple", 2000, stages="all", discount=0.5, estimator="uniform", seed=3)
    # Within a hand each score is twice the one before it; where that ends, so does the hand.
    ends = np.flatnonzero(every.scores[1:] != 2 * every.scores[:-1])[:200]
    assert every.scores[ends].tolist() == last.scores[:200].tolist()
    assert every.hands[ends].tolist() == last.hands[:200].tolist()
    assert 1000 < ends[-1] < 2000  # five to ten discards a hand


@pytest.mark.long
def test_data_sets_have_ten_card_hands_and_disjoint_estimates(small_tasks):
    for name in data_sets.DATA_SETS:
        data = generate(name, 60, estimator="bayes-isru", seed=1)
        assert (np.bitwise_count(data.hands) == 10).all()
        x, _ = hand_features(data.hands)
        assert not (data.estimates * x).any()
        assert data.metadata["simulated_actions"] > 0


@pytest.mark.long
def test_data_round_trip_and_damaged_files_raise(tmp_path, monkeypatch):
    monkeypatch.setattr(data_sets, "_DEALS_PER_TASK", 2)
    data = generate("simple", 5, estimator="uniform")
    path = tmp_path / "data.npz"
    data.save(path)
    again = DataSet.load(path)
    assert np.array_equal(again.hands, data.hands)
    assert np.array_equal(again.estimates, data.estimates)
    assert again.metadata == data.metadata  # a checkpoint compares them
    path.write_bytes(path.read_bytes()[:-100])
    with pytest.raises(ArrayFileError, match=r"data\.npz is not a file of kind 'data set', or is damaged"):
        DataSet.load(path)
    with pytest.raises(FileNotFoundError, match="there is no data set"):
        DataSet.load(tmp_path / "other.npz")


def test_unknown_data_names_raise():
    with pytest.raises(ValueError, match="unknown data set 'randm'; choose from simple, random-16"):
        generate("randm", 10)
    with pytest.raises(ValueError, match="unknown stages"):
        generate("simple", 10, stages="first")
    with pytest.raises(ValueError, match=r"observations must be from .* not 0"):
        generate("simple", 0)


# --- Networks -------------------------------------------------------------------------------------------


def num_parameters(architecture: str) -> int:
    return sum(parameter.numel() for parameter in build(architecture).parameters())


@pytest.mark.parametrize(
    ("architecture", "parameters"),
    [("mlp", 1_761), ("mlp-i", 2_945), ("dual-inception", 9_057), ("dual-inception-16", 35_937)],
)
def test_parameter_counts_match_the_paper(architecture, parameters):
    assert num_parameters(architecture) == parameters


def test_inception_is_a_convolution_over_suits_and_ranks():
    filters = networks.Inception(1)
    with torch.no_grad():
        for convolve in filters.filters:
            convolve.weight.fill_(1)
            convolve.bias.zero_()
    x, _ = hand_features(np.array([cards.parse("4C 5C 4H 5H")], np.uint64))
    found = filters(torch.from_numpy(x))[0]
    assert filters.size == 36 + 22 + 10 == len(found)
    squares = found[:36].view(3, 12)
    assert squares[0, 3] == 4  # 4♣ 5♣ over 4♥ 5♥
    assert squares[0, 2] == squares[0, 4] == squares[1, 3] == 2
    assert squares.sum() == 4 + 4 * 2 - 2 + 2 * 1  # one square with four, three with two, two corners


def test_inception_concatenates_its_convolutions():
    features = networks.Inception(4)
    cards_in = torch.rand(10, 52, generator=torch.Generator().manual_seed(1))
    apart = [torch.relu(convolve(cards_in.view(-1, 1, 4, 13))).flatten(1) for convolve in features.filters]
    whole = features(cards_in)
    assert torch.allclose(whole, torch.cat(apart, dim=1), atol=1e-6)
    weights = [convolve.weight for convolve in features.filters]
    for ours, theirs in zip(
        torch.autograd.grad(whole.square().sum(), weights, retain_graph=True),
        torch.autograd.grad(torch.cat(apart, dim=1).square().sum(), weights),
        strict=True,
    ):
        assert torch.allclose(ours, theirs, rtol=1e-4, atol=1e-4)


def batch(count: int = 16) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    x, macro = hand_features(random_hands(count))
    o = np.random.default_rng(7).random((count, 52), np.float32)
    return torch.from_numpy(x), torch.from_numpy(macro), torch.from_numpy(o)


@pytest.mark.parametrize("architecture", ARCHITECTURES)
def test_value_averaged_over_suits_is_invariant(architecture):
    network = build(architecture, seed=1)
    x, macro, o = batch()
    with torch.no_grad():
        value = value_averaged_over_suits(network, x, macro, o)
        plain = network(x, macro, o)
        for order in (1, 9, 23):
            moved = permuted_suits(x, order), macro, permuted_suits(o, order)
            assert torch.allclose(value_averaged_over_suits(network, *moved), value, atol=1e-3)
            same = torch.allclose(network(*moved), plain, atol=1e-3)
            # Message passing has no order of suits to begin with, and without cards there are no suits.
            assert same == (architecture in ("card-messages", "macro-only"))


def test_one_opponent_row_can_serve_several_hands():
    network = build("dual-inception")
    x, macro, o = batch(6)
    owner = torch.tensor([0, 0, 1, 2, 2, 2])
    with torch.no_grad():
        assert torch.allclose(network(x, macro, o[:3], owner), network(x, macro, o[:3][owner]), atol=1e-4)


# --- Training -------------------------------------------------------------------------------------------


def test_paper_schedule_matches_the_paper():
    paper = SCHEDULES["paper"]
    assert (paper.epochs, paper.batch_size) == (96, 64)
    assert [paper.rate(epoch) for epoch in (0, 31, 32, 63, 64, 95)] == pytest.approx(
        [1e-3, 1e-3, 1e-4, 1e-4, 1e-5, 1e-5]
    )
    assert find_schedule("fast", 7).decay_every == 3
    with pytest.raises(ValueError, match="unknown schedule 'slow'; choose from paper, fast"):
        find_schedule("slow")


@pytest.mark.long
@pytest.mark.parametrize("architecture", ["mlp", "dual-inception"])
def test_network_overfits_a_tiny_data_set(architecture):
    data = tiny_data(40)
    run = train(data, HandStrengthSettings(architecture, Schedule(500, 8, 3e-3, 0.3, 200)))
    assert len(run.training) == 32
    residuals = data.scores[run.training] - trainer.predict(run.network, data, run.training)
    assert np.abs(residuals).mean() < 1.5
    assert run.train_losses[-1] < 10 < 50 < run.train_losses[0]


@pytest.mark.compiled
@pytest.mark.parametrize("augmented", [False, True])
def test_resumed_training_equals_an_uninterrupted_run(tmp_path, augmented):
    data = tiny_data(100)
    settings = HandStrengthSettings("dual-inception", Schedule(4, 16, 2e-3, 0.1, 2), augmented)
    whole = train(data, settings)
    broken = HandStrengthTrainer(data, settings)
    broken.run_epoch()
    broken.run_epoch()
    broken.run_epoch()
    broken.save_checkpoint(tmp_path / "run.safetensors")
    resumed = train(data, settings, checkpoint=tmp_path / "run.safetensors", resume=True)
    assert resumed.train_losses == whole.train_losses
    assert resumed.validation_losses == whole.validation_losses
    for name, value in whole.network.state_dict().items():
        assert torch.equal(value, resumed.network.state_dict()[name]), name


def test_losses_are_those_of_each_part_and_rates_of_each_epoch():
    """Without a learning rate the network stays as it was."""
    data = tiny_data(41)
    still = train(data, HandStrengthSettings("mlp", Schedule(1, 7, 0.0, 1.0, 1)))
    for rows, (loss,) in ((still.training, still.train_losses), (still.validation, still.validation_losses)):
        errors = data.scores[rows] - trainer.predict(still.network, data, rows)
        assert loss == pytest.approx(np.square(errors).mean(), rel=1e-4)
    assert sorted([*still.training, *still.validation]) == list(range(len(data)))
    first, second, third = train(
        data, HandStrengthSettings("mlp", Schedule(3, 7, 1e-2, 0.0, 2))
    ).validation_losses
    assert first != second == third


def test_checkpoint_of_another_run_is_refused(tmp_path):
    data = tiny_data(20)
    settings = HandStrengthSettings("mlp", Schedule(2, 8, 1e-3, 0.1, 1))
    path = tmp_path / "run.safetensors"
    HandStrengthTrainer(data, settings).save_checkpoint(path)
    with pytest.raises(
        TensorFileError, match=r"run\.safetensors is a checkpoint of another run: its seed differs"
    ):
        HandStrengthTrainer.resume(path, data, HandStrengthSettings("mlp", settings.schedule, seed=1))
    with pytest.raises(
        TensorFileError, match="holds a hand-strength checkpoint, not a hand-strength network"
    ):
        weights.load_network(path)
    with pytest.raises(ValueError, match="resume=True needs a checkpoint"):
        train(data, settings, resume=True)


def test_augmentation_permutes_both_hands_together():
    data = tiny_data(24)
    rows = np.arange(24)
    x, _, o, y = trainer.batch_of(data, rows)
    moved_x, _, moved_o, moved_y = trainer.batch_of(data, rows, np.arange(24), np.arange(24))
    assert torch.equal(moved_y, y)
    for k in range(24):
        assert torch.equal(moved_x[k], x[k][torch.from_numpy(CARD_ORDERS[k])])
        assert torch.equal(moved_o[k], o[k][torch.from_numpy(CARD_ORDERS[k])])


def test_independent_augmentation_permutes_each_hand_separately():
    """24 x 24 orders: x can change while o stays, and training samples them separately."""
    data = tiny_data(24)
    rows, orders = np.arange(24), np.arange(24)
    x, _, o, _ = trainer.batch_of(data, rows)
    moved_x, _, same_o, _ = trainer.batch_of(data, rows, orders, np.zeros(24, np.int64))
    assert torch.equal(same_o, o)
    assert not torch.equal(moved_x, x)
    schedule = Schedule(1, 8, 1e-3, 1.0, 1)
    settings = [
        HandStrengthSettings("mlp", schedule, True, independently=each) for each in (False, True, True)
    ]
    with mock.patch.object(trainer, "batch_of", wraps=trainer.batch_of) as batches:
        losses = [train(data, each).train_losses for each in settings]
    assert losses[0] != losses[1] == losses[2]
    orders = [call.args[2:4] for call in batches.call_args_list if len(call.args) > 2]
    alike = [np.array_equal(own, other) for own, other in orders if own is not None]
    assert alike == [True, False, False]


def test_control_networks_ignore_cards_or_adjacency():
    x, macro, o = batch()
    with torch.no_grad():
        blind = build("macro-only", seed=1)
        assert torch.equal(blind(x, macro, o), blind(1 - x, macro, 1 - o))
        mixed, plain = architectures.MixedInception(4), networks.Inception(4)
        plain.load_state_dict(mixed.state_dict())
        order = np.random.default_rng(0).permutation(52)
        assert torch.equal(mixed(x), plain(x[:, torch.from_numpy(order)]))
    assert (np.abs(np.diff(order)) == 1).sum() <= 4  # next to each other by chance only
    assert num_parameters("macro-only") == 129
    assert num_parameters("dual-inception-mixed") == 9057


def test_suits_can_be_averaged(tmp_path):
    """With averaged suits, a hand with swapped suits gets the same discard with swapped suits."""
    described = {"architecture": "dual-inception", "data": {"estimator": "uniform"}}
    weights.FORMAT.write(tmp_path / "random.safetensors", build("dual-inception"), described)
    bot = AveragedOffensiveBot(str(tmp_path / "random.safetensors"))
    first = holding("4H 5H 9H 2C 3D TS JD QD 8C 7S", "AD", "KH")
    second = holding("4S 5S 9S 2H 3C TD JC QC 8H 7D", "AC", "KS")  # H -> S -> D -> C -> H
    moved = dict(zip("HSDC", "SDCH", strict=True))
    ours, theirs = (
        cards.card_text(int(bot.act(table.games.views(np.zeros(1, np.int64)))[0]) % 52)
        for table in (first, second)
    )
    assert theirs == ours[0] + moved[ours[1]]


# --- Files ----------------------------------------------------------------------------------------------


def test_networks_round_trip_through_a_file(tmp_path):
    network = build("mlp-i", seed=3)
    path = tmp_path / "network.safetensors"
    weights.FORMAT.write(path, network, {"architecture": "mlp-i", "data": {"estimator": "uniform"}})
    again, metadata = weights.load_network(path)
    x, macro, o = batch()
    assert torch.equal(again(x, macro, o), network(x, macro, o))
    assert metadata["data"] == {"estimator": "uniform"}


def test_invalid_network_files_raise(tmp_path):
    path = tmp_path / "network.safetensors"
    with pytest.raises(FileNotFoundError, match="there is no hand-strength network"):
        weights.load_network(path)
    weights.FORMAT.write(path, build("mlp"), {"architecture": "dual-inception"})
    with pytest.raises(TensorFileError, match="does not match its own architecture"):
        weights.load_network(path)
    replace(weights.FORMAT, version="0").write(path, build("mlp"), {"architecture": "mlp"})
    with pytest.raises(TensorFileError, match=r"has version 0, this release reads 2; make it again with"):
        weights.load_network(path)


def test_packaged_networks_match_their_recipes():
    for name in BOTS.packaged("offensive", "network"):
        recipe = recipes.find_recipe(name)
        _, metadata = weights.find_network(name)
        assert metadata["architecture"] == recipe.architecture
        assert metadata["data"]["name"] == recipe.data_set
        assert metadata["command"].startswith(f"gin-rummy train hand-strength {name} ")
    with pytest.raises(ValueError, match="unknown network 'dual'; choose from"):
        weights.find_network("dual")


@pytest.mark.parametrize(
    ("explorer", "players", "rules", "option"),
    [
        ("simple", ["simple"], "eaai", ""),
        ("random", ["random-discard", "simple"], "oklahoma", " --rules oklahoma"),
    ],
)
def test_provenance_names_the_players_and_rules_of_the_data(explorer, players, rules, option):
    data = tiny_data()
    data.metadata |= {"explorer": explorer, "rules": rules}
    trained = HandStrengthTrainer(data, HandStrengthSettings("mlp", Schedule(2, 8, 1e-3, 0.1, 1), seed=5))
    contestants = [Contestant(4, 0.5, 0.6), Contestant(5, 0.7, 0.4)]
    described = recipes.provenance("mlp-random-16", trained, "fast", 2, contestants)
    assert [player["bot"] for player in described["players"]] == players
    assert described["command"] == (
        "python -m research train hand-strength mlp-random-16 mlp-random-16.safetensors --observations 64 "
        "--estimator uniform --data-seed 0 --schedule fast --seed 4 --candidates 2 --epochs 2" + option
    )
    assert described["candidates"][1] == {"seed": 5, "validation_loss": 0.7, "win_rate": 0.4}


def test_stored_data_of_other_settings_are_refused(tmp_path):
    few = {"estimator": "uniform", "observations": 20}
    recipes.load_or_generate(tmp_path, "simple", **few)
    stored = recipes.data_file(tmp_path, "simple", "last", "uniform", 20, 0, None)
    stored.rename(recipes.data_file(tmp_path, "simple", "last", "uniform", 20, 1, None))
    with pytest.raises(ValueError, match="holds other data: seed 0, not 1"):
        recipes.load_or_generate(tmp_path, "simple", seed=1, **few)


@pytest.mark.parametrize("scored", [False, True])
def test_predictions_read_the_features_that_were_learned(scored):
    """A network that returns the deadwood shows which one it was given."""
    data = tiny_data(40)
    data.deadwood = data.deadwood + np.uint8(100)
    network = type("Deadwood", (), {"eval": lambda _: None, "__call__": lambda _, x, macro, o: macro[:, 0]})()
    rows = np.arange(5, 35)
    found = trainer.predict(network, data, rows, scored_deadwood=scored)
    assert found.tolist() == (data.deadwood[rows] - 100 * (not scored)).tolist()
