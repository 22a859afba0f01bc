"""Checks of the environments against the reference rules: make every call on both and compare the results.

A `Face` holds one environment and its reference state. Its methods are the valid and invalid calls that users
make. At the first difference a call raises DifferenceError, with a note that holds the calls so far
as a test to paste into test_replays.py. test_faces.py chooses the calls at random.

The AEC environments are in aec_checks.py, those with a learner's seat in learner_checks.py.
"""

from __future__ import annotations

import pickle
from collections import Counter
from collections.abc import Callable
from dataclasses import fields
from textwrap import wrap
from typing import Any

import numpy as np
from brute_force import Meld
from gymnasium import spaces
from hands_in_words import ids
from reference_rules import KNOCK, NUM_ACTIONS, OVER, Arrangement, Game, cards_in_deck

from gin_env import melds
from gin_env.game.cards import card_text, cards_of, mask_of
from gin_env.game.rules import Rules
from gin_env.game.state import OUTCOME_NAMES, PHASE_NAMES
from gin_env.game.streams import DEALER, DEALS, DECK, below, episode_key, mix, shuffle_cards, stream
from gin_env.observations.observation import LAYOUT, OBSERVATION_SIZE
from gin_env.observations.views import PlayerView
from gin_env.ui.text import card_symbol

PLAYERS = ["player_0", "player_1"]


class DifferenceError(AssertionError):
    """An environment differs from the reference."""


def same(what: str, found: Any, expected: Any) -> None:
    if found != expected:
        raise DifferenceError(f"{what}: found {found!r}, the reference says {expected!r}")


def close(found: np.ndarray, expected: np.ndarray) -> bool:
    """Return whether arrays are equal up to the precision of float32; False for NaN."""
    return bool((np.abs(np.subtract(found, expected, dtype=np.float64)) < 1e-6).all())


def same_array(what: str, found: Any, expected: Any, dtype: type) -> None:
    """Compare shape, type and values, the latter up to the precision of float32."""
    expected = np.asarray(expected)
    same(f"type of {what}", (type(found), found.dtype), (np.ndarray, np.dtype(dtype)))
    same(f"shape of {what}", found.shape, expected.shape)
    if not close(found, expected):
        raise DifferenceError(f"{what}: found {found.tolist()}, the reference says {expected.tolist()}")


# --- What a seed deals, and what the rules leave open ---------------------------------------------------


def deal_key(seed: int, episode: int) -> np.uint64:
    return np.uint64(episode_key(np.uint64(seed), np.uint64(episode), DEALS))


def deck_of_seed(rules: Rules, seed: int, episode: int, hand: int) -> list[int]:
    """Return the deck of one hand of one episode (docs/rules.md, "Randomness")."""
    deck = np.array(cards_in_deck(rules), np.int8)
    shuffle_cards(deck, len(deck), np.uint64(stream(deal_key(seed, episode), np.uint64(hand), DECK)))
    return deck.tolist()


def dealer_of_seed(seed: int, episode: int) -> int:
    key = np.uint64(stream(deal_key(seed, episode), np.uint64(0), DEALER))
    return int(below(np.uint64(mix(key, np.uint64(0))), 2))


def as_the_package_lays(hand: Meld, arrangements: list[Arrangement]) -> Arrangement:
    """Return the arrangement that the package documents among equal ones."""
    if len(arrangements) == 1:
        return arrangements[0]
    laid = {frozenset(ids(" ".join(meld))) for meld in melds.best_melds(mask_of(hand))}
    matching = [one for one in arrangements if set(one) == laid]
    if not matching:
        raise DifferenceError(f"the package lays {laid} of {sorted(hand)}: it can be laid better")
    return matching[0]


# --- Comparing ------------------------------------------------------------------------------------------


def mask_of_actions(legal: list[int]) -> np.ndarray:
    mask = np.zeros(NUM_ACTIONS, np.int8)
    mask[legal] = 1
    return mask


def vector_of(parts: dict[str, Any]) -> np.ndarray:
    """Return the parts of a reference observation as one vector."""
    vector = np.zeros(OBSERVATION_SIZE)
    same("parts of the observation", list(LAYOUT), list(parts))
    for name, value in parts.items():
        where = LAYOUT[name].slice
        if isinstance(value, dict):
            vector[[where.start + card for card in value]] = list(value.values())
        else:
            vector[where] = value
    return vector


def compare_observation(vector: np.ndarray, game: Game, player: int) -> None:
    expected = vector_of(game.observation(player))
    if vector.shape != expected.shape or not close(vector, expected):
        for name, part in LAYOUT.items():
            same_array(
                f"{name} seen by player {player}", vector[part.slice], expected[part.slice], np.float32
            )
    same("type of the observation", vector.dtype, np.dtype(np.float32))


