"""The table of docs/rules.md that shows which check covers which preset.

    python tests/helpers/preset_checks.py     # write the table into the page

Everything in it is read from the checks themselves.
"""

from __future__ import annotations

import re
from dataclasses import fields
from pathlib import Path

import openspiel
import perft
from played_positions import POLICIES, played
from rule_variants import VARIANTS

from gin_env import Rules, agents
from gin_env.batch import Games

PAGE = Path(__file__).parents[2] / "docs" / "rules.md"
BLOCK = re.compile(r"(<!-- checks -->\n).*?(<!-- end -->)", re.DOTALL)
REFERENCE_SEED, REFERENCE_DECISIONS = 11, 250
"""Seed and maximum length of the games that are compared with the slow reference."""
OPENSPIEL_DECISIONS = 3000
"""Minimum number of decisions that are compared under each setting of OpenSpiel's game."""
OF_GAMES = {
    "target_score",
    "max_hands",
    "next_dealer",
    "void_dealer",
    "box_bonus",
    "game_bonus",
    "shutout_bonus",
    "shutout_doubles",
}
"""Rules that do not matter within one hand, which is all that OpenSpiel plays."""
OF_ACTIONS = {"knock_limit", "oklahoma", "ace_needs_gin", "stock_floor"}
"""Rules that decide which actions are legal."""


def reference_decisions(rules: Rules) -> int:
    """Return the number of decisions of the game that is compared with the slow reference."""
    games, bot, count = Games(1, rules, "game"), agents.make("simple"), 0
    games.start(seed=REFERENCE_SEED)
    while not games.done[0] and count < REFERENCE_DECISIONS:
        games.play(games.everyone, bot.act(games.views(games.everyone)))
        count += 1
    return count


def openspiel_setting(rules: Rules) -> str:
    """Return the setting of OpenSpiel's game that is closest to these rules, and the rules that differ."""
    differing = {
        name: [
            field.name
            for field in fields(Rules)
            if field.name not in OF_GAMES and getattr(setting, field.name) != getattr(rules, field.name)
        ]
        for name, (_, setting) in openspiel.VARIANTS.items()
    }
    best = min(differing, key=lambda name: (len(OF_ACTIONS & {*differing[name]}), len(differing[name])))
    apart = ", ".join(f"`{name}`" for name in differing[best])
    return f"{best}, except {apart}" if apart else best


def positions(rules: Rules) -> int:
    """Return the number of positions of the property tests and of the tests for leaks of hidden cards."""
    return sum(len(played(name).states) for name, (_, each, _) in POLICIES.items() if each == rules)


def checks_table() -> str:
    """Return the table in Markdown."""
    header = ["preset", "slow reference", "perft", "properties, hidden cards", "bots", "OpenSpiel"]
    nodes = perft.read()
    lines = [f"| {' | '.join(header)} |", "|---|---:|---:|---:|---:|---|"]
    for name, rules in Rules.presets().items():
        cells = [
            f"`{name}`",
            f"{reference_decisions(rules):,}",
            f"{sum(nodes[f'full, {name}'] + nodes[f'small, {name}']):,}",
            f"{positions(rules):,}",
            str(len(agents.names(slow=False))) if rules in VARIANTS.values() else "0",
            f"{OPENSPIEL_DECISIONS:,} ({openspiel_setting(rules)})",
        ]
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines)


def with_table(page: str) -> str:
    """Return the text of the page with the current table."""
    return BLOCK.sub(lambda block: f"{block[1]}\n{checks_table()}\n\n{block[2]}", page)


if __name__ == "__main__":
    PAGE.write_text(with_table(PAGE.read_text()))
