"""Worlds: decks that explain everything that a player has seen in a hand.

Of a hand in progress a player knows her own cards, the pile, and what the opponent took from it. A *world*
fills in the rest: which cards the opponent was dealt, which she drew from the stock and when, and in which
order the others lie there. Dealt and played by the engine with the actions of the hand, its deck leads to a
state in which the player sees exactly what she sees. There is no second reading of the rules in here.

A world is stored as two rows of card ids:

- ``held``: the opponent's cards of unknown origin: the `hand_size` that she was dealt, then one for each of
  her draws from the stock. What she has discarded since is among them, at a place that she had reached by
  then; every order of these places that the discards allow is equally likely before she acts;
- ``rest``: the other unseen cards, which are in the stock. Their order does not matter for what was seen.
"""

# mypy: disable-error-code="no-untyped-def,return-value"

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from gin_env.game.actions import DRAW_STOCK, DRAW_UPCARD, is_discard
from gin_env.game.cards import NUM_CARDS, card_bit, lowest_card
from gin_env.game.engine import deal, play
from gin_env.game.history import first_hand, first_mover, next_mover, upcard_after
from gin_env.game.rules import MAX_TURNS, cards_in_deck
from gin_env.game.state import DISCARD, NO_CARD
from gin_env.game.streams import below, mix, unit
from gin_env.observations.candidates import new_arrays, write_context, write_discards, write_draws
from gin_env.observations.knowledge import cards_missing, cards_unseen
from gin_env.support.compilation import kernel

PAST = np.dtype(
    [
        ("drawn", np.uint8),  # cards drawn from the stock so far, by both players
        ("drawer", np.int8, (NUM_CARDS,)),  # who drew each of them
        ("draws", np.uint8),  # of these, the opponent's
        ("discards", np.uint8),  # the opponent's discards of cards whose origin the player does not know
        ("discard", np.int8, (MAX_TURNS,)),  # the cards, in order
        ("draws_before", np.uint8, (MAX_TURNS,)),  # how often she had drawn from the stock by then
        ("draw_decisions", np.uint8),  # how often she has chosen where to draw, or passed
        ("discard_decisions", np.uint8),  # how often she has discarded
        ("unseen", np.uint64),  # cards in the stock or unknown in her hand
        ("missing", np.uint8),  # how many of them she holds
    ],
    align=True,
)
"""What the public acts of a hand say of where the opponent's cards came from."""
CHANGE_PLACES = 0.25
"""Share of the proposed changes that move two of the opponent's cards to other places of origin."""
CHANGE_TWO = 0.3
"""Share of the others that exchange two cards with the stock, not one."""
NEVER = -1e30
"""Logarithm of the chance of what cannot be."""


class Decisions(NamedTuple):
    """What was to be decided, as `gin_env.observations.candidates` describes it, and what was done."""

    rows: np.ndarray
    """float32 (n, k, NUM_FEATURES)"""
    actions: np.ndarray
    """int64 (n, k, 2)"""
    table: np.ndarray
    """float32 (n, NUM_CONTEXT)"""
    taken: np.ndarray
    """int64 (n,)"""

    def first(self, number: int) -> Decisions:
        """The arrays of the first ones."""
        return Decisions(*(array[:number] for array in self))


def new_decisions(number: int, rows: int) -> Decisions:
    """Arrays for so many decisions between so many candidates."""
    return Decisions(*new_arrays(number, rows), np.empty(number, np.int64))


@kernel
def read_past(public, private, player: int, past) -> None:
    """Fill a `PAST` record from what the player knows."""
    opponent = 1 - player
    past.drawn = 0
    past.draws = 0
    past.discards = 0
    past.draw_decisions = 0
    past.discard_decisions = 0
    shown = np.int64(0)  # cards that she took from the pile and has not discarded since
    upcard, mover = np.int64(public.first_upcard), first_mover(public)
    for index in range(public.history_length):
        action = np.int64(public.history[index])
        if mover == opponent:
            if is_discard(action):
                past.discard_decisions += 1
            else:
                past.draw_decisions += 1
        if action == DRAW_STOCK:
            past.drawer[past.drawn] = mover
            past.drawn += 1
            past.draws += mover == opponent
        elif mover == opponent and action == DRAW_UPCARD:
            shown |= card_bit(upcard)
        upcard = upcard_after(action, upcard)
        if mover == opponent and is_discard(action):
            if shown & card_bit(upcard):
                shown &= ~card_bit(upcard)
            else:
                past.discard[past.discards] = upcard
                past.draws_before[past.discards] = past.draws
                past.discards += 1
        mover = next_mover(action, mover)
    past.unseen = cards_unseen(public, private, player)
    past.missing = cards_missing(public, player)


