"""The opponent's public history, by turn and by card, as arrays for networks.

Everything is computed from the view alone, so an estimator without memory can read the whole hand.
"""

# mypy: disable-error-code="no-untyped-def,return-value"

from __future__ import annotations

import numpy as np

from gin_env.game.actions import DRAW_STOCK, DRAW_UPCARD, is_discard
from gin_env.game.cards import CARD_VALUES, FULL_DECK, NUM_CARDS, card_bit, count_cards, deck_cards
from gin_env.game.history import events, first_hand
from gin_env.game.state import DISCARD, OFFER
from gin_env.game.streams import mix
from gin_env.observations.knowledge import cards_missing, cards_unseen
from gin_env.observations.views import PlayerView
from gin_env.support.compilation import kernel

OPPONENT_TURN = np.dtype(
    [
        ("upcard", np.int8),  # the card that the opponent could take
        ("took", np.bool_),  # whether they did
        ("discard", np.int8),
        ("held", np.uint64),  # cards that they certainly hold after the turn
        ("out", np.uint64),  # cards that they certainly do not hold after the turn
    ],
    align=True,
)
"""One completed turn of the opponent, as seen by the player."""


def opponent_turns(view: PlayerView) -> tuple[np.ndarray, np.ndarray]:
    """Return the opponents' turns in this hand.

    Returns
    -------
    turns : `OPPONENT_TURN` records, shape (n, max_turns), in order.
    counts : int64 array, shape (n,): the number of turns of each view.
    """
    counts = np.empty(len(view), np.int64)
    most = view.array["public"]["turn"].max(initial=0) // 2 + 1
    turns = np.zeros((len(view), most), OPPONENT_TURN)
    _write_opponent_turns(view.array, turns, counts)
    return turns[:, : counts.max(initial=0)].copy(), counts


def hash_turns(turns: np.ndarray, counts: np.ndarray) -> np.ndarray:
    """Return a hash of the first `counts` (n,) of each view's `opponent_turns`, uint64 (n,)."""
    hashes = np.empty(len(turns), np.uint64)
    _hash_turns(turns, counts, hashes)
    return hashes


def first_hands(view: PlayerView) -> np.ndarray:
    """Return the hands that the players were dealt: masks, uint64 (n,)."""
    hands = np.empty(len(view), np.uint64)
    _write_first_hands(view.array, hands)
    return hands


def known_cards(view: PlayerView) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return the players' knowledge of the opponents' hands.

    Returns
    -------
    held, unseen : bool arrays, shape (n, 52): cards that the opponent certainly holds, and cards whose place
        is unknown.
    missing : float32 array, shape (n,): the number of unseen cards that the opponent holds.

    Examples
    --------
    >>> from gin_env import Games
    >>> games = Games(1)
    >>> games.start(seed=1)
    >>> held, unseen, missing = known_cards(games.views(games.everyone))
    >>> int(held.sum()), int(unseen.sum()), float(missing[0])  # nothing is known of the opponent's ten cards
    (0, 41, 10.0)
    """
    held = np.empty((len(view), NUM_CARDS), np.bool_)
    unseen = np.empty((len(view), NUM_CARDS), np.bool_)
    missing = np.empty(len(view), np.float32)
    _write_known_cards(view.array, held, unseen, missing)
    return held, unseen, missing


def with_known_cards(probabilities: np.ndarray, held: np.ndarray, unseen: np.ndarray) -> np.ndarray:
    """Return the probabilities, float32 (n, 52), set to 0 or 1 for the cards that `known_cards` knows."""
    return np.where(unseen, probabilities, held).astype(np.float32)


CARD_FEATURES = (
    "in the own hand",
    "in the discard pile",
    "the upcard",
    "taken by the opponent and still held",
    "taken by the player and still held",
    "unseen",
    "discarded by the opponent in this hand",
    "the same: 1 / (1 + turns since)",
    "the same: turn / 30",
    "the same: in a turn with the upcard taken",
    "declined by the opponent in this hand",
    "the same: 1 / (1 + turns since)",
    "the same: turn / 30",
    "taken by the opponent in this hand",
    "the same: 1 / (1 + turns since)",
    "the same: turn / 30",
    "deadwood points minus those of their last discard, / 10 (0 before it)",
    "deadwood points minus those of their cheapest discard, / 10 (0 before it)",
)
"""The features of each card."""

POSITION_FEATURES = (
    "turn / 30",
    "cards left in the stock / 31",
    "the opponent is the dealer",
    "the opponent has drawn and not discarded",
    "unseen cards in the opponent's hand / 10",
    "unseen cards / 42",
    "upcards taken by the opponent / 5",
    "deadwood points of the opponent's last discard / 10",
    "deadwood points of the opponent's cheapest discard / 10",
    "opening offer",
    "the player is to move",
)
"""The features of the position."""


def card_features(view: PlayerView) -> tuple[np.ndarray, np.ndarray]:
    """Return `CARD_FEATURES`, float32 (n, 18, 4, 13), and `POSITION_FEATURES`, float32 (n, 11)."""
    cards = np.empty((len(view), len(CARD_FEATURES), NUM_CARDS), np.float32)
    position = np.empty((len(view), len(POSITION_FEATURES)), np.float32)
    _write_card_features(view.array, cards, position)
    return cards.reshape(len(view), len(CARD_FEATURES), 4, 13), position


# --- Kernels --------------------------------------------------------------------------------------------


@kernel
def write_opponent_turns(public, private, player: int, turns) -> int:
    """Write the opponent's turns into `OPPONENT_TURN` records, at least as many; return their number."""
    absent = FULL_DECK & ~deck_cards(public.rules.ranks, public.rules.suits)
    hand = first_hand(public, private, player)
    offered = np.int64(public.first_upcard)  # the card that the mover could take in this turn
    pile, held = card_bit(offered), np.int64(0)
    took = False
    draws = 0
    turn = 0
    for mover, action, upcard in events(public):
        if action == DRAW_STOCK:
            offered, took = upcard, False
            if mover == player:
                hand |= card_bit(private.stock_draws[draws])
                draws += 1
        elif action == DRAW_UPCARD:
            offered, took = upcard, True
            pile &= ~card_bit(upcard)
            if mover == player:
                hand |= card_bit(upcard)
            else:
                held |= card_bit(upcard)
        elif is_discard(action):
            bit = card_bit(upcard)
            pile |= bit
            if mover == player:
                hand &= ~bit
            else:
                held &= ~bit
                turns[turn].upcard = offered
                turns[turn].took = took
                turns[turn].discard = upcard
                turns[turn].held = held
                turns[turn].out = hand | pile | absent
                turn += 1
    return turn


