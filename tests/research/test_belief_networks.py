"""The belief of search, judged in positions that its recipe collects."""

import numpy as np
import pytest

torch = pytest.importorskip("torch")


from gin_env.agents.search.belief import Belief, Worlds  # noqa: E402
from gin_env.agents.search.small_networks import (  # noqa: E402
    MODELS,
    NUM_CONDUCT,
    HandShapes,
    OpponentModels,
    packaged_networks,
    write_conduct,
)
from gin_env.game.state import STATE  # noqa: E402
from gin_env.observations.memory import NUM_MEMORY  # noqa: E402
from research.recipes.search_networks import collect_decisions  # noqa: E402

pytestmark = pytest.mark.compiled


@pytest.mark.parametrize("bot", MODELS)
def test_true_hand_has_a_better_shape_than_hands_drawn_card_by_card(bot):
    positions = collect_decisions(bot, 30, seed=99)
    belief, shapes = Belief(MODELS[bot]), HandShapes(packaged_networks()[bot])
    ranks = []
    for index, hand in enumerate(positions.hands.tolist()):
        worlds = Worlds(belief, positions.view[[index]], 15, np.random.default_rng(index))
        scores = shapes(worlds.view, worlds.with_hand(hand))
        ranks.append((scores[0] > scores[1:]).mean())
    assert len(ranks) > 100
    assert np.mean(ranks) > 0.65


@pytest.mark.parametrize("bot", MODELS)
def test_opponent_is_recognised_by_what_it_did(bot):
    models, right = OpponentModels(), []
    views = collect_decisions(bot, 30, seed=98).view
    for view in views.array[views.array["public"]["hand_number"] >= 2]:
        chances = models(view)
        assert chances.sum() == pytest.approx(1)
        # The two policies play much alike.
        alike = ("policy", "policy-1") if bot.startswith("policy") else (bot,)
        right.append(sum(chances[list(MODELS).index(one)] for one in alike))
    assert len(right) > 40
    assert np.mean(right) > (0.6 if bot == "tonic" else 0.7)


def test_conduct_counts_earlier_hands_and_this_one():
    earlier, now, both = slice(NUM_MEMORY), slice(NUM_MEMORY, 2 * NUM_MEMORY), slice(2 * NUM_MEMORY, None)
    seen = set()
    for view in collect_decisions("simple", 10, seed=97).view.array:
        row = np.full(NUM_CONDUCT, np.nan, np.float32)
        write_conduct(view, np.zeros(1, STATE), row)
        first, begun = not view["public"]["hand_number"], view["public"]["history_length"] >= 4
        seen.add((first, begun))
        assert np.isfinite(row).all()
        assert (row[earlier] != 0).any() != first
        assert (row[now] != 0).any() == begun
        if first:
            assert (row[both] == row[now]).all()
        elif not begun:
            assert (row[both] == row[earlier]).all()
    assert len(seen) == 4
