"""The numbers of the game: one frozen, validated dataclass, and its numpy form for the kernels."""

# mypy: disable-error-code="no-untyped-def,return-value"

from __future__ import annotations

from dataclasses import Field, dataclass, fields
from typing import Any

import numpy as np

from gin_env.game.cards import NUM_RANKS, NUM_SUITS, deck_cards
from gin_env.support.checks import is_integer
from gin_env.support.compilation import kernel

MAX_HAND_SIZE = 10
MAX_KNOCK_LIMIT = 100
MAX_TURNS = 126
"""Most turns that the history of one hand has room for (two actions a turn, two passes before them)."""
_BOUNDS = {
    "ranks": (1, NUM_RANKS),
    "suits": (1, NUM_SUITS),
    "hand_size": (1, MAX_HAND_SIZE),
    "knock_limit": (0, MAX_KNOCK_LIMIT),
    "gin_bonus": (0, 1000),
    "undercut_bonus": (0, 1000),
    "target_score": (1, 10_000),
    "stock_floor": (0, 51),
    "max_turns": (1, MAX_TURNS),
    "max_hands": (1, 30_000),
}


@kernel
def cards_in_deck(rules) -> int:
    """Number of cards in the deck, by a record of `RULES`."""
    return rules.ranks * rules.suits


@kernel
def stock_after_deal(rules) -> int:
    """Number of cards in the stock once both hands and the upcard are dealt."""
    return rules.ranks * rules.suits - 2 * rules.hand_size - 1


@dataclass(frozen=True)
class Rules:
    """Rules of one game. The defaults are those of the EAAI 2021 Gin Rummy challenge (the Java framework
    tneller/gin-rummy-eaai, on which all five papers build), but for the caps, which it lacks.

    Smaller decks (to check algorithms exactly) keep the card ids, actions and planes of the full one;
    cards that they lack are never dealt and never legal.

    Raises TypeError for a value that is not of the field's type, ValueError for rules that
    cannot be played.
    """

    ranks: int = NUM_RANKS
    """Ranks in the deck, counted from the ace (EAAI: 13)."""
    suits: int = NUM_SUITS
    """Suits in the deck, in the order CHSD (EAAI: 4)."""
    hand_size: int = 10
    """Cards dealt to each player (EAAI: 10)."""
    knock_limit: int = 10
    """Most deadwood with which a player may knock (EAAI: 10)."""
    gin_bonus: int = 25
    """Points for gin, beside the defender's deadwood (EAAI: 25; Bicycle's rules: 20)."""
    undercut_bonus: int = 25
    """Points for an undercut, beside the difference (EAAI: 25; Bicycle's rules: 10)."""
    target_score: int = 100
    """The game ends when a player reaches this many points (EAAI: 100)."""
    stock_floor: int = 2
    """A turn starts only while the stock holds more cards than this (EAAI: 2)."""
    opening_offer: bool = True
    """The upcard is offered to the non-dealer, then to the dealer, before the first turn (EAAI: yes).
    Without it the non-dealer starts with an ordinary turn."""
    max_turns: int = 100
    """A hand is void after this many turns of both players together, so that no two policies play forever
    (ours; between Simple players the longest hand in 200,000 had 35 turns)."""
    max_hands: int = 1000
    """A game ends undecided after this many hands, for the same reason (ours; ten hands are usual)."""

    def __post_init__(self) -> None:
        for field in fields(self):
            object.__setattr__(self, field.name, self._checked(field, getattr(self, field.name)))
        if self.initial_stock <= self.stock_floor:
            raise ValueError(
                f"a deck of {self.deck_size} cards is too small: two hands of {self.hand_size}, the upcard "
                f"and more than {self.stock_floor} (stock_floor) stock cards are needed"
            )

    @staticmethod
    def _checked(field: Field[Any], value: Any) -> bool | int:
        """The value of one field, as its annotation says. Raises TypeError or ValueError."""
        if field.type == "bool":
            if not isinstance(value, bool | np.bool_):
                raise TypeError(f"Rules.{field.name} must be True or False, not {value!r}")
            return bool(value)
        if not is_integer(value):
            raise TypeError(f"Rules.{field.name} must be an integer, not {value!r}")
        least, most = _BOUNDS[field.name]
        if not least <= value <= most:
            raise ValueError(f"Rules.{field.name} = {value} is out of range: {least} to {most} is possible")
        return int(value)

    @property
    def deck_size(self) -> int:
        """Number of cards in the deck."""
        return cards_in_deck.py_func(self)  # without compiling anything

    @property
    def initial_stock(self) -> int:
        """Cards in the stock after the deal."""
        return stock_after_deal.py_func(self)

    @property
    def deck_mask(self) -> int:
        """Mask of the cards in the deck."""
        return int(deck_cards(self.ranks, self.suits))

    def record(self) -> np.void:
        """The rules as one record of `RULES`, as in every game's public part."""
        records = np.zeros(1, RULES)  # zeros between the fields too, so that equal rules are equal bytes
        records[0] = tuple(getattr(self, field.name) for field in fields(self))
        return records[0]

    @classmethod
    def from_record(cls, record: np.void) -> Rules:
        """The rules that a game is played under: the inverse of `record`."""
        return cls(**{name: record[name].item() for name in RULES.names or ()})


RULES = np.dtype(
    [(field.name, np.bool_ if field.type == "bool" else np.int16) for field in fields(Rules)],
    align=True,
)
"""Structured dtype with one field per field of `Rules`."""
