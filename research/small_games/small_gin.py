"""Gin Rummy with a small deck, played by the real engine, as a game that can be solved exactly.

One hand, player 1 deals, player 0 begins; the payoff is the points of the hand. Chance deals the hands and
the upcard, and each stock card when it is drawn: until then only the contents of the stock are
determined, not their order. A state holds one record of the engine (`gin_env.game.state.STATE`); a drawn
card is put into its place in the deck before `gin_env.game.engine.play` is called.

An information set is the content of a `gin_env.observations.views.PlayerView`: the public acts of the hand,
the first upcard, the player's hand and own draws from the stock. Everything else in the view follows from
these (a test compares them field by field), and they make recall perfect: the first hand follows from the
current hand, acts and draws.

The rules were chosen so that the solution mixes: playing only the most probable actions would lose 0.05
points a hand in `TINY`. With a knock limit of 3 instead of 6 a pure strategy is an equilibrium.
"""

# mypy: disable-error-code="no-untyped-def,return-value"

from __future__ import annotations

from collections.abc import Hashable
from itertools import combinations

import numpy as np

from gin_env.batch import Games
from gin_env.game.actions import DRAW_STOCK, NUM_ACTIONS
from gin_env.game.cards import cards_of
from gin_env.game.engine import play, points_for, write_mask
from gin_env.game.rules import Rules
from gin_env.game.state import OVER, STATE
from gin_env.support.compilation import kernel
from research.small_games.game import CHANCE, TERMINAL, State

DEALER = 1


def small_rules(ranks: int, suits: int) -> Rules:
    """Return the rules of a hand of two turns with the low cards of some suits."""
    return Rules(
        ranks=ranks, suits=suits, hand_size=3, knock_limit=6, gin_bonus=5, undercut_bonus=5, stock_floor=0,
        max_turns=2,
    )  # fmt: skip


TINY = small_rules(4, 2)
DECKS = {8: TINY, 9: small_rules(3, 3), 10: small_rules(5, 2), 12: small_rules(4, 3)}
"""Rules by the number of cards. The trees have 104,961, 1,432,801, 6,165,601 and 98,693,281 nodes."""


class SmallGin:
    """One hand of Gin Rummy under any rules; with more than about nine cards this tree becomes too large."""

    def __init__(self, rules: Rules = TINY) -> None:
        if not isinstance(rules, Rules):
            raise TypeError(f"rules must be a gin_env.Rules, not {rules!r}")
        self.rules = rules
        self.name = f"Gin Rummy with {rules.deck_size} cards, {rules.hand_size} each"
        self.games = Games(1, rules)

    def root(self) -> Deal:
        """Return the state before the deal."""
        return Deal(self, ())


class Deal:
    """Before the first decision: chance deals player 0's hand, player 1's, the upcard, as tuples of cards."""

    __slots__ = ("dealt", "game")
    to_move = CHANCE

    def __init__(self, game: SmallGin, dealt: tuple[tuple[int, ...], ...]) -> None:
        self.game = game
        self.dealt = dealt

    def _left(self) -> list[int]:
        """Return the cards not dealt yet."""
        dealt = {card for cards in self.dealt for card in cards}
        return [card for card in cards_of(self.game.rules.deck_mask) if card not in dealt]

    def chance_outcomes(self) -> list[tuple[tuple[int, ...], float]]:
        number = self.game.rules.hand_size if len(self.dealt) < 2 else 1
        outcomes = list(combinations(self._left(), number))
        return [(cards, 1 / len(outcomes)) for cards in outcomes]

    def child(self, action: tuple[int, ...]) -> State:
        after = Deal(self.game, (*self.dealt, action))
        if len(after.dealt) < 3:
            return after
        first, second, upcard = after.dealt
        hands = [card for pair in zip(first, second, strict=True) for card in pair]
        games = self.game.games
        games.set_deck(0, [*hands, *upcard, *after._left()], DEALER)
        return GinState(games.state.copy(), 1 - DEALER)

    def actions(self) -> list[int]:
        raise TypeError("the cards are not dealt yet: chance moves")

    def information_set(self) -> tuple[Hashable, ...]:
        raise TypeError("the cards are not dealt yet: chance moves")

    def payoff(self) -> float:
        raise TypeError("the cards are not dealt yet: chance moves")


class GinState:
    """A position of a hand: `record` (1,) of dtype `gin_env.game.state.STATE`.

    At a chance node the player to move in the record has just chosen to draw from the stock.
    """

    __slots__ = ("record", "to_move")

    def __init__(self, record: np.ndarray, to_move: int) -> None:
        self.record = record
        self.to_move = to_move

    def _stock(self) -> np.ndarray:
        """Return the stock cards as a view, int8 (cards left,), in arbitrary order."""
        game = self.record[0]
        size = int(game["public"]["rules"]["ranks"]) * int(game["public"]["rules"]["suits"])
        return game["hidden"]["deck"][size - int(game["public"]["stock_left"]) : size]

    def chance_outcomes(self) -> list[tuple[int, float]]:
        stock = sorted(self._stock().tolist())
        return [(card, 1 / len(stock)) for card in stock]

    def actions(self) -> list[int]:
        mask = np.empty(NUM_ACTIONS, np.int8)
        _write_mask(self.record, mask)
        return np.flatnonzero(mask).tolist()

    def information_set(self) -> tuple[int, int, int, bytes, bytes]:
        public = self.record["public"][0]
        private = self.record["private"][0, self.to_move]
        return (
            self.to_move,
            int(public["first_upcard"]),
            int(private["hand"]),
            private["stock_draws"][: private["num_stock_draws"]].tobytes(),
            public["history"][: public["history_length"]].tobytes(),
        )

    def child(self, action: int) -> GinState:
        if self.to_move != CHANCE and action == DRAW_STOCK:
            return GinState(self.record, CHANCE)
        after = GinState(self.record.view(np.uint8).copy().view(STATE), TERMINAL)  # numpy copies bytes faster
        if self.to_move == CHANCE:
            stock = after._stock()
            place = int(np.flatnonzero(stock == action)[0])
            stock[0], stock[place] = stock[place], stock[0]
            action = DRAW_STOCK
        if not _play(after.record, action):
            after.to_move = int(after.record["public"]["to_move"][0])
        return after

    def payoff(self) -> float:
        return float(_points(self.record))


@kernel
def _write_mask(state, mask) -> None:
    game = state[0]
    write_mask(game.public, game.private[game.public.to_move], mask)


@kernel
def _points(state) -> int:
    """Return the points of an ended hand for player 0."""
    return points_for(state[0].public, 0)


@kernel
def _play(state, action: int) -> bool:
    """Play an action in the one game of `state`; and return whether the hand is over."""
    play(state[0], action)
    return state[0].public.phase == OVER
