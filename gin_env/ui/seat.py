"""Data structures for what a player sees of a hand, computed only from a `PlayerView`.

So a screen drawn from them cannot show a hidden card.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import NamedTuple

from gin_env.game.actions import DRAW_STOCK, DRAW_UPCARD, KNOCK, PASS
from gin_env.game.cards import NUM_CARDS, NUM_RANKS, RANKS, SUITS, cards_of
from gin_env.game.melds import deadwood
from gin_env.game.state import BIG_GIN, DISCARD, GIN, NO_CARD, OFFER, OVER, STOCK_ONLY
from gin_env.game.words import limit_if_varying
from gin_env.observations.views import PlayerView
from gin_env.ui.discards import best_knock, discard_options
from gin_env.ui.text import Group, card_symbol, discard_pile, hand_groups

YOU = "You"


class Turn(NamedTuple):
    """One turn of the hand, or a pass, in words."""

    by_viewer: bool
    took: str
    """``"stock"``, ``"stock 5♥"`` (their own), ``"9♦"`` (the upcard) or ``"pass"``."""
    discarded: str
    """``"K♠"``, ``"K♠ knock"``, ``"K♠ gin"``, or empty before the discard."""


@dataclass
class Seat:
    """A player's view of the table."""

    hand: list[Group]
    """The player's cards: the melds that leave the least deadwood, then the deadwood."""
    deadwood: int
    """Deadwood of the player's cards; before a discard, what the best discard leaves."""
    known: list[int]
    """Cards that the opponent took from the pile and still holds."""
    closed: int
    """Number of the opponent's other cards."""
    upcard: int
    """The upcard; NO_CARD if there is none."""
    taken: int
    """The card just drawn from pile or stock; NO_CARD if there is none."""
    pile: list[int]
    """The discard pile, the top card last."""
    stock: int
    own_score: int
    opponent_score: int
    target: int
    hand_number: int
    limit: int | None
    """Maximum deadwood for a knock, if it differs from hand to hand; otherwise None."""
    dealt_by_me: bool
    my_turn: bool
    hand_size: int
    """Number of cards in a hand between turns."""
    prompt: str
    turns: list[Turn] = field(default_factory=list)


def describe_seat(view: PlayerView, opponent: str, letters: bool = False) -> Seat:
    """Return what the player of a single view sees; `opponent` is the opponent's name.

    With `letters`, suits are written C, H, S, D instead of as symbols.
    """
    public, player = view.array["public"][0], int(view.array["player"][0])
    hand, known = int(view.hands[0]), int(public["shown"][1 - player])
    phase, my_turn = int(public["phase"]), bool(view.masks().any())
    their_turn = phase != OVER and not my_turn
    draws = view.stock_draws()
    taken = int(public["taken"])
    if my_turn and phase == DISCARD and taken == NO_CARD:
        taken = draws[-1]
    size = int(public["rules"]["hand_size"]) + (their_turn and phase == DISCARD)
    return Seat(
        hand=hand_groups(hand),
        deadwood=_deadwood_after(view, hand),
        known=cards_of(known),
        closed=size - known.bit_count(),
        upcard=int(public["upcard"]),
        taken=taken if my_turn else NO_CARD,
        pile=discard_pile(int(public["first_upcard"]), view.history()),
        stock=int(public["stock_left"]),
        own_score=int(public["scores"][player]),
        opponent_score=int(public["scores"][1 - player]),
        target=int(public["rules"]["target_score"]),
        hand_number=int(public["hand_number"]) + 1,
        limit=limit_if_varying(public),
        dealt_by_me=int(public["dealer"]) == player,
        my_turn=my_turn,
        hand_size=int(public["rules"]["hand_size"]),
        prompt=_prompt(view, phase, int(public["upcard"]), opponent, letters),
        turns=_turns(view, player, draws, letters),
    )


def _deadwood_after(view: PlayerView, hand: int) -> int:
    """Return the deadwood of a hand, or what its best discard leaves."""
    possible = [option for option in discard_options(view).values() if option.discard is not None]
    return min((option.deadwood for option in possible), default=deadwood(hand))


