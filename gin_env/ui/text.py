"""Descriptions of a game, and the game as plain text.

`describe` and `text` are pure functions of a game's state; `gin_env.ui.picture` draws the result of
`describe`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from gin_env.game.actions import DRAW_STOCK, DRAW_UPCARD, KNOCK, PASS
from gin_env.game.cards import NUM_RANKS, RANKS, SUITS, cards_of, total_value
from gin_env.game.melds import (
    best_set_cards,
    defence_set_cards,
    laid_off_cards,
    run_cards,
    split_runs,
    split_sets,
)
from gin_env.game.state import BIG_GIN, DISCARD, GIN, KNOCK_WON, OFFER, OVER, STOCK_ONLY, VOID
from gin_env.game.words import OUTCOMES_IN_WORDS, limit_if_varying
from gin_env.observations.views import VIEW, Event, PlayerView

SUIT_SYMBOLS = dict(zip(SUITS, "♣♥♠♦", strict=True))
PLAYERS = ("player_0", "player_1")
"""Default names of the players: PettingZoo's names of the agents."""


def card_symbol(card: int) -> str:
    """Return a card with its suit symbol: ``10♥``, ``A♠``."""
    rank = RANKS[card % NUM_RANKS]
    return ("10" if rank == "T" else rank) + SUIT_SYMBOLS[SUITS[card // NUM_RANKS]]


# --- What there is to show ----------------------------------------------------------------------------


class Group(NamedTuple):
    """Cards shown side by side: one meld, the cards laid off, or the deadwood."""

    cards: list[int]
    caption: str


@dataclass
class Hand:
    """One player's cards as shown; a closed hand has no groups."""

    title: str
    size: int
    groups: list[Group]
    to_move: bool


@dataclass
class Table:
    """The contents of a text or picture of the table, as words and cards."""

    hands: list[Hand]
    names: Sequence[str]
    title: str
    scores: list[int]
    target: int
    stock: int
    pile: list[int]
    """The discard pile in order, the top card last."""
    taken: int
    """The card just taken from the pile, or NO_CARD."""
    now: str
    last: str


def describe(
    game: np.void, viewer: int | None = None, last_hand: np.void | None = None, names: Sequence[str] = PLAYERS
) -> Table:
    """Return the part of a game's state (`state.STATE`) that `viewer` can see; None sees both hands.

    `last_hand` (`HAND_RESULT`) is the result of the previous hand; `names` are the players' names.
    The stock is never visible; after a knock both hands are visible to everyone.
    """
    public = game["public"]
    view = np.zeros(1, VIEW)
    view["public"] = public
    events = PlayerView.of_array(view).history()
    turn, limit = int(public["turn"]) + (public["phase"] != OVER), limit_if_varying(public)
    knock = "" if limit is None else f", knock at {limit}"
    return Table(
        hands=[_describe_hand(game, player, viewer, names[player]) for player in range(2)],
        names=names,
        title=f"hand {int(public['hand_number']) + 1}, turn {turn}{knock}",
        scores=public["scores"].tolist(),
        target=int(public["rules"]["target_score"]),
        stock=int(public["stock_left"]),
        pile=discard_pile(int(public["first_upcard"]), events),
        taken=int(public["taken"]),
        now=_now(public, names),
        last=_last(game, events, viewer, last_hand, names),
    )


def _describe_hand(game: np.void, player: int, viewer: int | None, name: str) -> Hand:
    public = game["public"]
    mask = int(game["private"][player]["hand"])
    to_move = public["phase"] != OVER and public["to_move"] == player
    title = name + (" (dealer)" if public["dealer"] == player else "")
    knocker = int(public["knocker"])
    if knocker >= 0:
        title += " knocked" if knocker == player else " defends"
    if viewer not in (None, player) and knocker < 0:
        groups: list[Group] = []
    elif knocker == 1 - player and public["outcome"] not in (GIN, BIG_GIN):
        groups = defence_groups(mask, int(game["private"][knocker]["hand"]))
    else:
        groups = hand_groups(mask)
    return Hand(title, mask.bit_count(), groups, bool(to_move))


def hand_groups(mask: int) -> list[Group]:
    """Return the groups of a hand: the melds that leave the least deadwood, then the deadwood."""
    sets = int(best_set_cards(mask))
    return _groups(mask, sets, int(run_cards(mask & ~sets)))


def defence_groups(mask: int, knocker_mask: int) -> list[Group]:
    """Return the defender's groups: own melds, cards laid off on the knocker's melds, and deadwood."""
    knocker_sets = int(best_set_cards(knocker_mask))
    knocker_runs = int(run_cards(knocker_mask & ~knocker_sets))
    sets = int(defence_set_cards(knocker_runs, knocker_sets, mask))
    laid_off = int(laid_off_cards(knocker_runs, knocker_sets, mask & ~sets))
    return _groups(mask, sets, int(run_cards(mask & ~sets & ~laid_off)), laid_off)


def _groups(mask: int, sets: int, runs: int, laid_off: int = 0) -> list[Group]:
    """Return the groups of a hand, melds first, then the deadwood by rank."""
    groups = [Group(meld, "set") for meld in split_sets(sets)]
    groups += [Group(meld, "run") for meld in split_runs(runs)]
    if laid_off:
        groups.append(Group(cards_of(laid_off), "laid off"))
    return groups + deadwood_groups(mask & ~sets & ~runs & ~laid_off)


def deadwood_groups(mask: int) -> list[Group]:
    """Return the deadwood as a group of its own; no group without deadwood."""
    return [Group(by_rank(mask), f"deadwood {int(total_value(mask))}")] if mask else []


def by_rank(mask: int) -> list[int]:
    """Return the cards of a mask in the order of their ranks."""
    return sorted(cards_of(mask), key=lambda card: (card % NUM_RANKS, card))


def discard_pile(first_upcard: int, events: list[Event]) -> list[int]:
    """Return the discard pile in order, the top card last."""
    pile = [first_upcard]
    for event in events:
        if event.action == DRAW_UPCARD:
            pile.pop()
        elif event.action < DRAW_STOCK:
            pile.append(event.card)
    return pile


def _now(public: np.void, names: Sequence[str]) -> str:
    """Return the player to move and their choices, or the result of the hand."""
    phase = int(public["phase"])
    if phase == OVER:
        return _outcome(public, names)
    who = names[public["to_move"]]
    if phase == DISCARD:
        return f"{who} to discard"
    if phase == STOCK_ONLY:
        return f"{who} must draw from the stock: both have passed"
    upcard = card_symbol(int(public["upcard"]))
    if phase == OFFER:
        return f"{who} may take the upcard {upcard} or pass"
    return f"{who} to draw: the stock, or the upcard {upcard}"


def _outcome(public: np.void, names: Sequence[str]) -> str:
    outcome, knocker = int(public["outcome"]), int(public["knocker"])
    if outcome == VOID:
        return "The hand is void: nobody scores"
    own, other = int(public["deadwood"][knocker]), int(public["deadwood"][1 - knocker])
    points = _points(public["points"])
    if outcome in (GIN, BIG_GIN):
        gin = "gin" if outcome == GIN else "big gin"
        return f"{names[knocker]} has {gin} against {other}: {points}"
    if outcome == KNOCK_WON:
        return f"{names[knocker]} knocks with {own} against {other}: {points}"
    return f"{names[knocker]} knocks with {own}, {names[1 - knocker]} undercuts with {other}: {points}"


def _last(
    game: np.void, events: list[Event], viewer: int | None, last_hand: np.void | None, names: Sequence[str]
) -> str:
    """Return the last action in words; before the first action, the result of the previous hand."""
    if not events:
        return _last_hand(last_hand, names) if last_hand is not None else "The cards have been dealt"
    player, action, card = events[-1]
    who = names[player]
    if action == PASS:
        return f"{who} passed"
    if action == DRAW_UPCARD:
        return f"{who} took the upcard {card_symbol(card)}"
    if action == DRAW_STOCK:
        if viewer not in (None, player):
            return f"{who} drew from the stock"
        private = game["private"][player]
        return (
            f"{who} drew {card_symbol(private['stock_draws'][private['num_stock_draws'] - 1])} from the stock"
        )
    if action >= KNOCK:
        return f"{who} discarded {card_symbol(card)} and knocked"
    return f"{who} discarded {card_symbol(card)}"


def _last_hand(result: np.void, names: Sequence[str]) -> str:
    if result["outcome"] == VOID:
        return "The last hand was void"
    how = OUTCOMES_IN_WORDS[int(result["outcome"])]
    return f"{names[result['winner']]} won {_points(result['points'])} in the last hand {how}"


def _points(points: int) -> str:
    return "1 point" if points == 1 else f"{int(points)} points"


# --- Text ---------------------------------------------------------------------------------------------


def text(
    game: np.void, viewer: int | None = None, last_hand: np.void | None = None, names: Sequence[str] = PLAYERS
) -> str:
    """Return the table in seven lines of plain text; parameters as for `describe`."""
    table = describe(game, viewer, last_hand, names)
    scores = " : ".join(map(str, table.scores))
    lines = [f"Gin Rummy, {table.title}; score {scores}, game at {table.target}"]
    for hand in reversed(table.hands):
        groups = "  |  ".join(
            f"{' '.join(map(card_symbol, cards))}  {caption}" for cards, caption in hand.groups
        )
        lines.append(f"{'>' if hand.to_move else ' '} {hand.title}: {groups or f'{hand.size} cards'}")
    pile = " ".join(map(card_symbol, table.pile[-8:])) or "empty"
    lines.append(
        f"  stock: {table.stock} cards; discard pile, top last: {'... ' * (len(table.pile) > 8)}{pile}"
    )
    lines += [f"  last: {table.last}", f"  now:  {table.now}"]
    return "\n".join(lines)
