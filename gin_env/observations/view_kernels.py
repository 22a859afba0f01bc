"""`VIEW`: the public part of a game and the player's own private part; its checks, and loops over many views.

`is_position` and `is_history` check views from outside the package, since compiled code does not check its
arguments. The kernels at the end write what players see of many games; `gin_env.batch.Games` checks their
arguments. Indices of games are int64 (k,); `state` is its record array.
"""

# mypy: disable-error-code="no-untyped-def,return-value"

from __future__ import annotations

import numpy as np

from gin_env.game.actions import DRAW_STOCK, DRAW_UPCARD, PASS, is_discard
from gin_env.game.cards import NUM_CARDS, NUM_RANKS, NUM_SUITS, count_cards, deck_cards, each_card
from gin_env.game.engine import decision_random, write_mask
from gin_env.game.history import events, first_mover, next_mover
from gin_env.game.rules import MAX_HAND_SIZE, MAX_KNOCK_LIMIT, MAX_TURNS
from gin_env.game.state import DISCARD, NO_CARD, OVER, PRIVATE, PUBLIC
from gin_env.observations.candidates import write_candidates
from gin_env.observations.memory import write_memory
from gin_env.observations.observation import write_observation
from gin_env.support.compilation import kernel
from gin_env.support.prefetch import prefetch_row

VIEW = np.dtype(
    [
        ("public", PUBLIC),
        ("private", PRIVATE),  # of the player whose view this is
        ("player", np.int8),
        ("random", np.uint64),  # a fresh number for this decision: bots break ties with it
    ],
    align=True,
)
"""One player's knowledge, with a random number for the decision."""
AHEAD = 3
"""Number of rows by which loading memory into the cache is ahead of writing. Without it, writing the
observations of 16,384 games takes one and a half times as long."""


@kernel
def write_events(views, rows) -> None:
    """Write player, action and card of each event of the first view's hand into (history_length, 3)."""
    for index, (mover, action, upcard) in enumerate(events(views[0].public)):
        rows[index, 0] = mover
        rows[index, 1] = action
        rows[index, 2] = NO_CARD if action == DRAW_STOCK else upcard


@kernel
def write_view(game, player: int, view) -> None:
    """Copy what `player` may know of a game, and their random number, into a `VIEW` record."""
    view.public = game.public
    view.private = game.private[player]
    view.player = player
    view.random = decision_random(game, player)


@kernel
def is_position(public, hand: int, player: int) -> bool:
    """Return whether a public part and the cards of `player` are a valid position of some hand.

    Every value that kernels use as an index is checked, so that records from outside are safe to use.
    """
    rules = public.rules
    if not (0 < rules.ranks <= NUM_RANKS and 0 < rules.suits <= NUM_SUITS and rules.target_score > 0):
        return False
    if not (0 < rules.hand_size <= MAX_HAND_SIZE and 0 < rules.max_turns <= MAX_TURNS):
        return False
    stock = rules.ranks * rules.suits - 2 * rules.hand_size - 1
    if stock <= 0 or public.stock_left > stock or public.turn > rules.max_turns or public.phase > OVER:
        return False
    if not (0 <= player <= 1 and 0 <= public.to_move <= 1 and 0 <= public.dealer <= 1):
        return False
    if not (NO_CARD <= public.upcard < NUM_CARDS and NO_CARD <= public.taken < NUM_CARDS):
        return False
    if not 0 <= public.knock_limit <= MAX_KNOCK_LIMIT:
        return False
    if public.upcard == NO_CARD and public.phase != DISCARD:
        return False
    others = ~deck_cards(rules.ranks, rules.suits)
    pile = np.int64(public.pile)
    if (hand | pile) & others or hand & pile:
        return False
    for either in range(2):
        if np.int64(public.shown[either]) & others:
            return False
        if (np.int64(public.discarded[either]) | np.int64(public.declined[either])) & ~pile:
            return False
    for card in each_card(pile):
        if public.discard_turn[card] > public.turn:
            return False
    if public.phase == OVER:
        return count_cards(hand) <= rules.hand_size
    drawn = public.phase == DISCARD and public.to_move == player
    return count_cards(hand) == rules.hand_size + np.int64(drawn)


