"""Integer arguments: Python and NumPy integers are accepted everywhere, lookalikes nowhere."""

from __future__ import annotations

import numpy as np
import pytest

from gin_env import Rules, agents, cards, play_match
from gin_env.batch import Games
from gin_env.game.actions import check_action
from gin_env.game.deals import check_dealer
from gin_env.game.streams import check_seed
from gin_env.support.checks import check_integer, check_number, result_array
from research.recipes.estimators.sampling import collect_positions

TAKERS = {
    "an action": check_action,
    "a seed": check_seed,
    "a card": lambda value: cards.mask_of([value]),
    "a mask": cards.check_mask,
    "a dealer": check_dealer,
    "a number of games": Games,
    "games of a match": lambda value: play_match("random", "random", value),
    "hands to watch": lambda value: collect_positions(["random"], value, seed=1),
    "a rule": lambda value: Rules(knock_limit=value),
    "a threshold": lambda value: agents.make("simple", knock_at=value),
    "a parameter": lambda value: check_integer("number", value, 0, 9),
}


@pytest.mark.parametrize("value", [True, np.True_, 1.0, np.float64(1), "1", None, np.timedelta64(1, "s")])
@pytest.mark.parametrize("taker", TAKERS)
def test_non_integers_are_refused(taker, value):
    with pytest.raises((TypeError, ValueError), match=r".*not .*(True|1|None)"):
        TAKERS[taker](value)


@pytest.mark.compiled
@pytest.mark.parametrize("value", [1, np.int8(1), np.uint64(1)])
@pytest.mark.parametrize("taker", [taker for taker in TAKERS if taker != "games of a match"])
def test_integers_of_any_type_are_accepted(taker, value):
    TAKERS[taker](value)


def test_action_may_be_a_tensor():
    torch = pytest.importorskip("torch")
    assert check_action(torch.tensor(30)) == check_action(np.array(30)) == 30
    for wrong in (torch.tensor(1.0), torch.tensor(True), torch.tensor([1]), np.array([1])):
        with pytest.raises(TypeError, match="an action must be an integer"):
            check_action(wrong)


def test_durations_are_refused():
    with pytest.raises(TypeError, match="held must be a number, not"):
        check_number("held", np.timedelta64(1, "s"), 0, 2)
    assert check_number("held", np.float32(0.5), 0, 2) == 0.5


def test_result_array_must_be_writable_and_fit():
    array = np.ones(3, np.int8)
    assert result_array("out", array, (3,), np.dtype(np.int8)) is array
    assert not result_array("out", None, (3,), np.dtype(np.int8)).any()
    array.flags.writeable = False
    for wrong in (array, np.ones(4, np.int8)):
        with pytest.raises(ValueError, match=r"out must be a writable array of shape \(3,\)"):
            result_array("out", wrong, (3,), np.dtype(np.int8))
