"""What the dialog for a new game offers: opponents and rules."""

from __future__ import annotations

import importlib.util
from typing import Any

from gin_env.game.rules import Rules
from gin_env.game.words import rules_in_words

LEVELS = {
    "Easy": "random-discard",
    "Medium": "simple",
    "Hard": "tonic",
    "Very hard": "policy",
    "Expert": "search",
}
NEEDS_TORCH = ("policy", "search")
TITLES = {
    "eaai": "Gin Rummy",
    "bicycle": "Bicycle rules",
    "oklahoma": "Oklahoma gin",
    "straight": "Straight gin",
    "palace": "Gin Rummy Palace",
    "openspiel": "OpenSpiel's rules",
    "gin_rummy_v4": "PettingZoo's rules",
}
"""Titles of the presets; a preset without one is offered by its name."""
FROM_COMMAND_LINE = "From the command line"
Json = dict[str, Any]


def opponents(own: str) -> list[Json]:
    """Return the opponents to choose from; `own` is the bot named on the command line."""
    have_torch = importlib.util.find_spec("torch") is not None
    offered = [
        {"level": level, "bot": bot, "available": have_torch or bot not in NEEDS_TORCH}
        for level, bot in LEVELS.items()
    ]
    if own not in LEVELS.values():
        offered.append({"level": FROM_COMMAND_LINE, "bot": own, "available": True})
    return offered


def variants(own: Rules) -> dict[str, Rules]:
    """Return the rules to choose from by their text; `own` are the rules of the command line."""
    return {rules.text: rules for rules in (*Rules.presets().values(), own)}


def describe_variants(own: Rules) -> list[Json]:
    """Return the variants with a title, a summary and all rules in words."""
    return [
        {
            "name": name,
            "title": TITLES.get(name, name if name in Rules.presets() else FROM_COMMAND_LINE),
            "summary": summary(rules),
            "words": rules_in_words(rules),
        }
        for name, rules in variants(own).items()
    ]


def summary(rules: Rules) -> str:
    """Return the numbers of the rules that players ask for first, in one line.

    Examples
    --------
    >>> summary(Rules())
    '100 points win; knock with 10 or less; gin scores 25, an undercut 25'
    """
    if rules.oklahoma:
        knock = "the first upcard sets the limit for a knock"
    else:
        knock = f"knock with {rules.knock_limit} or less" if rules.knock_limit else "no knocking, only gin"
    parts = [
        f"{rules.target_score} points win",
        knock,
        f"gin scores {rules.gin_bonus}, an undercut {rules.undercut_bonus}",
    ]
    if rules.spades_double:
        parts.append("all double if the first upcard is a spade")
    if rules.box_bonus:
        parts.append(f"each hand won scores {rules.box_bonus} more")
    if rules.game_bonus:
        parts.append(f"the game {rules.game_bonus} more")
    return "; ".join(parts)