def compare_table(record: np.void, game: Game) -> None:
    """Compare the record of a game (`gin_env.game.state`) field by field."""
    public, private = record["public"], record["private"]

    def as_lists(masks: Any) -> list[list[int]]:
        return [cards_of(int(mask)) for mask in masks]

    found = {
        "hands": as_lists(private["hand"]),
        "stock": record["hidden"]["deck"][len(game.deck) - public["stock_left"] : len(game.deck)].tolist(),
        "pile": cards_of(int(public["pile"])),
        "upcard": int(public["upcard"]),
        "taken": int(public["taken"]),
        "shown": as_lists(public["shown"]),
        "declined": as_lists(public["declined"]),
        "discarded": as_lists(public["discarded"]),
        "turns": int(public["turn"]),
        "hand number": int(public["hand_number"]),
        "dealer": int(public["dealer"]),
        "to move": int(public["to_move"]),
        "phase": PHASE_NAMES[public["phase"]],
        "scores": public["scores"].tolist(),
        "actions": public["history"][: public["history_length"]].tolist(),
    }
    expected = {
        "hands": [sorted(hand) for hand in game.hands],
        "stock": game.stock,
        "pile": sorted(game.pile),
        "upcard": -1 if game.upcard is None else game.upcard,
        "taken": -1 if game.taken is None else game.taken,
        "shown": [sorted(cards) for cards in game.shown],
        "declined": [sorted(cards) for cards in game.declined],
        "discarded": [sorted(c for c, (who, _) in game.discards.items() if who == p) for p in (0, 1)],
        "turns": game.turns,
        "hand number": game.hand_number,
        "dealer": game.dealer,
        "to move": game.to_move,
        "phase": game.phase,
        "scores": game.scores,
        "actions": [act for _, act, _ in game.history],
    }
    if game.phase == OVER and game.last_result is not None:
        result = game.last_result
        found["result"] = [OUTCOME_NAMES[public["outcome"]], int(public["winner"]), int(public["points"])]
        expected["result"] = [result.outcome, -1 if result.winner is None else result.winner, result.points]
        if result.deadwood:
            found["deadwood"] = (int(public["knocker"]), *public["deadwood"].tolist())
            expected["deadwood"] = (result.knocker, *result.deadwood)
    for name in expected:
        same(name, found[name], expected[name])


def compare_text(text: str, game: Game) -> None:
    """Compare the text rendering: scores, both hands, the player to move, the stock, the top of the pile."""
    head, *hands, pile, _, _ = text.splitlines()
    scores = f"score {game.scores[0]} : {game.scores[1]}, game at {game.rules.target_score}"
    same("title", head.split("; ")[1], scores)
    for player, line in zip((1, 0), hands, strict=True):
        title, cards = line.split(":")
        same("player to move", line[0] == ">", game.phase != OVER and game.to_move == player)
        same(
            "player and dealer",
            title[2:].split(" knocked")[0].split(" defends")[0],
            PLAYERS[player] + " (dealer)" * (game.dealer == player),
        )
        shown = sorted(word for word in cards.split() if word[-1] in "♣♥♠♦")
        same("cards shown", shown, sorted(card_symbol(card) for card in game.hands[player]))
    same("stock shown", pile.split(";")[0], f"  stock: {len(game.stock)} cards")
    same("top of the pile shown", pile.split()[-1], card_symbol(game.pile[-1]) if game.pile else "empty")


def compare_view(view: PlayerView, game: Game, player: int) -> None:
    """Compare the view that a bot receives."""
    same("own hand in the view", cards_of(int(view.hands[0])), sorted(game.hands[player]))
    same("history in the view", [tuple(event) for event in view.history()], game.history)
    same("stock draws in the view", view.stock_draws(), game.stock_draws[player])
    compare_observation(view.observations()[0], game, player)
    legal = game.legal() if game.to_move == player else []
    same_array("mask of the view", view.masks()[0], mask_of_actions(legal), np.int8)


# --- Calls, and the calls as a test ---------------------------------------------------------------------


def source(value: Any) -> str:
    """Return a value as Python source."""
    if isinstance(value, Rules):
        changed = [f for f in fields(Rules) if getattr(value, f.name) != f.default]
        return f"Rules({', '.join(f'{f.name}={getattr(value, f.name)}' for f in changed)})"
    if isinstance(value, np.ndarray):
        return f"np.array({value.tolist()!r}, np.{value.dtype.type.__name__})"
    if isinstance(value, dict):
        return "{" + ", ".join(f"{source(key)}: {source(one)}" for key, one in value.items()) + "}"
    if isinstance(value, tuple):
        return f"({', '.join(map(source, value))}{',' * (len(value) == 1)})"
    if isinstance(value, list):
        return f"[{', '.join(map(source, value))}]"
    if isinstance(value, float) and value != value:
        return "np.nan"
    if isinstance(value, str):
        parts = wrap(value, 64, drop_whitespace=False, break_long_words=False) or [""]
        return "\n            ".join(f'"{part}"' for part in parts)
    return repr(value)