@kernel
def _write_opponent_turns(views, turns, counts):
    for index, view in enumerate(views):
        counts[index] = write_opponent_turns(view.public, view.private, view.player, turns[index])


@kernel
def _hash_turns(turns, counts, hashes):
    for index in range(len(turns)):
        key = np.uint64(counts[index])
        for step in range(counts[index]):
            turn = turns[index, step]
            cards = np.uint64(turn.upcard) << np.uint64(8) | np.uint64(turn.discard)
            key = mix(mix(key, cards << np.uint64(1) | np.uint64(turn.took)), turn.held)
            key = mix(key, turn.out)
        hashes[index] = key


@kernel
def _write_first_hands(views, hands):
    for index, view in enumerate(views):
        hands[index] = first_hand(view.public, view.private, view.player)


@kernel
def _write_known_cards(views, held, unseen, missing):
    for index, view in enumerate(views):
        shown = np.int64(view.public.shown[1 - view.player])
        unknown = cards_unseen(view.public, view.private, view.player)
        missing[index] = cards_missing(view.public, view.player)
        for card in range(NUM_CARDS):
            held[index, card] = shown >> card & 1
            unseen[index, card] = unknown >> card & 1


@kernel
def _mark(cards, first: int, card: int, turn: int, now: int) -> None:
    """Write an event of a card: that it happened, how recently, and when."""
    cards[first, card] = 1.0
    cards[first + 1, card] = 1.0 / (1.0 + now - turn)
    cards[first + 2, card] = turn / 30.0


@kernel
def write_card_features(public, private, player: int, cards, position) -> None:
    """Write `CARD_FEATURES` into float32 (18, 52) and `POSITION_FEATURES` into float32 (11,)."""
    opponent = 1 - player
    hand, pile = np.int64(private.hand), np.int64(public.pile)
    unseen = cards_unseen(public, private, player)
    now = np.int64(public.turn)
    cards[:] = 0.0
    for card in range(NUM_CARDS):
        cards[0, card] = hand >> card & 1
        cards[1, card] = pile >> card & 1
        cards[3, card] = np.int64(public.shown[opponent]) >> card & 1
        cards[4, card] = np.int64(public.shown[player]) >> card & 1
        cards[5, card] = unseen >> card & 1
    if public.upcard >= 0:
        cards[2, public.upcard] = 1.0
    turn = takes = 0
    last = cheapest = np.int64(0)
    took = False
    for mover, action, upcard in events(public):
        if is_discard(action):
            turn += 1
            if mover == opponent:
                _mark(cards, 6, upcard, turn, now)
                cards[9, upcard] = took
                last = np.int64(CARD_VALUES[upcard])
                cheapest = min(cheapest, last) if cheapest else last
            took = False
        elif action == DRAW_UPCARD:
            took = True
            if mover == opponent:
                takes += 1
                _mark(cards, 13, upcard, turn, now)
        elif mover == opponent:
            _mark(cards, 10, upcard, turn, now)
    if last:
        for card in range(NUM_CARDS):
            cards[16, card] = (np.int64(CARD_VALUES[card]) - last) / 10.0
            cards[17, card] = (np.int64(CARD_VALUES[card]) - cheapest) / 10.0
    position[0] = now / 30.0
    position[1] = public.stock_left / 31.0
    position[2] = public.dealer == opponent
    position[3] = public.phase == DISCARD and public.to_move == opponent
    position[4] = cards_missing(public, player) / 10.0
    position[5] = count_cards(unseen) / 42.0
    position[6] = takes / 5.0
    position[7] = last / 10.0
    position[8] = cheapest / 10.0
    position[9] = public.phase == OFFER
    position[10] = public.to_move == player


@kernel
def _write_card_features(views, cards, position):
    for index, view in enumerate(views):
        write_card_features(view.public, view.private, view.player, cards[index], position[index])
