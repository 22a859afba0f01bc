"""The rules of the game: one frozen, validated dataclass, presets, and a numpy form for the kernels."""

# mypy: disable-error-code="no-untyped-def,return-value"

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import Field, dataclass, fields, replace
from functools import lru_cache
from typing import Any, Literal, TypeAlias, get_args, get_type_hints

import numpy as np

from gin_env.game.cards import CARD_VALUES, NUM_RANKS, NUM_SUITS, SUITS, deck_cards
from gin_env.support.checks import check_choice, check_integer, check_switch, unknown
from gin_env.support.compilation import kernel

MAX_HAND_SIZE = 10
MAX_KNOCK_LIMIT = 100
MAX_TURNS = 126
"""Most turns that the history of one hand has room for (two actions a turn, two passes before them)."""
MAX_CARD_VALUE = 10

NextDealer: TypeAlias = Literal["alternate", "winner", "loser"]
VoidDealer: TypeAlias = Literal["same", "other"]
NEXT_ALTERNATE, NEXT_WINNER, NEXT_LOSER = range(3)  # `next_dealer` in the kernels
VOID_SAME, VOID_OTHER = range(2)  # `void_dealer` in the kernels
SPADES = SUITS.index("S")

BOUNDS = {
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
    "big_gin_bonus": (0, 1000),
    "box_bonus": (0, 1000),
    "game_bonus": (0, 10_000),
    "shutout_bonus": (0, 10_000),
}


@kernel
def cards_in_deck(rules) -> int:
    """Return the number of cards in the deck of a `RULES` record.

    >>> int(cards_in_deck(Rules(ranks=6, hand_size=5).record()))
    24
    """
    return rules.ranks * rules.suits


@kernel
def stock_after_deal(rules) -> int:
    """Return the number of cards in the stock once both hands and the upcard are dealt.

    >>> int(stock_after_deal(Rules().record()))
    31
    """
    return rules.ranks * rules.suits - 2 * rules.hand_size - 1


@kernel
def limit_of_hand(rules, upcard: int) -> int:
    """Return the most deadwood for a knock in a hand that begins with this upcard.

    >>> limit_of_hand(Rules(oklahoma=True).record(), 4), limit_of_hand(Rules(oklahoma=True).record(), 0)
    (5, 0)
    """
    limit = np.int64(rules.knock_limit)
    if not rules.oklahoma:
        return limit
    value = np.int64(CARD_VALUES[upcard])
    if value == 1 and rules.ace_needs_gin:
        value = np.int64(0)
    return min(limit, value)


@kernel
def points_double(rules, upcard: int) -> bool:
    """Return whether all points of the hand that begins with this upcard count double.

    >>> spade = 26
    >>> points_double(Rules(oklahoma=True, spades_double=True).record(), spade)
    True
    """
    return rules.spades_double and upcard // NUM_RANKS == SPADES


def _uncompiled(function: Any) -> Any:
    """Return the Python function of a kernel, also if NUMBA_DISABLE_JIT leaves kernels uncompiled."""
    return getattr(function, "py_func", function)


