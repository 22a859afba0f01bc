"""One hand of Gin Rummy as an OpenSpiel game, for OpenSpiel's algorithms.

>>> import gin_env.wrappers.openspiel  # registers the game
>>> game = pyspiel.load_game("python_gin_env")

The only chance node is the deal, which chooses one of `DEALS` decks. With the parameter ``rules``, such as
``"ranks=3,suits=2,hand_size=2"``, a deck of few cards is dealt in every order and player 1 always deals, so
that exploitability is exact. Actions are those of `gin_env.game.actions`, the tensor is the observation of
`gin_env.observations.observation`, and returns are points / 100. A clone copies the whole game with its
hidden cards, so a search on clones (such as MCTS) sees these cards.
"""

from __future__ import annotations

import math
from itertools import permutations
from typing import Any

import numpy as np

from gin_env.batch import Games
from gin_env.game import actions
from gin_env.game.cards import cards_of
from gin_env.game.rules import Rules
from gin_env.observations.observation import OBSERVATION_SIZE

try:
    import pyspiel
except ImportError as error:  # pragma: no cover - make compatibility has it
    raise ImportError("gin_env.wrappers.openspiel needs OpenSpiel: pip install open_spiel") from error

DEALS = 10_000
SEED = 0
"""Seed of the decks, which are those of its episodes 0 to `DEALS` - 1."""
_TYPE = pyspiel.GameType(
    short_name="python_gin_env",
    long_name="Gin Rummy by gin-env",
    dynamics=pyspiel.GameType.Dynamics.SEQUENTIAL,
    chance_mode=pyspiel.GameType.ChanceMode.EXPLICIT_STOCHASTIC,
    information=pyspiel.GameType.Information.IMPERFECT_INFORMATION,
    utility=pyspiel.GameType.Utility.ZERO_SUM,
    reward_model=pyspiel.GameType.RewardModel.TERMINAL,
    max_num_players=2,
    min_num_players=2,
    provides_information_state_string=True,
    provides_information_state_tensor=True,
    provides_observation_string=True,
    provides_observation_tensor=True,
    parameter_specification={"rules": "eaai"},
)


class GinRummyGame(pyspiel.Game):
    """The OpenSpiel game; make it with ``pyspiel.load_game("python_gin_env")``."""

    def __init__(self, params: dict[str, Any] | None = None) -> None:
        self.rules = Rules.parse((params or {}).get("rules", "eaai"))
        self.decks = all_decks(self.rules)
        info = pyspiel.GameInfo(
            num_distinct_actions=actions.NUM_ACTIONS,
            max_chance_outcomes=len(self.decks) or DEALS,
            num_players=2,
            min_utility=-2.0,
            max_utility=2.0,
            utility_sum=0.0,
            max_game_length=300,
        )
        super().__init__(_TYPE, info, params or {})

    def new_initial_state(self) -> GinRummyState:
        return GinRummyState(self)

    def make_py_observer(self, iig_obs_type: Any = None, params: Any = None) -> Observer:
        return Observer()


def all_decks(rules: Rules) -> np.ndarray:
    """Return every deck that deals differently: int8 (k, deck_size), k = 0 if they are more than `DEALS`."""
    size, cards = rules.hand_size, cards_of(rules.deck_mask)
    count = math.factorial(len(cards)) // math.factorial(size) ** 2
    decks = permutations(cards) if count <= DEALS else ()
    hands = [slice(player, 2 * size, 2) for player in (0, 1)]  # dealt alternately; their order is the same
    once = [deck for deck in decks if all(sorted(deck[hand]) == [*deck[hand]] for hand in hands)]
    return np.array(once, np.int8).reshape(-1, len(cards))


class GinRummyState(pyspiel.State):
    """One hand: not dealt yet, being played, or over."""

    def __init__(self, game: GinRummyGame) -> None:
        super().__init__(game)
        self.games = Games(1, game.rules)
        self.decks = game.decks
        self.dealt = False

    def current_player(self) -> int:
        if not self.dealt:
            return pyspiel.PlayerId.CHANCE
        return pyspiel.PlayerId.TERMINAL if self.is_terminal() else int(self.games.to_move()[0])

    def is_terminal(self) -> bool:
        return self.dealt and bool(self.games.done[0])

    def chance_outcomes(self) -> list[tuple[int, float]]:
        count = len(self.decks) or DEALS
        return [(deal, 1 / count) for deal in range(count)]

    def _legal_actions(self, player: int) -> list[int]:
        return self.games.masks(self.games.everyone)[0].nonzero()[0].tolist()

    def _apply_action(self, action: int) -> None:
        everyone = self.games.everyone
        if self.dealt:
            self.games.play(everyone, np.array([action]))
        else:
            self.dealt = True
            self.games.start(everyone, np.array([SEED], np.uint64), np.array([action], np.uint64))
            if len(self.decks):
                self.games.fix_deals(0, [self.decks[action]], 1)

    def _action_to_string(self, player: int, action: int) -> str:
        return f"deal {action}" if player < 0 else actions.describe(action)

    def returns(self) -> list[float]:
        points = round(float(self.games.rewards[0]), 2)  # multiples of 0.01, stored as float32
        return [points, -points]

    def __str__(self) -> str:
        return " ".join(str(action) for action in self.history())


class Observer:
    """A player's view of a state: the observation as a tensor, and the position in words as a string."""

    def __init__(self) -> None:
        self.tensor = np.zeros(OBSERVATION_SIZE, np.float32)
        self.dict = {"observation": self.tensor}

    def set_from(self, state: GinRummyState, player: int) -> None:
        everyone = state.games.everyone
        self.tensor[:] = state.games.observations(everyone, player)[0] if state.dealt else 0.0

    def string_from(self, state: GinRummyState, player: int) -> str:
        return str(state.games.views(state.games.everyone, player)) if state.dealt else "not dealt yet"


pyspiel.register_game(_TYPE, GinRummyGame)
