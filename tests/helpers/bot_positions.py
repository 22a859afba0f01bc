"""Positions for the tests of the bots, and the actions of a bot in them."""

from __future__ import annotations

import numpy as np
from hands_in_words import Table, action_text

from gin_env import agents, cards
from gin_env.estimators import logistic


def mask(text: str) -> int:
    return cards.parse(text)


def facing(hand: str, upcard: str, stock: str = "") -> Table:
    """Player 0 holds the hand and is offered the upcard; the opponent holds some of the other cards."""
    named = set(f"{hand} {upcard} {stock}".split())
    others = [text for text in cards.format(cards.FULL_DECK).split() if text not in named]
    return Table(hand, " ".join(others[::3][:10]), upcard, stock)


def holding(hand: str, drawn: str, upcard: str) -> Table:
    """Player 0 has drawn a card from the stock after two passes and must discard."""
    return facing(hand, upcard, drawn).play("pass", "pass", "draw")


def choices(table: Table, bot: str, count: int = 40, **params) -> set[str]:
    """Return all actions of the bot in this position over many random numbers, in words."""
    views = table.games.views(np.zeros(count, np.int64))
    views.array["random"] = np.random.default_rng(3).integers(0, 2**64, count, dtype=np.uint64)
    return {action_text(int(number)) for number in agents.make(bot, **params).act(views)}


def view_of(table: Table):
    return table.games.views(np.zeros(1, np.int64)).array[0]


def logistic_values(
    table: Table, increment=0.0, decrement=0.0, decline=0.0, depth_growth=0.0
) -> dict[str, float]:
    """Return the values other than 0 of the logistic estimator, from player 0's view."""
    view, values = view_of(table), np.empty(52)
    changes = logistic.Changes(increment, decrement, decline, depth_growth)
    logistic.write_values(view["public"], view["private"], 0, changes, values)
    return {cards.card_text(card): values[card] for card in np.flatnonzero(values).tolist()}


def later(table: Table, turns: int) -> Table:
    """Return the position as if this number of turns had been played before it."""
    table.games.state["public"]["turn"][0] += 2 * turns
    return table
