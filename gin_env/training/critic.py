"""A critic that sees both hands and the stock, for training only.

Most of the reward depends on the hidden cards. A critic that sees them reduces the variance of the
advantages, so each decision teaches more. The policy never sees these numbers, and its advantages remain
unbiased, because its actions do not depend on them (Li et al., "PerfectDou", NeurIPS 2022, arXiv 2203.16406;
Pinto et al., "Asymmetric actor critic", RSS 2018). The critic is not part of the trained policy.
"""

# mypy: disable-error-code="no-untyped-def,return-value"

from __future__ import annotations

import numpy as np
import torch
from torch import nn

from gin_env.game.cards import NUM_CARDS, card_bit
from gin_env.game.hands import least_deadwood_discard
from gin_env.game.melds import min_deadwood
from gin_env.game.rules import cards_in_deck
from gin_env.game.state import DISCARD, NO_CARD, NUM_PLAYERS
from gin_env.observations.candidate_features import LAYOUT, NUM_CONTEXT, write_context, write_hand
from gin_env.support.compilation import kernel

WIDTH = 64
NUM_DRAWS = 4
"""Number of descriptions of each player's hand: as it is, and after one to three draws from the stock."""
NUM_HAND = LAYOUT["rank"].start
NUM_OF_PLAYER = NUM_HAND + 3 * NUM_DRAWS + 1
NUM_ALL_CARDS = NUM_CONTEXT + 2 + NUM_PLAYERS * NUM_OF_PLAYER
"""Numbers that `write_all_cards` writes."""


class Critic(nn.Module):
    """Values of positions, from the numbers of `write_all_cards`, float32 (n, NUM_ALL_CARDS)."""

    def __init__(self) -> None:
        super().__init__()
        layers = nn.Linear(NUM_ALL_CARDS, WIDTH), nn.Linear(WIDTH, WIDTH), nn.Linear(WIDTH, 1)
        self.layers = nn.Sequential(layers[0], nn.ReLU(), layers[1], nn.ReLU(), layers[2])

    def forward(self, all_cards: torch.Tensor) -> torch.Tensor:
        """Return the expected reward of the player to move, (n,)."""
        return self.layers(all_cards)[:, 0]


@kernel
def write_all_cards(states: np.ndarray, games: np.ndarray, rows: np.ndarray) -> None:
    """Describe these games from the seat of the player to move, into float32 (n, NUM_ALL_CARDS).

    The numbers are the context of the decision, whether the player has to discard, the phase, and for the
    player and then the opponent: the hand with its outs in the stock (`write_hand`); its deadwood, whether it
    may knock and whether it is gin, now and after each draw; and what the upcard would save. In these draws
    both players draw from the stock in turn, and discard the highest card that leaves the least deadwood.
    """
    after = np.empty((NUM_CARDS, NUM_CARDS), np.int64)
    for index in range(len(games)):
        game, row = states[games[index]], rows[index]
        public = game.public
        mover, limit = np.int64(public.to_move), np.int64(public.knock_limit)
        write_context(public, game.private[mover], mover, row)
        discarding = public.phase == DISCARD
        row[NUM_CONTEXT] = discarding
        row[NUM_CONTEXT + 1] = public.phase / np.float32(DISCARD)
        size = np.int64(cards_in_deck(public.rules))
        first = size - np.int64(public.stock_left)
        stock = np.int64(0)
        for card in game.hidden.deck[first:size]:
            stock |= card_bit(np.int64(card))
        for seat in range(NUM_PLAYERS):
            hand = np.int64(game.private[mover ^ seat].hand)
            start = NUM_CONTEXT + 2 + seat * NUM_OF_PLAYER
            if discarding and seat == 0:
                gone, deadwood = least_deadwood_discard(hand, hand)
                hand ^= gone
            else:
                deadwood = min_deadwood(hand)
            write_hand(row[start : start + NUM_HAND], hand, deadwood, stock, limit, after)
            start += NUM_HAND
            row[start + 3 * NUM_DRAWS] = 0
            if public.upcard != NO_CARD:
                with_upcard = hand | card_bit(np.int64(public.upcard))
                _, taken = least_deadwood_discard(with_upcard, with_upcard)
                row[start + 3 * NUM_DRAWS] = (deadwood - taken) / np.float32(10)
            # The player to move draws first, or the opponent if the player has drawn already.
            place = first + (seat if not discarding else 1 - seat)
            for draw in range(NUM_DRAWS):
                row[start + draw] = deadwood / np.float32(50)
                row[start + NUM_DRAWS + draw] = deadwood <= limit
                row[start + 2 * NUM_DRAWS + draw] = deadwood == 0
                if place < size and draw + 1 < NUM_DRAWS:
                    with_card = hand | card_bit(np.int64(game.hidden.deck[place]))
                    gone, deadwood = least_deadwood_discard(with_card, with_card)
                    hand = np.int64(with_card ^ gone)
                place += NUM_PLAYERS
