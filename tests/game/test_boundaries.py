"""Public functions check their arguments before compiled code runs; records are reproducible bytes."""

from __future__ import annotations

import numpy as np
import pytest
from hands_in_words import ONE_GAME, started
from played_positions import played
from python_programs import run_python

from gin_env import agents, observation
from gin_env.agents.simple import SimpleBot
from gin_env.agents.turns import play_bot, play_turns
from gin_env.batch import Games
from gin_env.game.actions import IllegalActionError, describe
from gin_env.game.cards import card_text
from gin_env.observations.views import VIEW, PlayerView
from gin_env.support.kernel_cache import cache_folder

TWO_SEEDS, THREE_SEEDS = np.zeros(2, np.uint64), np.zeros(3, np.uint64)
OUTSIDE = [np.array([5_000_000]), np.array([-1]), np.array([0, 3]), [3], np.array([2**63], np.uint64)]
NO_INDICES = [np.array([0.0]), ["a"], np.zeros((1, 1), np.int64), None, np.array([True]), 0]
READING = {
    "candidates": lambda games, some: games.candidates(some),
    "masks": lambda games, some: games.masks(some),
    "observations": lambda games, some: games.observations(some, 0),
    "views": lambda games, some: games.views(some),
    "waiting_for": lambda games, some: games.waiting_for(0, some),
    "find_illegal": lambda games, some: games.find_illegal(some, np.full(np.size(some), 104)),
    "play": lambda games, some: games.play(some, np.full(np.size(some), 106)),
    "start": lambda games, some: games.start(some, *[np.zeros(np.size(some), np.uint64)] * 2),
}


def refuse(games: Games, error: type[Exception], call, *args) -> None:
    before = games.state.tobytes(), games.done.tobytes(), games.rewards.tobytes()
    with pytest.raises(error):
        call(*args)
    assert (games.state.tobytes(), games.done.tobytes(), games.rewards.tobytes()) == before


@pytest.mark.parametrize("method", READING)
@pytest.mark.parametrize("some", OUTSIDE, ids=str)
def test_unknown_game_raises_index_error(method, some):
    games = started()
    refuse(games, IndexError, READING[method], games, some)


@pytest.mark.parametrize("method", READING)
@pytest.mark.parametrize("some", NO_INDICES, ids=str)
def test_invalid_indices_are_refused(method, some):
    games = started()
    refuse(games, (TypeError, ValueError), READING[method], games, some)  # type: ignore[arg-type]


def test_finished_game_refuses_actions():
    games = Games(1)
    for action in (104, 0, 106):
        refuse(games, IllegalActionError, games.play, ONE_GAME, np.array([action]))
    refuse(games, IndexError, play_turns, games, SimpleBot(), ONE_GAME)
    refuse(games, IndexError, play_bot, started(), SimpleBot(), np.array([0, 3]))
    refuse(games, ValueError, play_bot, started(), SimpleBot(), np.array([1, 1]))
    refuse(games, IndexError, play_turns, started(), SimpleBot(), np.array([3]))


def test_play_accepts_each_game_once_in_any_order():
    games, other = started(), started()
    refuse(games, ValueError, games.play, np.array([1, 0, 1]), np.array([106, 106, 106]))
    games.play(np.array([2, 0]), np.array([105, 106]))
    other.play(np.array([0, 2]), np.array([106, 105]))
    assert games.state.tobytes() == other.state.tobytes()


@pytest.mark.parametrize(
    ("seeds", "episodes", "twins", "error"),
    [
        (TWO_SEEDS, THREE_SEEDS, None, ValueError),
        (THREE_SEEDS, TWO_SEEDS, None, ValueError),
        (THREE_SEEDS, THREE_SEEDS, np.zeros(2, np.bool_), TypeError),
        (THREE_SEEDS, THREE_SEEDS, THREE_SEEDS, TypeError),
        (np.zeros(3), THREE_SEEDS, None, TypeError),
        ([1, 2, 3], THREE_SEEDS, None, TypeError),
    ],
)
def test_mismatched_seeds_are_refused(seeds, episodes, twins, error):
    games = started()
    refuse(games, error, games.start, games.everyone, seeds, episodes, twins)


@pytest.mark.parametrize("player", [2, 7, -1, 2**70, 0.0, "0", np.timedelta64(0)])
def test_invalid_player_is_refused(player):
    games = started()
    for call in (games.observations, games.views):
        refuse(games, (TypeError, ValueError), call, games.everyone, player)  # type: ignore[arg-type]
    refuse(games, (TypeError, ValueError), games.waiting_for, player, games.everyone)  # type: ignore[arg-type]


