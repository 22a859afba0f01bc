"""Tables of explained positions in plain text."""

from __future__ import annotations

import textwrap
from collections.abc import Iterable, Mapping, Sequence

import numpy as np

from gin_env.game.actions import describe
from gin_env.support.plots import table
from gin_env.ui.explanations import RankedChoice

NONE = "-"
WIDTH = 100
LEGEND = {
    "deadwood": "of the hand that the action leaves (drawing the upcard: after the best discard)",
    "outs": "unseen cards that complete a meld and lower the deadwood",
    "knock": "share of the unseen cards after which a knock is possible",
    "gin": "unseen cards that make gin",
    "danger": "melds of three that the opponent may complete with the card, given the other two",
    "risk": "the same, weighted with the estimated probability that the opponent holds the other two",
}
"""Meaning of each column."""


def explanation(
    choices: Sequence[RankedChoice], values: Mapping[str, np.ndarray], chances: Mapping[str, np.ndarray]
) -> str:
    """Return the table as text, with a line for each action, the best first.

    Parameters
    ----------
    choices : the legal actions.
    values : by bot, (107,) points of each action. The first bot's values determine the order of the actions;
        if there are none, the deadwood does.
    chances : by bot, (107,) probabilities of each action.
    """
    ranking = next(iter(values.values()), None)

    def order(choice: RankedChoice) -> tuple[float, int, int]:
        worth = np.nan if ranking is None else ranking[choice.action]
        deadwood = 999 if choice.deadwood is None else choice.deadwood
        return (np.inf if np.isnan(worth) else -float(worth), deadwood, choice.action)

    with_risk = any(choice.risk is not None for choice in choices)
    header = ["action", *(name for name in LEGEND if name != "risk" or with_risk), *values, *chances]
    rows = []
    for choice in sorted(choices, key=order):
        knock = None if choice.knock_chance is None else f"{100 * choice.knock_chance:.0f} %"
        risk = None if choice.risk is None else f"{choice.risk:.2f}"
        row = [describe(choice.action)]
        row += map(_text, (choice.deadwood, choice.outs, knock, choice.gin_outs, choice.danger))
        row += [_text(risk)] if with_risk else []
        row += [_number(worth[choice.action], "{:+.1f}", 1) for worth in values.values()]
        row += [_number(share[choice.action], "{:.1f} %", 100) for share in chances.values()]
        rows.append(row)
    return table(header, rows, left=(0,))


def legend(with_risk: bool, values: Iterable[str], chances: Iterable[str]) -> str:
    """Return the meaning of the columns, one per line; `values` and `chances` are names of bots."""
    meanings = {name: meaning for name, meaning in LEGEND.items() if name != "risk" or with_risk}
    meanings |= dict.fromkeys(values, "points of this hand that this bot expects after the action")
    meanings |= dict.fromkeys(chances, "probability that this bot chooses the action")
    width = max(map(len, meanings))
    return "\n".join(f"{name:{width}}  {meaning}" for name, meaning in meanings.items())


def bots_text(played: Mapping[str, int]) -> str:
    """Return the bots that play each action, as text; `played` is the action by bot."""
    lines = []
    for action in dict.fromkeys(played.values()):
        bots = ", ".join(name for name, other in played.items() if other == action)
        lines.append(
            textwrap.fill(
                f"{describe(action)}: {bots}", WIDTH, subsequent_indent="    ", break_on_hyphens=False
            )
        )
    return "\n".join(lines)


def _text(value: object) -> str:
    return NONE if value is None else str(value)


def _number(value: float, form: str, scale: int) -> str:
    return NONE if np.isnan(value) else form.format(scale * value)
