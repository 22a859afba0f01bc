"""Positions described in text or taken from a record, and the actions that bots would play in them."""

from __future__ import annotations

import re

from gin_env.agents.turns import chosen_actions as chosen_actions
from gin_env.game.actions import DRAW_STOCK, DRAW_UPCARD, PASS, parse
from gin_env.game.cards import card_id, mask_of
from gin_env.game.rules import Rules
from gin_env.observations.views import PlayerView
from gin_env.records import GameRecord, Position


def decisions(game: GameRecord) -> list[Position]:
    """Return the positions in which a player made a decision, in order: the steps of the game."""
    return [position for position in game.positions() if position.is_decision]


def position_in_text(
    hand: str,
    upcard: str | None,
    history: str = "",
    drew: str = "",
    you_deal: bool = False,
    scores: str = "0 0",
    rules: Rules | None = None,
) -> PlayerView:
    """Return the view of player 0.

    Parameters
    ----------
    hand : the cards as dealt, as in ``"4C 5C 6C ..."``; one more is the card just drawn, before a discard.
    upcard : the card turned up at the deal.
    history : actions of both players since the deal, in words, separated by semicolons.
    drew : the player's cards from the stock, in order.
    scores : the player's score and the opponent's.

    Raises ValueError for a text that is not a position.
    """
    if upcard is None:
        raise ValueError("--hand needs --upcard, the card that was turned up at the deal")
    turned = card_id(upcard)
    held = [card_id(word) for word in re.split(r"[\s,]+", hand.strip())]
    draws = [card_id(word) for word in re.split(r"[\s,]+", drew.strip()) if word]
    acts = [parse(" ".join(words.split())) for words in history.split(";") if words.strip()]
    both = re.split(r"[\s,:]+", scores.strip())
    if len(both) != 2 or not all(re.fullmatch("[0-9]+", word) for word in both):
        raise ValueError(
            f"--scores must be two numbers, yours and your opponent's, as in '40 25', not {scores!r}"
        )
    rules = rules or Rules()
    if len(held) == rules.hand_size + 1:
        if acts or draws or you_deal:
            raise ValueError(
                f"a hand of {len(held)} cards is a position at the first discard: with --history, --drew or "
                f"--you-deal give the {rules.hand_size} that were dealt"
            )
        drawn = held.pop()
        if drawn == turned:
            acts = [DRAW_UPCARD]
        else:
            acts = [PASS, PASS, DRAW_STOCK] if rules.opening_offer else [DRAW_STOCK]
            draws = [drawn]
    return PlayerView.from_history(
        mask_of(held),
        turned,
        acts,
        draws,
        player=0,
        dealer=0 if you_deal else 1,
        scores=(int(both[0]), int(both[1])),
        rules=rules,
    )
