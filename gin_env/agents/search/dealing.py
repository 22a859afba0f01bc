"""Worlds: full deals consistent with everything that a player has seen in a hand.

A player knows their own cards, the pile, and the cards that the opponent took from it. A *world* adds the
rest: the opponent's other cards, the turns in which they drew them from the stock, and the order of the
stock. Dealt and played by the engine with the actions of the hand, its deck leads to a state in which the
player sees exactly what they see now. So the rules are not implemented a second time here.

A world is stored as two rows of card ids:

- ``held``: the opponent's cards of unknown origin: the `hand_size` dealt cards, then one for each of their
  draws from the stock. Cards discarded since are among them, at a place that was filled by then; every order
  of these places that the discards allow has the same probability before the opponent acts;
- ``stock``: the other unseen cards, which are in the stock. Their order cannot affect what the player saw.
"""

# mypy: disable-error-code="no-untyped-def,return-value"

from __future__ import annotations

import numpy as np

from gin_env.game.actions import DRAW_STOCK, DRAW_UPCARD, is_discard
from gin_env.game.cards import NUM_CARDS, card_bit, each_card
from gin_env.game.engine import deal, play
from gin_env.game.history import events, first_hand
from gin_env.game.rules import MAX_TURNS, cards_in_deck
from gin_env.game.state import NO_CARD
from gin_env.game.streams import below, mix, unit
from gin_env.observations.knowledge import cards_missing, cards_unseen
from gin_env.support.compilation import kernel

PAST = np.dtype(
    [
        ("drawn", np.uint8),  # cards drawn from the stock so far, by both players
        ("drawer", np.int8, (NUM_CARDS,)),  # the player who drew each of them
        ("draws", np.uint8),  # of these, the opponent's
        ("discards", np.uint8),  # the opponent's discards of cards whose origin the player does not know
        ("discard", np.int8, (MAX_TURNS,)),  # the cards, in order
        ("draws_before", np.uint8, (MAX_TURNS,)),  # the opponent's draws from the stock by then
        ("draw_decisions", np.uint8),  # the opponent's decisions where to draw, or to pass
        ("discard_decisions", np.uint8),  # the opponent's discards
        ("unseen", np.uint64),  # cards in the stock or of unknown place
        ("missing", np.uint8),  # number of them in the opponent's hand
    ],
    align=True,
)
"""What the public actions of a hand say about the origin of the opponent's cards."""


@kernel
def read_past(public, private, player: int, past) -> None:
    """Fill a new `PAST` record, all zeros, from what the player knows."""
    opponent = 1 - player
    taken = np.int64(0)  # cards that the opponent took from the pile
    for mover, action, upcard in events(public):
        if mover == opponent:
            if is_discard(action):
                past.discard_decisions += 1
                if not taken & card_bit(upcard):
                    past.discard[past.discards] = upcard
                    past.draws_before[past.discards] = past.draws
                    past.discards += 1
            else:
                past.draw_decisions += 1
                past.draws += action == DRAW_STOCK
                if action == DRAW_UPCARD:
                    taken |= card_bit(upcard)
        if action == DRAW_STOCK:
            past.drawer[past.drawn] = mover
            past.drawn += 1
    past.unseen = cards_unseen(public, private, player)
    past.missing = cards_missing(public, player)


