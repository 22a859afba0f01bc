"""Explanations of illegal actions in words."""

from __future__ import annotations

import numpy as np

from gin_env.game.actions import NUM_ACTIONS, describe
from gin_env.game.cards import NUM_CARDS, card_text, cards_of
from gin_env.game.engine import (
    ALREADY_DRAWN,
    HAND_IS_OVER,
    JUST_TAKEN,
    LEGAL,
    NO_SUCH_ACTION,
    NOT_IN_HAND,
    NOT_IN_THIS_PHASE,
    illegality,
)
from gin_env.game.melds import deadwood
from gin_env.game.state import OFFER, PHASE_NAMES, STOCK_ONLY


def explain_illegal(view: np.void, action: int) -> str:
    """Return why the player to move must not take this action; `view` is their `VIEW` record.

    Raises ValueError for a legal action.
    """
    reason = illegality(view["public"], view["private"], action)
    if reason == NO_SUCH_ACTION:
        return f"{action} is not an action: actions run from 0 to {NUM_ACTIONS - 1}"
    what = describe(action)
    if reason == LEGAL:
        raise ValueError(f"{what}: this is legal")
    if reason == HAND_IS_OVER:
        return f"{what}: the hand is over, call reset()"
    public, hand = view["public"], int(view["private"]["hand"])
    if reason == NOT_IN_THIS_PHASE:
        phase = int(public["phase"])
        choices = {OFFER: "draw the upcard or pass", STOCK_ONLY: "draw from the stock (both have passed)"}
        may = choices.get(phase, "draw from the stock or draw the upcard")
        return f"{what}: in the phase '{PHASE_NAMES[phase]}' a player may {may}"
    if reason == ALREADY_DRAWN:
        return f"{what}: the player has drawn already and must discard or knock"
    card = action % NUM_CARDS
    if reason == NOT_IN_HAND:
        held = " ".join(card_text(held) for held in cards_of(hand))
        return f"{what}: {card_text(card)} is not in the hand ({held})"
    if reason == JUST_TAKEN:
        return f"{what}: {card_text(card)} was just taken from the discard pile"
    left, limit = deadwood(hand & ~(1 << card)), int(public["knock_limit"])
    return f"{what}: deadwood would be {left}, the limit is {limit}"