@kernel
def propose_worlds(
    past, hand_size: int, odds: np.ndarray, key: int, held: np.ndarray, rest: np.ndarray
) -> None:
    """Draw worlds (n,): each unseen card is held with these odds, float64 (52,), given how many are.

    Fills `held`, int8 (n, hand_size + draws), and `rest`, int8 (n, others); uses the stream `key`.
    """
    cards = np.empty(NUM_CARDS, np.int64)
    unseen, number = np.int64(past.unseen), 0
    while unseen:
        cards[number] = lowest_card(unseen)
        unseen &= unseen - 1
        number += 1
    missing = np.int64(past.missing)
    # weight[i, j]: sum over all sets of j of the cards from the i-th on, of the product of their odds.
    weight = np.zeros((number + 1, missing + 1))
    weight[number, 0] = 1
    for index in range(number - 1, -1, -1):
        weight[index, 0] = 1
        for size in range(1, missing + 1):
            weight[index, size] = weight[index + 1, size] + odds[cards[index]] * weight[index + 1, size - 1]
    places = hand_size + np.int64(past.draws)
    chosen = np.empty(NUM_CARDS, np.int64)
    counter = np.int64(0)
    for world in range(len(held)):
        left, number_held, number_rest = missing, 0, 0
        for index in range(number):
            counter += 1
            taken = False
            if left > 0:
                share = odds[cards[index]] * weight[index + 1, left - 1] / weight[index, left]
                taken = unit(mix(key, counter)) < share
            if taken:
                chosen[number_held] = cards[index]
                number_held += 1
                left -= 1
            else:
                rest[world, number_rest] = cards[index]
                number_rest += 1
        mine = held[world]
        mine[:] = NO_CARD
        # Her discards first, each to one of the places that she had reached: all of these are equally likely.
        for index in range(past.discards):
            counter += 1
            skip = below(mix(key, counter), hand_size + np.int64(past.draws_before[index]) - index)
            mine[_free_place(mine, skip)] = past.discard[index]
        for place in range(places):
            if mine[place] == NO_CARD:
                counter += 1
                other = below(mix(key, counter), number_held)
                mine[place] = chosen[other]
                number_held -= 1
                chosen[other] = chosen[number_held]


@kernel
def _free_place(held: np.ndarray, skip: int) -> int:
    """The first free place after so many free ones."""
    for place in range(len(held)):
        if held[place] == NO_CARD:
            if skip == 0:
                return place
            skip -= 1
    return len(held) - 1


@kernel
def propose_changes(
    past,
    hand_size: int,
    odds: np.ndarray,
    key: int,
    held: np.ndarray,
    rest: np.ndarray,
    correction: np.ndarray,
) -> None:
    """Change each of the worlds (n,) a little, in place: a step of Metropolis and Hastings.

    `correction`, float64 (n,), becomes the logarithm of the way back's chance over that of the way there;
    `NEVER` for a change to what cannot be.
    """
    latest = np.full(NUM_CARDS, NUM_CARDS)  # for each discarded card: draws before it, which bound its place
    discarded = np.int64(0)
    for index in range(past.discards):
        latest[past.discard[index]] = past.draws_before[index]
        discarded |= card_bit(past.discard[index])
    draws, places = np.int64(past.draws), hand_size + np.int64(past.draws)
    counter = np.int64(0)
    for world in range(len(held)):
        mine, others = held[world], rest[world]
        correction[world] = 0
        counter += 4
        if draws > 0 and (unit(mix(key, counter)) < CHANGE_PLACES or len(others) == 0 or past.missing == 0):
            one = hand_size + below(mix(key, counter + 1), draws)
            two = np.int64(below(mix(key, counter + 2), places))
            if one - hand_size >= latest[mine[two]] or two - hand_size >= latest[mine[one]]:
                correction[world] = NEVER
            else:
                mine[one], mine[two] = mine[two], mine[one]
            continue
        if len(others) == 0 or past.missing == 0:
            continue
        times = 2 if unit(mix(key, counter + 1)) < CHANGE_TWO else 1
        total = 0.0
        for index in range(len(others)):
            total += odds[others[index]]
        for _ in range(times):
            counter += 4
            skip = below(mix(key, counter), past.missing)
            place = 0
            while discarded >> mine[place] & 1 or skip > 0:
                skip -= not discarded >> mine[place] & 1
                place += 1
            mark = unit(mix(key, counter + 1)) * total
            index = 0
            while index < len(others) - 1 and mark >= odds[others[index]]:
                mark -= odds[others[index]]
                index += 1
            leaves, comes = mine[place], others[index]
            mine[place], others[index] = comes, leaves
            after = total - odds[comes] + odds[leaves]
            correction[world] += np.log(odds[leaves] / after) - np.log(odds[comes] / total)
            total = after