def text_of(number: int) -> str | int:
    """Return an action as `hands_in_words.action` reads it; other numbers stay numbers."""
    if 0 <= number < 104:
        return ("knock " if number >= KNOCK else "") + card_text(number % 52)
    return {104: "draw", 105: "take", 106: "pass"}.get(number, number)


def cards_text(deck: list[int]) -> str:
    return " ".join(map(card_text, deck))


Call = tuple[Any, ...]
"""The name of a method of a `Face`, and its arguments."""


class Face:
    """One environment and its reference; `call` makes a call by the name of a method."""

    kind: str
    """By which name `replay` makes it."""
    env: Any
    refusals: tuple[type[Exception], ...] = (TypeError, ValueError)
    """What bad calls raise here."""

    def __init__(self, **options: Any) -> None:
        self.options = options
        self.rules: Rules = options.get("rules", Rules())
        self.whole_game = options.get("episode") == "game"
        self.pays_wins = options.get("reward") == "win"
        self.calls: list[tuple[Call, list[str]]] = []
        """Every call, and the decks that it dealt."""
        self.outcomes: Counter[str] = Counter()
        """How often hands ended in each way."""

    def call(self, *call: Any) -> None:
        self.calls.append((call, []))
        try:
            getattr(self, call[0])(*call[1:])
        except Exception as error:
            error.add_note(self.as_test())
            raise
        if call[0] == "reset":
            self.calls[-1] = call, self.dealt()

    def dealt(self) -> list[str]:
        """Describe the dealer and deck of each game, for the reader of a test."""
        return [f"player_{game.dealer} deals {cards_text(game.deck)}" for game in self.games()]

    def games(self) -> list[Game]:
        """Return the games that the environment must be playing."""
        raise NotImplementedError

    def as_test(self) -> str:
        """Return the calls so far as a test."""
        lines = [source(self.kind), source(self.options)]
        for call, dealt in self.calls:
            lines += [
                line for deal in dealt for line in wrap(deal, 96, initial_indent="# ", subsequent_indent="# ")
            ]
            lines.append(source(call))
        written = "".join(f"        {line}{'' if line.startswith('#') else ','}\n" for line in lines)
        return f"def test_a_failure_that_the_state_machine_found():\n    replay(\n{written}    )"

    # --- Helpers of the calls ---------------------------------------------------------------------------

    def remembered(self) -> bytes:
        """Return everything in the environment that a refused call must leave unchanged."""
        raise NotImplementedError

    def refused(self, function: Callable[..., Any], *args: Any, **kwargs: Any) -> None:
        """Check that the call raises one of `refusals` and changes nothing."""
        before = self.remembered()
        try:
            function(*args, **kwargs)
        except self.refusals:
            same("what a refused call changed", self.remembered() == before, True)
        else:
            raise DifferenceError(f"not refused: {function.__qualname__}{args}{kwargs}")

    def bad_reset(self, arguments: dict[str, Any]) -> None:
        """Reset with invalid arguments."""
        self.refused(self.env.reset, **arguments)


def memory_of(*objects: Any, scratch: tuple[str, ...] = ()) -> bytes:
    """Return the attributes of objects as bytes, without spaces and temporary buffers."""
    return pickle.dumps(
        [
            {name: value for name, value in vars(one).items() if _is_memory(name, value, scratch)}
            for one in objects
        ]
    )


def _is_memory(name: str, value: Any, scratch: tuple[str, ...]) -> bool:
    return name not in scratch and not isinstance(value, spaces.Space) and not name.endswith("_spaces")


def deal_options(arguments: dict[str, Any]) -> tuple[dict[str, Any], list[list[int]], int | None]:
    """(options for reset, decks, dealer) of ``{"deck": text or list of texts, "dealer": 0}``."""
    options: dict[str, Any] = {}
    decks: list[list[int]] = []
    deck, dealer = arguments.get("deck"), arguments.get("dealer")
    if deck is not None:
        decks = [ids(deck)] if isinstance(deck, str) else [ids(one) for one in deck]
        options["deck"] = decks[0] if isinstance(deck, str) else decks
    if dealer is not None:
        options["dealer"] = dealer
    return options, decks, dealer
