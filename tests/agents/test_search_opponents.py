"""The search that recognises its opponent: models of the opponent and the shape of their hands."""

import numpy as np
import pytest
import torch
from played_positions import view_of_world, views_of_policy

from gin_env import agents, cards
from gin_env.agents.search.belief import Belief, Worlds, resampled
from gin_env.agents.search.bot import shared_out
from gin_env.agents.search.rollouts import RolloutPlayers
from gin_env.agents.search.small_networks import (
    FORMAT,
    MIN_ACTIONS,
    MODELS,
    NUM_CONDUCT,
    NUM_HAND,
    NUM_SHAPE,
    OTHER_ESTIMATOR,
    HandShapes,
    OpponentModels,
    estimators_for,
    load_networks,
    packaged_networks,
    write_conduct,
    write_shapes,
)
from gin_env.game.earlier_hands import forget_hands, remember_actions
from gin_env.game.hands import unmelded_cards
from gin_env.game.rules import Rules
from gin_env.game.state import STATE
from gin_env.matches.fixed_positions import fixed_views, game_views
from gin_env.observations.candidate_features import write_hand
from gin_env.observations.candidates import CONTEXT, NUM_FEATURES
from gin_env.observations.memory import NUM_MEMORY
from gin_env.observations.views import PlayerView
from gin_env.support.tensor_files import TensorFileError

pytestmark = pytest.mark.compiled

QUICK = "search:samples=16,turns=1"


def test_unknown_earlier_hands_do_not_count_as_hands_without_actions():
    counted = 0
    for view in fixed_views().array[::50]:
        rows = np.empty((2, NUM_CONDUCT), np.float32)
        for row, hand_number in zip(rows, (0, 6), strict=True):
            view["public"]["hand_number"] = hand_number
            write_conduct(view, np.zeros(1, STATE), row)
        assert (rows[0] == rows[1]).all()
        counted += rows.any()
    assert counted > 10


def test_conduct_is_that_of_the_opponent():
    """Of earlier hands it is the memory; of this hand and of all hands, that once this hand is remembered."""
    now, row = game_views()[::60], np.empty(NUM_CONDUCT, np.float32)
    later, alone = (now[np.arange(len(now))] for _ in range(2))  # copies
    for public in alone.array["public"]:
        forget_hands(public)
        public["hand_number"] = 0
    for view in (*later.array, *alone.array):
        public, opponent = view["public"], 1 - int(view["player"])
        if public["history_length"] >= MIN_ACTIONS:
            remember_actions(public, opponent, public["memory"][opponent])
            public["hand_number"] += 1
    memories = (views.memories() for views in (now, alone, later))
    for view, memory, this_hand, all_hands in zip(now.array, *memories, strict=True):
        write_conduct(view, np.zeros(1, STATE), row)
        assert (row[:NUM_MEMORY] == memory).all()
        assert (row[NUM_MEMORY : 2 * NUM_MEMORY] == this_hand).all()
        assert (row[2 * NUM_MEMORY :] == all_hands).all()


def test_opponent_with_other_parameters_has_the_estimator_of_its_name():
    assert estimators_for("simple:knock_at=4") == estimators_for("simple") == [MODELS["simple"]]
    assert estimators_for("medium") == [OTHER_ESTIMATOR]


def test_each_model_has_its_own_shapes_and_plays_its_own_rollouts(monkeypatch):
    counts = 1, 3, 5, 7
    monkeypatch.setattr(OpponentModels, "__call__", lambda self, view: np.array(counts) / 16)
    bot, (state, view) = agents.make(QUICK), views_of_policy(1)[-1]
    hand = int(state["private"]["hand"][1 - int(view.array["player"][0])])
    models, players, random = bot.begin(view, np.random.default_rng(1)), [], np.random.default_rng(1)
    for name, count, (model, worlds) in zip(MODELS, counts, models, strict=True):
        rest, shapes = worlds.with_hand(hand), HandShapes(packaged_networks()[name])
        assert (rest == Worlds(Belief(MODELS[name], shapes), view, count, random).with_hand(hand)).all()
        assert model.belief.shapes(worlds.view, rest).tolist() == shapes(worlds.view, rest).tolist()

    def roll_out(self, games, player, turns):
        players.extend([self.opponent] * (turns == 1))  # whole hands are played for the chances to win
        return np.zeros(len(games))

    monkeypatch.setattr(RolloutPlayers, "roll_out", roll_out)
    bot.gains_in_models(view, models, 16, bot.likeliest(view)[0])
    assert [player and player.name for player in players] == [None, None, "simple", "tonic"]