def card_name(card: int, letters: bool = False) -> str:
    """Return a card as text: ``10♥``, or ``10H`` with `letters`."""
    symbol = card_symbol(card)
    return symbol[:-1] + SUITS[card // NUM_RANKS] if letters else symbol


def card_names(cards: list[int], letters: bool = False) -> str:
    """Return several cards as text, separated by blanks."""
    return " ".join(card_name(card, letters) for card in cards)


def action_name(action: int, upcard: int, letters: bool = False, hand: int = 0) -> str:
    """Return an action in words: ``take 9♦``, ``draw from the stock``, ``knock with K♠``.

    With the player's `hand`, a mask, a discard that leaves no deadwood is named ``go gin with K♠`` or
    ``discard K♠ without going gin``.
    """
    if action == PASS:
        return "pass"
    if action == DRAW_STOCK:
        return "draw from the stock"
    if action == DRAW_UPCARD:
        return f"take {card_name(upcard, letters)}"
    card = action % NUM_CARDS
    name, gin = card_name(card, letters), bool(hand) and deadwood(hand & ~(1 << card)) == 0
    if action >= KNOCK:
        return f"{'go gin' if gin else 'knock'} with {name}"
    return f"discard {name}{' without going gin' * gin}"


def last_turn(seat: Seat, opponent: str) -> str:
    """Return the opponent's last turn as a sentence, or an empty text if the player has acted since."""
    last = seat.turns[-1] if seat.turns else None
    if last is None or last.by_viewer:
        return ""
    did = {"pass": "passed", "stock": "drew from the stock"}.get(last.took, f"took {last.took}")
    if not last.discarded:
        return f"{opponent} {did}."
    discarded = last.discarded.replace(" knock", " to knock").replace(" gin", " to go gin")
    return f"{opponent} {did} and discarded {discarded}."


def _prompt(view: PlayerView, phase: int, upcard: int, opponent: str, letters: bool) -> str:
    if phase == OVER:
        return "The hand is over."
    if not view.masks().any():
        choice = {DISCARD: "discard", OFFER: "take the upcard or pass"}.get(phase, "draw")
        return f"{opponent} is to {choice} ..."
    if phase == DISCARD:
        options = discard_options(view)
        best = best_knock(options)
        if best is None:
            return "Choose a card to discard."
        if options[best].gin:
            return f"Choose a card to discard, or go {options[best].gin} with {card_name(best, letters)}."
        return "Choose a card to discard or to knock with."
    if phase == STOCK_ONLY:
        return "Both have passed: draw from the stock."
    card = card_name(upcard, letters)
    if phase == OFFER:
        return f"Take the upcard {card}, or pass."
    return f"Draw from the stock or take {card}."


def _turns(view: PlayerView, player: int, draws: list[int], letters: bool) -> list[Turn]:
    turns: list[Turn] = []
    own_draws = iter(draws)
    gin = int(view.array["public"]["outcome"][0]) in (GIN, BIG_GIN)
    for who, action, card in view.history():
        own = who == player
        if action == PASS:
            turns.append(Turn(own, "pass", ""))
        elif action == DRAW_STOCK:
            turns.append(Turn(own, f"stock {card_name(next(own_draws), letters)}" if own else "stock", ""))
        elif action == DRAW_UPCARD:
            turns.append(Turn(own, card_name(card, letters), ""))
        else:
            knock = "" if action < KNOCK else " gin" if gin else " knock"
            turns[-1] = turns[-1]._replace(discarded=card_name(card, letters) + knock)
    return turns


def both_turns(first: Seat, second: Seat) -> list[Turn]:
    """Return the turns of a hand as `first` sees them, with the cards that both players drew."""
    return [
        own if own.by_viewer else other._replace(by_viewer=False)
        for own, other in zip(first.turns, second.turns, strict=True)
    ]


# --- Belief -------------------------------------------------------------------------------------------


class HeatMap(NamedTuple):
    """A probability for each card, laid out as suits by ranks."""

    ranks: list[str]
    rows: list[tuple[str, list[int]]]
    """Suit, and per cent for each rank; cards in the viewer's own hand and in the pile are 0."""


def per_cent(chance: float) -> int:
    """Return a probability in per cent, 0 only if it is 0 and 100 only if it is 1."""
    return round(100 * chance) if chance in (0, 1) else min(max(round(100 * chance), 1), 99)


def heat_map(chances: list[float], letters: bool = False) -> HeatMap:
    """Return probabilities (52) as a heat map of 4 rows of 13, in per cent."""
    rows = []
    for suit in range(len(SUITS)):
        symbol = card_name(suit * NUM_RANKS, letters)[-1]
        first = suit * NUM_RANKS
        rows.append((symbol, [per_cent(chance) for chance in chances[first : first + NUM_RANKS]]))
    return HeatMap(["10" if rank == "T" else rank for rank in RANKS], rows)
