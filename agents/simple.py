"""``simple``: the baseline of all five papers, SimpleGinRummyPlayer of the EAAI 2021 challenge.

Source: the reference engine tneller/gin-rummy-eaai (described in the oracle's README, "Rules that are
easy to get wrong", 8), and the sections on the Simple player in papers 000 to 003.

- Draw: takes the upcard if some meld of hand + upcard contains it, otherwise draws from the stock.
- Discard: a card that leaves the least deadwood, at random among equals; never one that would repeat an
  unordered {drawn, discarded} pair of this hand.
- Knock: at once, as soon as its deadwood allows; ``knock_at`` lowers the threshold (the papers' 8, 6, 4;
  0 waits for gin).
"""

from __future__ import annotations

import numpy as np

from gin_env.actions import DRAW_STOCK, DRAW_UPCARD, KNOCK, PASS
from gin_env.cards import NUM_CARDS, card_bit
from gin_env.compilation import kernel
from gin_env.engine import discards_allowed
from gin_env.melds import completes_meld, min_deadwood
from gin_env.state import DISCARD, OFFER, STOCK_ONLY
from gin_env.views import PlayerView

from gin_env.agents.random_bots import pick_card


class SimpleBot:
    """The Simple player.

    Parameters
    ----------
    knock_at : knocks with deadwood of at most this (0 to 10; the rules' knock limit also holds).
    """

    def __init__(self, knock_at: int = 10) -> None:
        if isinstance(knock_at, bool) or not isinstance(knock_at, int | np.integer):
            raise TypeError(f"knock_at is an integer, not {knock_at!r}")
        if knock_at < 0:
            raise ValueError(f"knock_at = {knock_at}: deadwood is never negative")
        self.knock_at = int(knock_at)
        self.name = "simple" if knock_at == 10 else f"simple(knock_at={knock_at})"

    def act(self, view: PlayerView) -> np.ndarray:
        """See `Agent.act`."""
        actions = np.empty(len(view), np.int64)
        _act(view.records, self.knock_at, actions)
        return actions


@kernel
def simple_draw(public, private) -> int:
    """Take the upcard if it completes or extends a meld."""
    if public.phase != STOCK_ONLY and completes_meld(np.int64(private.hand), public.upcard):
        return DRAW_UPCARD
    return PASS if public.phase == OFFER else DRAW_STOCK


@kernel
def least_deadwood_discards(hand: int, allowed: int):
    """(mask of the allowed discards that leave the least deadwood, that deadwood)."""
    best, least = np.int64(0), np.int64(1 << 30)
    remaining = allowed
    while remaining:
        bit = remaining & -remaining
        left = min_deadwood(hand ^ bit)
        if left < least:
            best, least = np.int64(0), left
        if left == least:
            best |= bit
        remaining ^= bit
    return best, least


@kernel
def repeated_discards(public, private, player: int) -> int:
    """Mask of the cards that would make an unordered {drawn, discarded} pair which this player had before.

    Only a card taken from the pile can repeat a pair: one from the stock has never been seen.
    """
    repeated = np.int64(0)
    if public.taken < 0:
        return repeated
    upcard = public.first_upcard
    mover = 1 - public.dealer
    drawn = np.int64(-1)
    draws = 0
    for index in range(public.history_length - 1):  # the last entry is the draw just made
        action = np.int64(public.history[index])
        if action < DRAW_STOCK:
            upcard = action % NUM_CARDS
            if mover == player:
                if drawn == public.taken:
                    repeated |= card_bit(upcard)
                elif upcard == public.taken:
                    repeated |= card_bit(drawn)
            mover = 1 - mover
        elif action == PASS:
            mover = 1 - mover
        elif mover == player:
            if action == DRAW_STOCK:
                drawn = np.int64(private.stock_draws[draws])
                draws += 1
            else:
                drawn = np.int64(upcard)
    return repeated


@kernel
def simple_action(public, private, player: int, random: int, knock_at: int) -> int:
    """The Simple player's decision."""
    if public.phase != DISCARD:
        return simple_draw(public, private)
    allowed = discards_allowed(public, private)
    fresh = allowed & ~repeated_discards(public, private, player)
    best, least = least_deadwood_discards(np.int64(private.hand), fresh if fresh else allowed)
    card = pick_card(best, random)
    knock = least <= min(knock_at, public.rules.knock_limit)
    return card + (KNOCK if knock else 0)


@kernel
def _act(views, knock_at, actions):
    for index in range(len(views)):
        view = views[index]
        actions[index] = simple_action(
            view.public, view.private, view.player, view.random, knock_at
        )