@dataclass(frozen=True)
class Rules:
    """Rules of one game. The defaults are those of the EAAI 2021 Gin Rummy challenge (the Java framework
    tneller/gin-rummy-eaai, on which all five papers build), except for the two caps, which it lacks.

    Smaller decks (for exact checks of algorithms) keep the card ids, actions and planes of the full deck;
    absent cards are never dealt and never legal.

    Sources of the other values: *Pagat* is https://www.pagat.com/rummy/ginrummy.html, *Bicycle* the rules of
    Bicycle Cards, *OpenSpiel* its game ``gin_rummy``, *jdh8* the Rust crate jdh8/gin-rummy.

    Raises TypeError for a value that is not of the field's type, ValueError for rules that cannot be played.

    Examples
    --------
    >>> Rules(knock_limit=5).knock_limit
    5
    >>> Rules.preset("straight") == Rules(knock_limit=0)
    True
    >>> Rules(oklahoma=True).limit_of_hand(6)  # the upcard is 7C
    7
    """

    ranks: int = NUM_RANKS
    """Ranks in the deck, counted from the ace (EAAI: 13)."""
    suits: int = NUM_SUITS
    """Suits in the deck, in the order CHSD (EAAI: 4)."""
    hand_size: int = 10
    """Cards dealt to each player (EAAI: 10)."""
    knock_limit: int = 10
    """Most deadwood with which a player may knock (EAAI: 10). With 0 only gin ends a hand: straight gin."""
    gin_bonus: int = 25
    """Points for gin, besides the defender's deadwood (EAAI: 25; Bicycle: 20)."""
    undercut_bonus: int = 25
    """Points for an undercut, besides the difference (EAAI: 25; Bicycle: 10; jdh8's Palace: 20)."""
    target_score: int = 100
    """The game ends when a player reaches this many points (EAAI: 100; Pagat for Oklahoma: 150)."""
    stock_floor: int = 2
    """A turn starts only while the stock holds more cards than this (EAAI, Pagat: 2)."""
    opening_offer: bool = True
    """The upcard is offered to the non-dealer, then to the dealer, before the first turn (EAAI: yes).
    Without it the non-dealer starts with an ordinary turn."""
    max_turns: int = 100
    """A hand is void after this many turns of both players together, so that no two policies play forever
    (ours; between Simple players the longest hand in 200,000 had 35 turns)."""
    max_hands: int = 1000
    """A game ends undecided after this many hands, for the same reason (ours; ten hands are usual)."""
    oklahoma: bool = False
    """The value of the first upcard limits knocking in its hand (Pagat, Bicycle: Oklahoma gin). The limit is
    the smaller of this value and `knock_limit`, as in jdh8; in OpenSpiel the value replaces it."""
    ace_needs_gin: bool = True
    """With `oklahoma`, an ace as upcard demands gin (Bicycle, OpenSpiel). Otherwise it allows 1 (Pagat)."""
    spades_double: bool = False
    """With `oklahoma`, all points of a hand that begins with a spade as upcard count double, the bonuses for
    gin and undercut included (Pagat, Bicycle), boxes not."""
    big_gin_bonus: int = 0
    """Points for gin if all eleven cards are in melds, instead of `gin_bonus` (jdh8: 31). It takes no action
    of its own: a knock with gin counts as big gin if the discard fits into the melds too. 0: not played."""
    undercut_on_tie: bool = True
    """A defender with as much deadwood as the knocker undercuts (EAAI, Pagat). Otherwise the knocker wins the
    hand, with 0 points (jdh8; OpenSpiel pays nobody)."""
    next_dealer: NextDealer = "alternate"
    """Dealer after a scored hand: the other player (EAAI), the winner (jdh8) or the loser (Pagat)."""
    void_dealer: VoidDealer = "same"
    """Dealer after a void hand: the same player (EAAI, Pagat) or the other one."""
    box_bonus: int = 0
    """Points for each hand won: a box, or line (Bicycle: 20; jdh8's Palace: 10)."""
    immediate_boxes: bool = False
    """Boxes count at the end of their hand, towards `target_score` (jdh8's Palace). Otherwise they count at
    the end of the game."""
    game_bonus: int = 0
    """Points for the winner of the game (Bicycle, Pagat: 100)."""
    shutout_bonus: int = 0
    """Further points for the winner of the game if the loser has no points (Bicycle: 100)."""
    shutout_doubles: bool = False
    """The winner's total, boxes and game bonus included, doubles if the loser has no points (jdh8)."""

    def __post_init__(self) -> None:
        for field in fields(self):
            object.__setattr__(self, field.name, self._checked(field, getattr(self, field.name)))
        self._check_together()

    @staticmethod
    def _checked(field: Field[Any], value: Any) -> bool | int | str:
        """Return the value of one field, converted as annotated. Raises TypeError or ValueError."""
        name = f"Rules.{field.name}"
        if field.type == "bool":
            return check_switch(name, value)
        if field.name in CHOICES:
            return check_choice(name, value, CHOICES[field.name])
        return check_integer(name, value, *BOUNDS[field.name])

    def _check_together(self) -> None:
        """Raise ValueError for rules that do not fit together."""
        if self.initial_stock <= self.stock_floor:
            raise ValueError(
                f"a deck of {self.deck_size} cards is too small: two hands of {self.hand_size}, the upcard "
                f"and more than {self.stock_floor} (stock_floor) stock cards are needed"
            )
        if self.oklahoma and self.knock_limit > MAX_CARD_VALUE:
            raise ValueError(
                f"Rules.knock_limit must be at most {MAX_CARD_VALUE} with oklahoma, not {self.knock_limit}: "
                "no card is worth more"
            )
        if self.spades_double and not self.oklahoma:
            raise ValueError("Rules.spades_double needs oklahoma=True")
        if self.big_gin_bonus and not self.gin_bonus:
            raise ValueError("Rules.big_gin_bonus needs a gin_bonus above 0")
        if 0 < self.big_gin_bonus < self.gin_bonus:
            raise ValueError(
                f"Rules.big_gin_bonus must be 0 or at least the gin_bonus of {self.gin_bonus}, "
                f"not {self.big_gin_bonus}"
            )
        if self.immediate_boxes and not self.box_bonus:
            raise ValueError("Rules.immediate_boxes needs a box_bonus")
        if self.shutout_doubles and self.shutout_bonus:
            raise ValueError("Rules.shutout_doubles must be False with a shutout_bonus, not True")

    @classmethod
    def preset(cls, name: str) -> Rules:
        """Return the rules with this name. Raises ValueError, with the choices, for an unknown name.

        Examples
        --------
        >>> Rules.preset("bicycle").gin_bonus
        20
        """
        return PRESETS[check_choice("rules", name, PRESETS)]

    @classmethod
    def presets(cls) -> dict[str, Rules]:
        """Return the named rules, name -> `Rules`; docs/rules.md shows them side by side.

        Examples
        --------
        >>> list(Rules.presets())
        ['eaai', 'bicycle', 'oklahoma', 'straight', 'palace', 'openspiel', 'gin_rummy_v4']
        """
        return dict(PRESETS)

    @classmethod
    def parse(cls, text: str) -> Rules:
        """Return the rules of a text: a preset, single rules, or both, separated by commas.

        Raises ValueError or TypeError for an unknown preset or rule, or a value that does not fit.

        Examples
        --------
        >>> Rules.parse("knock_limit=7,oklahoma=true") == Rules(knock_limit=7, oklahoma=True)
        True
        >>> Rules.parse("bicycle,target_score=200").target_score
        200
        """
        first, *others = text.split(",")
        rules = cls()
        if "=" in first:
            others = [first, *others]
        else:
            rules = cls.preset(first.strip())
        types = {field.name: field.type for field in fields(cls)}
        changes: dict[str, Any] = {}
        for word in others:
            name, equals, value = (part.strip() for part in word.partition("="))
            if not equals or name not in types:
                raise ValueError(unknown("rule", name, types))
            if name in changes:
                raise ValueError(f"the rule {name!r} is given twice")
            if types[name] == "bool":
                if value.lower() not in ("true", "false"):
                    raise ValueError(f"Rules.{name} must be true or false, not {value!r}")
                changes[name] = value.lower() == "true"
            elif name in CHOICES:
                changes[name] = value
            elif re.fullmatch(r"-?[0-9]+", value):  # int() also takes 1_50 and digits of other scripts
                changes[name] = int(value)
            else:
                raise ValueError(f"Rules.{name} must be an integer, not {value!r}")
        return replace(rules, **changes)

    def limit_of_hand(self, upcard: int) -> int:
        """Return the most deadwood for a knock in a hand that begins with this upcard (a card id).

        >>> Rules(oklahoma=True).limit_of_hand(4)
        5
        """
        return int(_uncompiled(limit_of_hand)(self, upcard))

    def dealer_after(self, dealer: int, winner: int | None) -> int:
        """Return who deals after a hand that `dealer` dealt and `winner` won; None: void.

        >>> Rules().dealer_after(0, winner=0), Rules().dealer_after(0, winner=None)
        (1, 0)
        """
        if winner is None:
            return dealer if self.void_dealer == "same" else 1 - dealer
        return {"alternate": 1 - dealer, "winner": winner, "loser": 1 - winner}[self.next_dealer]

    @property
    def text(self) -> str:
        """The rules as `parse` reads them: a preset's name, or the rules that differ from the default.

        Examples
        --------
        >>> Rules(knock_limit=7, oklahoma=True).text
        'knock_limit=7,oklahoma=true'
        """
        for name, rules in PRESETS.items():
            if rules == self:
                return name
        values = {field.name: (getattr(self, field.name), field.default) for field in fields(self)}
        return ",".join(
            f"{name}={str(value).lower()}" for name, (value, default) in values.items() if value != default
        )

    @property
    def deck_size(self) -> int:
        """Number of cards in the deck."""
        return _uncompiled(cards_in_deck)(self)  # without compiling anything

    @property
    def initial_stock(self) -> int:
        """Cards in the stock after the deal."""
        return _uncompiled(stock_after_deal)(self)

    @property
    def deck_mask(self) -> int:
        """Mask of the cards in the deck."""
        return int(deck_cards(self.ranks, self.suits))

    def record(self) -> np.void:
        """The rules as one record of `RULES`, as in every game's public part."""
        records = np.zeros(1, RULES)  # zeros between the fields too, so that equal rules are equal bytes
        values = ((field.name, getattr(self, field.name)) for field in fields(self))
        records[0] = tuple(CHOICES[name].index(value) if name in CHOICES else value for name, value in values)
        return records[0]

    @classmethod
    def from_record(cls, record: np.void) -> Rules:
        """Return the rules of a record: the inverse of `record`. Raises ValueError for a damaged one.

        >>> Rules.from_record(Rules(knock_limit=5).record()) == Rules(knock_limit=5)
        True
        """
        return _rules_of(record.tobytes())


