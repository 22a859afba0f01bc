"""Bots under other rules: every quick bot against Simple, and the policy that was trained for variants."""

from __future__ import annotations

from collections.abc import Sequence

from gin_env import agents
from gin_env.game.rules import Rules
from research.reproduce.experiment import (
    Experiment,
    Row,
    Run,
    by,
    games_of,
    in_order,
    interval,
    markdown,
    match_row,
)

PRESETS = ("eaai", "oklahoma", "straight", "bicycle")
GAMES = 2000


def measure_variants(run: Run) -> list[Row]:
    """Play a match of each bot that decides quickly against Simple, under each preset."""
    bots = [bot for bot in agents.quick_names() if bot != "simple"]
    run.used(*bots, "simple")
    rows = []
    for preset in run.some(PRESETS):
        for bot in run.some(bots):
            run.say(f"{bot} under {preset}")
            names = (bot, "simple")
            match = run.log.play(names, names, run.size(GAMES), run.seed, rules=Rules.preset(preset))
            rows.append(match_row(match, preset=preset))
    return rows


def variants_table(rows: Sequence[Row]) -> str:
    """Return a Markdown table with a row for each bot and a column for each preset."""
    presets, match_of = in_order(rows, "preset"), by(rows, "bot", "preset")
    lines = [
        [f"`{bot}`", *(interval(match_of.get((bot, preset), {}), 1) for preset in presets)]
        for bot in in_order(rows, "bot")
    ]
    return markdown(["games won against `simple`", *(f"`{preset}`" for preset in presets)], lines)


# --- The policy for variants ----------------------------------------------------------------------------

FOR_VARIANTS, POLICY = "policy-variants", "policy"
MATCHES = ((FOR_VARIANTS, POLICY), (FOR_VARIANTS, "simple"), (POLICY, "simple"))
GAMES_OF_POLICIES = 4000
GAMES_AT_THE_DEFAULT = 20_000
"""Games between the two policies under the default rules, where a difference would matter most."""


def measure_policies(run: Run) -> list[Row]:
    """Measure `policy-variants` against `policy`, and both against Simple, under each preset."""
    run.used(FOR_VARIANTS, POLICY, "simple")
    rows = []
    for preset, rules in run.some(list(Rules.presets().items())):
        for names in MATCHES:
            default = rules == Rules() and names == (FOR_VARIANTS, POLICY)
            games = GAMES_AT_THE_DEFAULT if default else GAMES_OF_POLICIES
            run.say(f"{' against '.join(names)} under {preset}")
            match = run.log.play(names, names, run.size(games), run.seed, rules=rules)
            rows.append(match_row(match, preset=preset))
    return rows


def policies_table(rows: Sequence[Row]) -> str:
    """Return a Markdown table with a row for each preset and a column for each match."""
    found = by(rows, "preset", "bot", "opponent")
    lines = [
        [f"`{preset}`", *(_cell(found.get((preset, *match), {})) for match in MATCHES)]
        for preset in in_order(rows, "preset")
    ]
    header = [f"`{bot}` against `{opponent}`" for bot, opponent in MATCHES]
    return markdown(["games won", *header], lines)


def _cell(row: Row) -> str:
    return interval(row, 1) + games_of(row, GAMES_OF_POLICIES)


EXPERIMENTS = [
    Experiment(
        "variants",
        "Every bot against Simple under other rules",
        measure_variants,
        variants_table,
        GAMES,
        "a minute",
    ),
    Experiment(
        "policy-variants",
        "The policy for variants and the policy for the default rules",
        measure_policies,
        policies_table,
        GAMES_OF_POLICIES,
        "two minutes",
    ),
]