@kernel
def is_history(public, private, player: int) -> bool:
    """Return whether the history of a valid position (`is_position`) can have led to it.

    The player's own draws are checked too.
    """
    if public.history_length > len(public.history) or private.num_stock_draws > len(private.stock_draws):
        return False
    if not 0 <= public.first_upcard < NUM_CARDS:
        return False
    upcard = np.int64(public.first_upcard)
    mover = np.int64(first_mover(public))
    drawn = False
    turns = draws = 0
    for index in range(public.history_length):
        action = public.history[index]
        if is_discard(action):
            if not drawn:
                return False
            upcard = np.int64(action % NUM_CARDS)
            drawn = False
            turns += 1
        elif action == PASS:
            if index > 1 or drawn:
                return False
        elif drawn or action > PASS or (action == DRAW_UPCARD and upcard == NO_CARD):
            return False
        else:
            drawn = True
            if action == DRAW_UPCARD:
                upcard = np.int64(NO_CARD)
            elif mover == player:
                if draws >= private.num_stock_draws or not 0 <= private.stock_draws[draws] < NUM_CARDS:
                    return False
                draws += 1
        mover = next_mover(action, mover)
    if turns != public.turn or draws != private.num_stock_draws or upcard != public.upcard:
        return False
    return public.phase == OVER or (drawn == (public.phase == DISCARD) and mover == public.to_move)


@kernel
def first_wrong(views) -> int:
    """Return the index of the first record that is not a position of a hand; -1 if all are."""
    for index, view in enumerate(views):
        if not is_position(view.public, np.int64(view.private.hand), view.player):
            return index
        if not is_history(view.public, view.private, view.player):
            return index
    return -1


@kernel
def write_view_masks(views, masks) -> None:
    """Write the players' legal actions into int8 (n, 107), zeros where they are not to move."""
    for index, view in enumerate(views):
        if view.public.to_move == view.player:
            write_mask(view.public, view.private, masks[index])


@kernel
def write_view_candidates(views, rows, actions, context) -> bool:
    """Call `write_candidates` for each view; return False if a discarding player has too few rows."""
    after = np.empty((NUM_CARDS, NUM_CARDS), np.int64)
    complete = True
    for index, view in enumerate(views):
        complete &= write_candidates(
            view.public, view.private, view.player, rows[index], actions[index], context[index], after
        )
    return complete


@kernel
def write_view_observations(views, observations) -> None:
    """Write the players' observations into float32 (n, OBSERVATION_SIZE)."""
    for index, view in enumerate(views):
        write_observation(view.public, view.private, view.player, observations[index])


@kernel
def write_memories(state, games, player, memories):
    """Write what the player, or the players to move (-1), know from earlier hands: (k, NUM_MEMORY)."""
    for k in range(len(games)):
        public = state[games[k]].public
        write_memory(public, public.to_move if player < 0 else player, memories[k])


@kernel
def write_view_memories(views, memories) -> None:
    """Write what the players know from earlier hands into float32 (n, NUM_MEMORY)."""
    for index, view in enumerate(views):
        write_memory(view.public, view.player, memories[index])


@kernel
def write_observations(state, games, player, observations):
    """Write the player's observation of each game, float32 (k, OBSERVATION_SIZE)."""
    for k in range(len(games)):
        prefetch_row(observations, k + AHEAD)
        game = state[games[k]]
        write_observation(game.public, game.private[player], player, observations[k])


@kernel
def write_all_candidates(state, games, player, rows, actions, context):
    """Write the candidates of the player, or of the players to move (-1); return whether all have room."""
    after = np.empty((NUM_CARDS, NUM_CARDS), np.int64)
    complete = True
    for k in range(len(games)):
        prefetch_row(rows, k + AHEAD)
        game = state[games[k]]
        seat = game.public.to_move if player < 0 else player
        complete &= write_candidates(
            game.public, game.private[seat], seat, rows[k], actions[k], context[k], after
        )
    return complete


@kernel
def write_views(state, games, player, views):
    """Write `VIEW` records (k,) of the player, or of the players to move (-1)."""
    for k in range(len(games)):
        game = state[games[k]]
        write_view(game, game.public.to_move if player < 0 else player, views[k])