@kernel
def propose_worlds(
    past, hand_size: int, odds: np.ndarray, key: int, held: np.ndarray, stock: np.ndarray
) -> None:
    """Sample worlds (n,): each unseen card is held with these odds, float64 (52,), given their number.

    Fills `held`, int8 (n, hand_size + draws), and `stock`, int8 (n, others); uses the stream `key`.
    """
    cards = np.empty(NUM_CARDS, np.int64)
    num_unseen = 0
    for card in each_card(np.int64(past.unseen)):
        cards[num_unseen] = card
        num_unseen += 1
    missing = np.int64(past.missing)
    # weight[i, j]: sum over all sets of j of the cards from the i-th on, of the product of their odds.
    weight = np.zeros((num_unseen + 1, missing + 1))
    weight[num_unseen, 0] = 1
    for index in range(num_unseen - 1, -1, -1):
        weight[index, 0] = 1
        for size in range(1, missing + 1):
            weight[index, size] = weight[index + 1, size] + odds[cards[index]] * weight[index + 1, size - 1]
    places = hand_size + np.int64(past.draws)
    chosen = np.empty(NUM_CARDS, np.int64)
    counter = np.int64(0)
    for world in range(len(held)):
        left, num_held, num_stock = missing, 0, 0
        for index in range(num_unseen):
            counter += 1
            taken = False
            if left > 0:
                share = odds[cards[index]] * weight[index + 1, left - 1] / weight[index, left]
                taken = unit(mix(key, counter)) < share
            if taken:
                chosen[num_held] = cards[index]
                num_held += 1
                left -= 1
            else:
                stock[world, num_stock] = cards[index]
                num_stock += 1
        places_of_world = held[world]
        places_of_world[:] = NO_CARD
        # Discards first, each at one of the places filled by then, with equal probability.
        for index in range(past.discards):
            counter += 1
            skip = below(mix(key, counter), hand_size + np.int64(past.draws_before[index]) - index)
            places_of_world[_free_place(places_of_world, skip)] = past.discard[index]
        for place in range(places):
            if places_of_world[place] == NO_CARD:
                counter += 1
                other = below(mix(key, counter), num_held)
                places_of_world[place] = chosen[other]
                num_held -= 1
                chosen[other] = chosen[num_held]


@kernel
def _free_place(held: np.ndarray, skip: int) -> int:
    """Return the free place after `skip` free ones."""
    for place in range(len(held)):
        if held[place] == NO_CARD:
            if skip == 0:
                return place
            skip -= 1
    return len(held) - 1


@kernel
def deal_world(game, view, past, held: np.ndarray, stock: np.ndarray, key: int) -> None:
    """Deal the hand of a world in a `STATE` record; the undrawn stock is shuffled by the stream `key`."""
    game.public = view.public
    public, player, deck = view.public, np.int64(view.player), game.hidden.deck
    hand_size = np.int64(public.rules.hand_size)
    for index, card in enumerate(each_card(first_hand(public, view.private, player))):
        deck[2 * index + player] = card
        deck[2 * index + 1 - player] = held[index]
    deck[2 * hand_size] = public.first_upcard
    first = 2 * hand_size + 1
    place, draw = hand_size, 0
    for index in range(past.drawn):
        if past.drawer[index] == player:
            deck[first + index] = view.private.stock_draws[draw]
            draw += 1
        else:
            deck[first + index] = held[place]
            place += 1
    first += past.drawn
    for index in range(cards_in_deck(public.rules) - first):  # Fisher and Yates, inside out
        other = below(mix(key, index), index + 1)
        deck[first + index] = deck[first + other]
        deck[first + other] = stock[index]
    deal(game)


@kernel
def write_worlds(view, past, held: np.ndarray, stock: np.ndarray, key: int, states: np.ndarray) -> None:
    """Write the games of worlds (n,) into `STATE` records (n,); the player sees the same as in `view`.

    World k is shuffled by the stream ``mix(key, k)``, and its players break ties by it.
    """
    for world in range(len(held)):
        game = states[world]
        world_key = mix(key, world)
        deal_world(game, view, past, held[world], stock[world], world_key)
        for index in range(view.public.history_length):
            play(game, np.int64(view.public.history[index]))
        game.hidden.deal_key = world_key
        for player in range(2):
            game.hidden.decision_keys[player] = mix(world_key, NUM_CARDS + player)


def resampled(logarithms: np.ndarray, count: int, random: np.random.Generator) -> np.ndarray:
    """Return indices drawn in proportion to weights, in random order: int64 (count,).

    `logarithms`, float64 (n,), are those of the weights. The marks that choose are evenly spaced.
    """
    chances = np.exp(logarithms - logarithms.max())
    ends = np.cumsum(chances / chances.sum())
    marks = (np.arange(count) + random.random()) / count
    chosen = np.minimum(np.searchsorted(ends, marks), len(ends) - 1)
    random.shuffle(chosen)
    return chosen
