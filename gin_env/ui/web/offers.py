"""What the dialog for a new game offers: opponents and rules."""

from __future__ import annotations

from typing import Any

from gin_env.game.rules import Rules
from gin_env.game.words import rules_in_words
from gin_env.ui.opponents import OPPONENTS, find_opponent

TITLES = {
    "eaai": "Gin Rummy",
    "bicycle": "Bicycle rules",
    "oklahoma": "Oklahoma gin",
    "straight": "Straight gin",
    "palace": "Gin Rummy Palace",
}
"""Titles of the presets that are offered."""
FROM_COMMAND_LINE = "From the command line"
Json = dict[str, Any]


def opponents(own: str) -> list[Json]:
    """Return the opponents to choose from; `own` is the bot named on the command line."""
    offered = [one._asdict() | {"available": one.available} for one in OPPONENTS]
    if find_opponent(own) is None:
        offered.append(
            {"name": own, "level": FROM_COMMAND_LINE, "bot": own, "rating": None, "available": True}
        )
    return offered


def variants(own: Rules) -> dict[str, Rules]:
    """Return the rules to choose from by their text; `own` are the rules of the command line."""
    titled = [rules for name, rules in Rules.presets().items() if name in TITLES]
    return {rules.text: rules for rules in (*titled, own)}


def describe_variants(own: Rules) -> list[Json]:
    """Return the variants with a title, a summary and all rules in words."""
    return [
        {
            "name": name,
            "title": TITLES.get(name, FROM_COMMAND_LINE),
            "summary": summary(rules),
            "words": rules_for_people(rules),
        }
        for name, rules in variants(own).items()
    ]


def rules_for_people(rules: Rules) -> str:
    """Return the rules in words with the ten as the cards show it."""
    words = rules_in_words(rules).replace(" TH is the ten of hearts.", "")
    return words.replace(" T J Q K", " 10 J Q K")


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