@kernel
def _write_deck(view, past, held: np.ndarray, rest: np.ndarray, key: int, deck: np.ndarray) -> None:
    """The deck of a world, in dealing order; what nobody has drawn yet is shuffled by the stream `key`."""
    public, player = view.public, np.int64(view.player)
    hand_size = np.int64(public.rules.hand_size)
    own = first_hand(public, view.private, player)
    for index in range(hand_size):
        deck[2 * index + player] = lowest_card(own)
        deck[2 * index + 1 - player] = held[index]
        own &= own - 1
    deck[2 * hand_size] = public.first_upcard
    first = 2 * hand_size + 1
    hers, mine = hand_size, 0
    for index in range(past.drawn):
        if past.drawer[index] == player:
            deck[first + index] = view.private.stock_draws[mine]
            mine += 1
        else:
            deck[first + index] = held[hers]
            hers += 1
    first += past.drawn
    for index in range(cards_in_deck(public.rules) - first):  # Fisher and Yates, inside out
        other = below(mix(key, index), index + 1)
        deck[first + index] = deck[first + other]
        deck[first + other] = rest[index]


@kernel
def write_worlds(view, past, held: np.ndarray, rest: np.ndarray, key: int, states: np.ndarray) -> None:
    """Write the games of worlds (n,) into `STATE` records (n,): the player sees what she sees in `view`.

    World number k has its stock from the stream ``mix(key, k)``, and its players break ties by that.
    """
    for world in range(len(held)):
        game = states[world]
        mine = mix(key, world)
        game.public = view.public
        _write_deck(view, past, held[world], rest[world], mine, game.hidden.deck)
        deal(game)
        for index in range(view.public.history_length):
            play(game, np.int64(view.public.history[index]))
        game.hidden.deal_key = mine
        for player in range(2):
            game.hidden.decision_keys[player] = mix(mine, NUM_CARDS + player)


@kernel
def write_past_decisions(view, past, held: np.ndarray, rest: np.ndarray, game, draws, discards) -> None:
    """Write what the opponent has had to decide in each of the worlds (n,), in order, and what she did.

    `draws` and `discards` are the arrays of `Decisions`; `game` is a `STATE` record to play in.
    """
    opponent = 1 - np.int64(view.player)
    after = np.empty((NUM_CARDS, NUM_CARDS), np.int64)
    drawn, discarded = 0, 0
    for world in range(len(held)):
        game.public = view.public
        _write_deck(view, past, held[world], rest[world], np.uint64(0), game.hidden.deck)
        deal(game)
        for index in range(view.public.history_length):
            action = np.int64(view.public.history[index])
            if game.public.to_move == opponent:
                private = game.private[opponent]
                if game.public.phase == DISCARD:
                    number, mine = discarded, discards
                    write_discards(
                        game.public, private, opponent, mine.rows[number], mine.actions[number], after
                    )
                    discarded += 1
                else:
                    number, mine = drawn, draws
                    write_draws(
                        game.public, private, opponent, mine.rows[number], mine.actions[number], after
                    )
                    drawn += 1
                write_context(game.public, private, opponent, mine.table[number])
                mine.taken[number] = action
            play(game, action)
