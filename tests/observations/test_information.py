"""Information in views and observations: no hidden cards leak, and no visible fact is missing."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest
from environment_checks import vector_of
from game_from_view import SeenGame, first_cards, game_from_view
from played_positions import POLICIES, as_games, played, redealt, same_records

from gin_env import agents, cards
from gin_env.game.state import DISCARD, DRAW, OFFER, OVER, PHASE_NAMES, STOCK_ONLY
from gin_env.observations.observation import LAYOUT

pytestmark = pytest.mark.compiled

every_policy = pytest.mark.parametrize("name", list(POLICIES))
policies_that_differ_in_views = pytest.mark.parametrize(
    "name",
    ["random", "simple", *(f"knock-immediately{rest}" for rest in ("", ", small deck", ", everything"))],
)
both_seats = pytest.mark.parametrize("player", [0, 1])


def some_positions(name: str) -> np.ndarray:
    """Return the positions whose games are rebuilt, which is slow."""
    return np.arange(0, len(played(name).states), 3)


@cache
def seen_games(name: str, player: int) -> list[SeenGame]:
    """Return the game rebuilt from the player's view at each of `some_positions`."""
    views = played(name).games().views(some_positions(name), player)
    return [game_from_view(view) for view in views]


@both_seats
@every_policy
def test_hidden_cards_do_not_leak(name, player):
    """Redealing the hidden cards changes no observation, mask, view or decision of the player."""
    play = played(name)
    phases = play.states["public"]["phase"]
    mine = play.states["public"]["to_move"] == player
    wanted = {DRAW, DISCARD, OVER} | ({OFFER, STOCK_ONLY} if play.rules.opening_offer else set())
    assert {(phase, turn) for phase, turn in zip(phases.tolist(), mine.tolist(), strict=True)} >= {
        (phase, turn) for phase in wanted for turn in (True, False)
    }, "every phase, on the player's turn and the opponent's"

    true = play.games()
    false = as_games(redealt(play.states, play.rules, player, seed=player), play.rules)
    changed = true.state["private"]["hand"][:, 1 - player] != false.state["private"]["hand"][:, 1 - player]
    assert changed.mean() > 0.9, "the re-dealing must change the opponent's hand"
    views, other_views = (games.views(games.everyone, player) for games in (true, false))
    assert same_records(views.array, other_views.array)
    assert np.array_equal(views.masks(), other_views.masks())
    assert np.array_equal(views.observations(), other_views.observations())
    candidates = views.candidates()
    assert all(np.array_equal(*pair) for pair in zip(candidates, other_views.candidates(), strict=True))
    for games in (true, false):
        shown = games.candidates(games.everyone, player=player)
        assert all(np.array_equal(*pair) for pair in zip(candidates, shown, strict=True))
        assert np.array_equal(games.observations(games.everyone, player), views.observations())
    acting = np.flatnonzero(mine & (phases != OVER))
    assert np.array_equal(np.flatnonzero(views.masks().any(axis=1)), acting)
    assert np.array_equal(true.masks(acting), false.masks(acting))
    assert np.array_equal(true.masks(acting), views[acting].masks())
    for bot_name in agents.names(slow=False):
        bot = agents.make(bot_name)
        actions = bot.act(views[acting])
        assert np.array_equal(actions, bot.act(other_views[acting])), bot_name
        assert (views[acting].masks()[np.arange(len(acting)), actions] == 1).all(), bot_name


@both_seats
@policies_that_differ_in_views
def test_view_determines_all_visible_information(name, player):
    """The view determines the player's initial hand and the complete public history."""
    play = played(name)
    views = play.games().views(some_positions(name), player)
    for state, view, game in zip(
        play.states[some_positions(name)], views, seen_games(name, player), strict=True
    ):
        public = state["public"]
        dealt = state["hidden"]["deck"][player : 2 * play.rules.hand_size : 2]
        assert first_cards(view) == set(dealt.tolist())
        assert cards.mask_of(game.hands[player]) == state["private"]["hand"][player]
        assert cards.mask_of(game.pile) == public["pile"]
        assert public["upcard"] == (-1 if game.upcard is None else game.upcard)
        for who in range(2):
            discarded = [card for card, (by, _) in game.discards.items() if by == who]
            assert cards.mask_of(discarded) == public["discarded"][who]
            assert cards.mask_of(game.declined[who]) == public["declined"][who]
            assert cards.mask_of(game.shown[who]) == public["shown"][who]
        for card, (_, turn) in game.discards.items():
            assert turn == public["discard_turn"][card]
        assert (game.phase, game.to_move) == (PHASE_NAMES[public["phase"]], public["to_move"])
        assert (len(game.stock), game.turns) == (public["stock_left"], public["turn"])
        assert public["taken"] == (-1 if game.taken is None else game.taken)
        assert view.rules == play.rules
        assert len(view.history()) == public["history_length"]


@both_seats
@policies_that_differ_in_views
def test_observation_matches_its_layout(name, player):
    """Compare every part with a slow reconstruction from the event log."""
    play = played(name)
    views = play.games().views(some_positions(name), player)
    observations = views.observations()
    assert observations.dtype == np.float32
    expected = np.stack([vector_of(game.observation(player)) for game in seen_games(name, player)])
    for part, where in LAYOUT.items():
        wrong = np.abs(observations[:, where.slice] - expected[:, where.slice]).max(axis=1) > 1e-6
        assert not wrong.any(), (part, views[int(wrong.argmax())].array)
    constant = {part for part, where in LAYOUT.items() if np.ptp(observations[:, where.slice]) == 0}
    same = {"knock_limit", "points_double"} if not play.rules.oklahoma else set()
    assert constant <= same | (set() if play.rules.opening_offer else {"offer", "stock_only"})


@every_policy
def test_observation_stays_between_minus_one_and_one(name):
    play = played(name)
    games = play.games()
    for player in range(2):
        observations = games.observations(games.everyone, player)
        assert np.isfinite(observations).all()
        assert np.abs(observations).max() == 1
        for part in LAYOUT:
            if part != "upcard_gain":
                assert observations[:, LAYOUT[part].slice].min() >= 0
