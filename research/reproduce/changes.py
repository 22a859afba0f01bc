"""What has changed in a bot or an estimator since its description was stored."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from typing import Any

import numpy as np

from gin_env import agents, estimators
from gin_env.agents import Agent
from gin_env.agents.declared_bots import BOTS
from gin_env.matches.fixed_positions import fixed_views, game_views, hash_of
from gin_env.matches.provenance import describe_bot, hash_files, spell_out_bot, spell_out_estimator
from gin_env.support.specs import files_of

NUM_FIGURES = 8


def estimate_figures(estimator: str) -> list[float]:
    """Return eight weighted means of the estimates that an estimator makes in `fixed_views`.

    The weights are -1 or 1, from SHA-256. Unlike a hash the figures of a network move by no more than its
    rounding from one machine to another. Raises as `gin_env.estimators.make` does.
    """
    estimates = estimators.make(estimator).estimate(fixed_views()).astype(np.float64).ravel()
    seeds = [hash_of(f"weights {figure}") for figure in range(NUM_FIGURES)]
    bits = [np.random.Philox(key=seed).random_raw(len(estimates)) & np.uint64(1) for seed in seeds]
    return [round(float((estimates * (2.0 * bit - 1.0)).mean()), 7) for bit in bits]


def describe_estimator(text: str) -> dict[str, Any]:
    """Return what identifies an estimator, for JSON: ``estimator``, ``spelled``, ``files`` and ``says``.

    The first three are as in `describe_bot`; ``says`` is `estimate_figures`, None for an estimator that must
    see the opponent's hand.
    """
    return {
        "estimator": text,
        "spelled": spell_out_estimator(text),
        "files": hash_files(files_of(estimators.make(text))),
        "says": None if text.startswith("omniscient") else estimate_figures(text),
    }


def changes(stored: Mapping[str, Any], made: Agent | None = None) -> list[str]:
    """Return a line for each difference from a description by `describe_bot` or `describe_estimator`.

    A bot that was made as an object is compared with `made`, the same bot made again, and not without it.
    Programs and classes of your own are not run.
    """
    if ("made_by" in stored and made is None) or agents.starts_program(str(stored.get("bot"))):
        return []
    text, spelled = stored.get("bot") or stored["estimator"], stored.get("spelled")
    try:
        now = describe_bot(made or text) if "bot" in stored else describe_estimator(text)
    except (ValueError, TypeError, OSError) as error:
        return [f"{text}: {error}"]
    if spelled is not None:
        spell_out = spell_out_bot if "bot" in stored else spell_out_estimator
        with suppress(ValueError):  # a parameter that no longer exists
            # Parameters that have been added since are at their defaults.
            stored = {**stored, "spelled": spell_out(spelled)}
    return [
        f"{text}: different {word} now: {now.get(part)}, stored {stored[part]}"
        for part, word in _COMPARED.items()
        if part in stored and not _same(now.get(part), stored[part])
    ]


def not_compared(stored: Mapping[str, Any], made: Agent | None = None) -> str | None:
    """Return what `changes` cannot see of a bot with this description, in words; None if nothing."""
    text = str(stored.get("bot", ""))
    if "made_by" in stored and made is None:
        return "bots that the experiment trained or changed"
    if agents.starts_program(text):
        return f"{text}, a program or a class"
    if "game_decisions" not in stored and sees_games(made or agents.resolve(text)):
        return f"what {text} decides after the first hand of a game"
    if "many_decisions" in stored and stored["many_decisions"] is None:
        return f"rare decisions of {text}, which has no hash of many positions"
    return None


def sees_games(bot: Agent) -> bool:
    """Return whether score or memory changes any decision of a bot in `game_views`."""
    view, first_hands = game_views(), game_views()
    for field in ("scores", "boxes", "memory", "hand_number"):
        first_hands.array["public"][field] = 0
    return bool((bot.act(view) != bot.act(first_hands)).any())


def named_alike(bot: Agent) -> str | None:
    """Return the name of the packaged bot with the class of `bot`, or with a class that it extends.

    Returns None for a class of its own. The decisions of the packaged bot replace those of a bot whose
    weights are not kept: they change with the code that plays.
    """
    names = {
        f"{BOTS.package}.{declared.factory.replace(':', '.')}": name
        for name, declared in reversed(list(BOTS.declarations.items()))
    }
    names |= {factory.rpartition(".")[0]: name for factory, name in names.items()}  # of classmethods
    classes = (f"{kind.__module__}.{kind.__qualname__}" for kind in type(bot).__mro__)
    return next((names[kind] for kind in classes if kind in names), None)


_COMPARED = {
    "spelled": "parameters",
    "files": "files",
    "decisions": "decisions",
    "many_decisions": "decisions in many positions",
    "game_decisions": "decisions in the middle of games",
    "says": "estimates",
}
"""Parts of a description, some of which older ones lack, and their names."""
_TOLERANCE = 1e-6
"""Of `estimate_figures`: machines differ by about 1e-8."""


def _same(now: Any, stored: Any) -> bool:
    if isinstance(now, list) and isinstance(stored, list) and len(now) == len(stored):
        return all(abs(one - other) <= _TOLERANCE for one, other in zip(now, stored, strict=True))
    return bool(now == stored)
