"""Explanations of actions: the hand that each action leaves, and the danger of the discarded card.

The numbers are the networks' features (`gin_env.observations.candidates`), in cards and points. `explanation`
writes them as a table in plain text.
"""

from __future__ import annotations

import textwrap
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from gin_env.estimators import resolve
from gin_env.estimators.base import Estimator
from gin_env.estimators.risk import discard_risks
from gin_env.game.actions import DRAW_STOCK, DRAW_UPCARD, describe
from gin_env.game.cards import NUM_CARDS
from gin_env.game.state import STOCK_ONLY
from gin_env.observations.candidates import NO_ACTION, part
from gin_env.observations.views import PlayerView
from gin_env.support.tables import table

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


@dataclass(frozen=True)
class RankedChoice:
    """A legal action with its numbers, which `LEGEND` describes.

    A number is None where it does not apply, such as outs after a knock.
    """

    action: int
    deadwood: int | None = None
    outs: int | None = None
    knock_chance: float | None = None
    gin_outs: int | None = None
    danger: int | None = None
    """For the card that is discarded or left on the pile; at most 6."""
    risk: float | None = None
    """See `gin_env.estimators.risk`."""


def choices(view: PlayerView, estimator: str | Estimator | None = None) -> list[RankedChoice]:
    """Return every legal action of the player to move, including its `risk` if an estimator is given.

    Raises ValueError unless `view` is a single view of a player to move.
    """
    if len(view) != 1:
        raise ValueError(f"view must be of one position, not of {len(view)}")
    legal = view.masks()[0]
    if not legal.any():
        raise ValueError(
            "the player of the view must be to move; the hand is over, or the other player is to move"
        )
    risks = None if estimator is None else discard_risks(resolve(estimator).estimate(view))[0]
    public = view.array["public"][0]
    if public["phase"] == STOCK_ONLY:
        return [RankedChoice(DRAW_STOCK)]
    rows, actions, _ = view.candidates()
    ranked: list[RankedChoice] = []
    for row, (plain, knock) in zip(rows[0], actions[0].tolist(), strict=True):
        if plain == NO_ACTION:
            continue
        left = plain if plain < NUM_CARDS else int(public["upcard"])
        takes = plain == DRAW_UPCARD  # the opponent gets no card yet
        danger = _whole(row, "sets_for_opponent", 3) + _whole(row, "runs_for_opponent", 3)
        ranked.append(
            RankedChoice(
                plain,
                deadwood=_whole(row, "deadwood", 50),
                outs=_whole(row, "outs", 12),
                knock_chance=float(part(row, "knock_outs")),
                gin_outs=_whole(row, "gin_outs", 6),
                danger=None if takes else danger,
                risk=None if takes or risks is None else float(risks[left]),
            )
        )
        if knock != NO_ACTION:
            ranked.append(RankedChoice(knock, ranked[-1].deadwood))
    return ranked


def _whole(row: np.ndarray, name: str, scale: int) -> int:
    """Return a feature of the row as an integer; it was divided by `scale`."""
    return round(float(part(row, name)) * scale)


# --- In plain text -------------------------------------------------------------------------------------


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
        row = [describe(choice.action), choice.deadwood, choice.outs, knock, choice.gin_outs, choice.danger]
        row += [risk] if with_risk else []
        row += [_number(worth[choice.action], "{:+.1f}", 1) for worth in values.values()]
        row += [_number(share[choice.action], "{:.1f} %", 100) for share in chances.values()]
        rows.append([NONE if cell is None else str(cell) for cell in row])
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


def _number(value: float, form: str, scale: int) -> str | None:
    return None if np.isnan(value) else form.format(scale * value)
