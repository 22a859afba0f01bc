"""Explain illegal actions, and check the actions of a hand that another program dealt."""

from __future__ import annotations

import numpy as np

from gin_env.game.actions import KNOCK, NUM_ACTIONS, IllegalActionError, describe, is_discard
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
from gin_env.game.rules import Rules
from gin_env.game.state import NO_CARD, OFFER, PHASE_NAMES, STOCK_ONLY
from gin_env.observations.knowledge import cards_missing
from gin_env.observations.view_kernels import VIEW


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


def check_event(game: np.void, player: int, action: int, card: int, index: int) -> None:
    """Raise IllegalActionError unless the next action is possible, as far as `player` can know.

    `game` is a `STATE` record; `card` is what `player` drew from the stock, or `NO_CARD`; `index` is the
    action's place in the history, for the message.
    """
    public, hand = game["public"], int(game["private"]["hand"][player])
    mover = int(public["to_move"])
    unseen = Rules.from_record(public["rules"]).deck_mask & ~(hand | int(public["pile"]))
    view = np.zeros(1, VIEW)[0]
    view["public"], view["player"] = public, mover
    # The opponent may hold, and discard, any card that is not known to be elsewhere.
    view["private"]["hand"] = hand if mover == player else unseen
    who = f"action {index}: player {mover}"
    if is_discard(action) and action >= KNOCK:
        raise IllegalActionError(f"{who}, {describe(action)}: a knock ends the hand")
    reason = illegality(public, view["private"], action)
    if reason == NOT_IN_HAND and mover != player:
        raise IllegalActionError(f"{who}, {describe(action)}: that card is elsewhere (hand or pile)")
    if reason != LEGAL:
        raise IllegalActionError(f"{who}, {explain_illegal(view, action)}")
    shown = int(public["shown"][1 - player])
    is_unknown = is_discard(action) and not shown >> action & 1
    if mover != player and is_unknown and not cards_missing(public, player):
        raise IllegalActionError(f"{who}, {describe(action)}: all of that player's cards are known")
    if card != NO_CARD and not unseen & ~shown & 1 << card:
        raise IllegalActionError(f"{who} drew {card_text(card)}, which is not in the stock")