@lru_cache(maxsize=64)
def _rules_of(record: bytes) -> Rules:
    """Return the rules of the bytes of a record."""
    values = dict(zip(RULES.names or (), np.frombuffer(record, RULES)[0].item(), strict=True))
    for name, choices in CHOICES.items():
        if values[name] >= len(choices):
            raise ValueError(f"Rules.{name} must have a code below {len(choices)}, not {values[name]}")
        values[name] = choices[values[name]]
    return Rules(**values)


CHOICES: dict[str, tuple[str, ...]] = {
    name: get_args(hint) for name, hint in get_type_hints(Rules).items() if get_args(hint)
}
"""The rules whose values are texts, name -> possible values; records hold the index of the value."""


def _dtype(field: Field[Any]) -> type[np.generic]:
    """Return the smallest dtype for the values of a field."""
    if field.type == "bool":
        return np.bool_
    if field.name in CHOICES:
        return np.uint8
    return np.int8 if BOUNDS[field.name][1] < 128 else np.int16


RULES = np.dtype([(field.name, _dtype(field)) for field in fields(Rules)], align=True)
"""Structured dtype with one field per field of `Rules`."""

_BICYCLE = Rules(
    gin_bonus=20, undercut_bonus=10, next_dealer="winner", box_bonus=20, game_bonus=100, shutout_bonus=100
)
PRESETS = {
    "eaai": Rules(),
    "bicycle": _BICYCLE,
    "oklahoma": replace(_BICYCLE, oklahoma=True, spades_double=True, target_score=150),
    "straight": Rules(knock_limit=0),
    "palace": Rules(undercut_bonus=20, next_dealer="winner", box_bonus=10, immediate_boxes=True),
    "openspiel": Rules(undercut_on_tie=False),
    "gin_rummy_v4": Rules(stock_floor=0, max_turns=MAX_TURNS),
}
"""Rules by name. ``eaai`` is the default. ``bicycle`` and ``palace`` have the values of jdh8's presets;
``oklahoma`` is Bicycle's Oklahoma gin to Pagat's 150 points. ``openspiel`` and ``gin_rummy_v4`` are as
near as rules can be to those environments: docs/rules.md lists what remains different."""


RulesLike: TypeAlias = Rules | str | Mapping[str, Any] | None
"""Rules, their text for `Rules.parse`, a mapping of rules, or None for the defaults."""


def check_rules(rules: RulesLike) -> Rules:
    """Return the rules that a caller means. Raises TypeError or ValueError for anything else.

    >>> check_rules("oklahoma") == check_rules(Rules.preset("oklahoma"))
    True
    >>> check_rules({"knock_limit": 7}) == Rules(knock_limit=7) and check_rules(None) == Rules()
    True
    """
    if rules is None:
        return PRESETS["eaai"]
    if isinstance(rules, str):
        return Rules.parse(rules)
    if isinstance(rules, Mapping):
        known = [field.name for field in fields(Rules)]
        if strange := [name for name in rules if name not in known]:
            raise ValueError(unknown("rule", strange[0], known))
        return Rules(**rules)
    if not isinstance(rules, Rules):
        raise TypeError(f"rules must be a gin_env.Rules or a text such as 'oklahoma', not {rules!r}")
    return rules