def test_decisions_do_not_depend_on_hidden_cards_or_the_batch():
    bot, views = agents.make(QUICK), []
    for number, (state, view) in enumerate(views_of_policy(2)):
        (world,) = bot.belief.worlds(view, 1, np.random.default_rng(number))
        assert bot.act(view) == bot.act(view_of_world(world, state, view))
        views.append(view)
    together = agents.make(QUICK).act(PlayerView(np.concatenate([view.array for view in views])))
    assert together.tolist() == [int(bot.act(view)[0]) for view in views]


def test_resampling_follows_the_weights():
    random = np.random.default_rng(5)
    chosen = resampled(np.log([1.0, 2.0, 5.0]), 800, random)
    assert np.bincount(chosen).tolist() == pytest.approx([100, 200, 500], abs=1)
    assert (np.diff(chosen) < 0).any()
    assert {int(resampled(np.zeros(2), 1, random)[0]) for _ in range(30)} == {0, 1}


@pytest.mark.parametrize(
    ("chances", "counts"),
    [([1.0, 0.0, 0.0], [16, 0, 0]), ([0.5, 0.3, 0.2], [8, 5, 3]), ([0.98, 0.02, 0.0], [16, 0, 0])],
)
def test_worlds_are_shared_out_by_probability(chances, counts):
    assert shared_out(np.array(chances), 16) == counts


def test_incomplete_file_is_refused(tmp_path):
    FORMAT.write_tensors(tmp_path / "one.safetensors", {"a.first": torch.ones(2)}, {})
    with pytest.raises(TensorFileError, match=r"lacks the tensor .a\.first_bias"):
        load_networks(tmp_path / "one.safetensors")


def test_network_of_another_size_is_refused():
    shapes, opponents = (packaged_networks()[name] for name in ("simple", "opponents"))
    assert HandShapes(shapes)
    with pytest.raises(TensorFileError, match="train it again with python -m research train opponents"):
        HandShapes(opponents)
    with pytest.raises(TensorFileError, match="3 inputs"):
        HandShapes(shapes._replace(first=shapes.first[:3]))
    with pytest.raises(TensorFileError, match="2 outputs"):
        HandShapes(shapes._replace(last=np.zeros((len(shapes.last), 2), np.float32)))


@pytest.mark.parametrize("rules", [Rules(), Rules(ranks=11)], ids=["52", "44"])
def test_shape_counts_what_the_opponent_declined_discarded_and_took(rules):
    """The last five numbers, by sets of cards; those before them are the discards of the context."""
    last_discard, met = list(CONTEXT).index("last_discard"), np.zeros(5)
    for state, view in views_of_policy(12, rules):
        public, opponent = view.array["public"][0], 1 - int(view.array["player"][0])
        hand = int(state["private"]["hand"][opponent])
        worlds = Worlds(Belief(MODELS["simple"]), view, 1, np.random.default_rng(1))
        rows = np.empty((2, NUM_SHAPE), np.float32)
        write_shapes(view.array[0], worlds.with_hand(hand), rows)
        points = {card: min(card % 13 + 1, 10) for card in range(52)}
        held = set(cards.cards_of(hand))
        loose = set(cards.cards_of(unmelded_cards(hand)))
        shown, declined, discarded = (
            set(cards.cards_of(int(public[name][opponent]))) for name in ("shown", "declined", "discarded")
        )
        completing = {card for card in declined | discarded if completes_a_meld(held, card)}
        (context,) = view.candidates()[2]
        latest = round(10 * float(context[last_discard]))
        expected = [
            len(completing & declined),
            len(completing & discarded),
            len(shown - loose),
            len(shown & loose),
            len([card for card in loose if latest and points[card] > latest]),
        ]
        assert (4 * rows[0, NUM_HAND + 6 :]).tolist() == expected
        unseen = rules.deck_mask & ~(hand | int(public["pile"]) | int(public["shown"][1 - opponent]))
        full, after = np.empty(NUM_FEATURES, np.float32), np.empty((52, 52), np.int64)
        write_hand(full, hand, 0, unseen, public["knock_limit"], after)
        assert rows[0, :NUM_HAND].tolist() == full[:NUM_HAND].tolist()
        same = context[[0, 1, 2, *range(last_discard, last_discard + 3)]]
        assert rows[0, NUM_HAND : NUM_HAND + 6].tolist() == same.tolist()
        met += np.array(expected) > 0
    assert (met > 0).all()


def completes_a_meld(held: set[int], card: int) -> bool:
    """Return whether two cards of a hand form a meld with this card."""
    same_rank = [other for other in held if other % 13 == card % 13]
    suit, rank = divmod(card, 13)
    runs = [[rank + step for step in steps] for steps in ((-2, -1), (-1, 1), (1, 2))]
    return len(same_rank) >= 2 or any(
        all(0 <= other < 13 and suit * 13 + other in held for other in run) for run in runs
    )
