"""How each shipped table and network was made."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from datetime import date
from types import ModuleType
from typing import Any

import numpy as np

from gin_env.agents import Agent
from gin_env.game.rules import Rules
from gin_env.matches.provenance import describe_bot
from gin_env.support.version import __version__

Progress = Callable[[int], object]
"""Called with the number of games, hands or states since the last call."""


def silent(number: int) -> None:
    """Report no progress.

    >>> silent(10)
    """


def derived_seed(*numbers: int) -> int:
    """Return another seed for each seed and numbers of parts of a recipe.

    >>> derived_seed(1, 0) == derived_seed(1, 1)
    False
    """
    return int(np.random.SeedSequence(numbers).generate_state(1, np.uint64)[0])


def rules_option(rules: Rules | None) -> str:
    """Return the option for these rules at the end of a command; an empty text for the default.

    >>> rules_option(Rules(knock_limit=7)), rules_option(None)
    (' --rules knock_limit=7', '')
    """
    return "" if rules in (None, Rules()) else f" --rules {rules.text}"


def provenance(
    command: str, seed: int, players: Iterable[str | Agent], library: ModuleType = np
) -> dict[str, Any]:
    """Return the metadata of what a command has trained, with a library, on games of these bots.

    >>> provenance("cfr table.npz", seed=1, players=["simple"])["command"]
    'python -m research train cfr table.npz'
    """
    return {
        "command": f"python -m research train {command}",
        "seed": seed,
        "players": [describe_bot(bot, programs=True) for bot in players],
        "date": date.today().isoformat(),
        "versions": {"gin_env": __version__, library.__name__: library.__version__},
    }