def test_mismatched_output_arrays_are_refused():
    games = started()
    refuse(games, ValueError, games.masks, games.everyone, np.zeros((2, 107), np.int8))
    refuse(games, TypeError, games.masks, games.everyone, np.zeros((3, 107)))
    refuse(games, ValueError, games.observations, games.everyone, 0, np.zeros((3, 5), np.float32))


@pytest.mark.parametrize("game", [3, -1, 1.0, slice(None), None])
def test_deck_requires_one_existing_game(game):
    games = started()
    deck = games.deck(0)
    refuse(games, (TypeError, ValueError), games.set_deck, game, deck, 0)  # type: ignore[arg-type]
    refuse(games, (TypeError, ValueError), games.deck, game)  # type: ignore[arg-type]


# --- Records from outside -------------------------------------------------------------------------------


@pytest.mark.compiled
def test_view_with_a_changed_bit_is_refused_or_playable():
    """Compiled code uses the fields of a record as indices."""
    rng, accepted = np.random.default_rng(3), 0
    games = played("simple").games()
    for number in range(400):
        record = games.views(np.array([number])).array
        record.view(np.uint8)[rng.integers(VIEW.itemsize)] ^= 1 << rng.integers(8)
        try:
            view = PlayerView(record)
        except ValueError:
            continue
        view.observations(), view.history()
        if view.masks().any():
            accepted += 1
            for bot in ("random", "simple", "tonic", "utility", "cfr-plus"):
                agents.make(bot).act(view)
    assert 20 < accepted < 380


def test_invalid_index_into_views_raises_index_error():
    views = started().views(np.arange(3))
    for index in (3, 2**70, "public", ["public"], np.array(["1"])):
        with pytest.raises(IndexError):
            views[index]
    assert len(views[-1]) == len(views[np.int64(2)]) == 1


@pytest.mark.compiled
def test_record_padding_is_zero():
    """Padding between the fields is zero, so that equal views have equal bytes."""
    games = started(200)
    first = games.views(games.everyone).array.tobytes()
    rubbish = [np.full(len(first), 255, np.uint8) for _ in range(20)]
    del rubbish
    assert games.views(games.everyone).array.tobytes() == first
    view = games.views(games.everyone)
    mask = np.ones(VIEW.itemsize, bool)
    for start, end in _fields(VIEW):
        mask[start:end] = False
    assert mask.sum() > 0
    assert not view.array.view(np.uint8).reshape(200, -1)[:, mask].any()


def _fields(dtype: np.dtype, offset: int = 0):
    if dtype.subdtype is not None:
        base, shape = dtype.subdtype
        for number in range(int(np.prod(shape))):
            yield from _fields(base, offset + number * base.itemsize)
    elif dtype.names is None:
        yield offset, offset + dtype.itemsize
    else:
        for name in dtype.names:
            field, start = dtype.fields[name][:2]  # type: ignore[index]
            yield from _fields(field, offset + start)


# --- Single values --------------------------------------------------------------------------------------


def test_values_of_wrong_types_are_refused():
    with pytest.raises(IllegalActionError, match="107 is not an action: actions run from 0 to 106"):
        describe(107)
    with pytest.raises(TypeError, match="a card id must be an integer"):
        card_text([])  # type: ignore[arg-type]
    for read in (observation.planes, observation.scalars, lambda one: observation.part(one, "hand")):
        with pytest.raises(TypeError, match="observation must be a numpy array"):
            read([1.0])


BOUNDS_CHECKED = """
import numpy as np
from gin_env.game.cards import write_ones
try:
    write_ones(np.zeros(1, np.int8), 5, 1)
except IndexError:
    print("indices are checked")
from gin_env import Rules, agents
from gin_env.batch import Games
for rules in (Rules(), Rules(ranks=6, suits=3, hand_size=4, knock_limit=6, opening_offer=False)):
    games = Games(40, rules, "game")
    games.start(seed=7)
    for step, waiting in zip(range(150), games.until_over()):
        views = games.views(waiting)
        views.masks(), views.observations()
        games.play(waiting, agents.make(("random", "simple")[step % 2]).act(views))
print("none was out of bounds")
"""


@pytest.mark.long
def test_engine_stays_within_array_bounds(tmp_path):
    """Run with numba's bounds checking; its kernels are cached in a separate folder."""
    folder = (cache_folder() or tmp_path / "none").parent / "bounds-checked"
    done = run_python("-c", BOUNDS_CHECKED, NUMBA_BOUNDSCHECK="1", GIN_ENV_CACHE=str(folder))
    assert done.stdout.splitlines() == ["indices are checked", "none was out of bounds"], done.stderr
