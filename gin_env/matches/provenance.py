"""Identification of bots: the name with all parameters, the files it uses, and a hash of its decisions.

A name such as ``tonic`` says little once its defaults have changed. Everything that is measured or trained
therefore stores `describe_bot` of the bots that took part.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import gin_env.agents as bots
from gin_env import estimators
from gin_env.agents import Agent, AnyAgent
from gin_env.agents.paper import PAPER_BOTS
from gin_env.agents.simple import VARIABLE_KNOCK
from gin_env.matches.fixed_positions import MANY_HANDS, decision_hash
from gin_env.support import specs

FOLDERS = {"agents": Path(bots.__path__[0]), "estimators": Path(estimators.__path__[0])}
"""The folders of packaged files."""


def describe_bot(bot: AnyAgent, *, programs: bool = False) -> dict[str, Any]:
    """Return what identifies a bot named as in `gin_env.agents.make`, for JSON.

    ``bot``: the name as given; ``spelled``: with all parameters (`spell_out_bot`); ``estimator``: the same
    for its estimator, if it has one; ``files``: the SHA-256 of every file that it plays by; ``decisions``:
    `gin_env.matches.fixed_positions.decision_hash`; ``game_decisions``: that in the middle of games, where
    score and memory matter; ``many_decisions``: that of ten times the positions, None for a bot that takes
    minutes for them (`SLOW`) and for a program or a class of your own. A language model has no hash. A bot
    made as an object has ``bot``, its name, ``made_by``, its class, and the hashes. `programs` and errors are
    those of `gin_env.agents.resolve`.
    """
    if not isinstance(bot, str):
        made_by = f"{type(bot).__module__}.{type(bot).__qualname__}"
        agent = bots.resolve(bot)
        return {"bot": agent.name, "made_by": made_by, **_hashes_of(agent, many=True)}
    agent, is_own = bots.resolve(bot, programs=programs), bots.starts_program(bot)
    described: dict[str, Any] = {"bot": bot, "spelled": spell_out_bot(bot)}
    estimator = getattr(agent, "estimator", None)
    if estimator is not None and not is_own:
        described["estimator"] = spell_out_estimator(estimator.name)
    described["files"] = hash_files(specs.files_of(agent))
    if bot.startswith(bots.CHAT):
        return described | dict.fromkeys(("decisions", "game_decisions", "many_decisions"))
    return described | _hashes_of(agent, many=not is_own)


def hash_files(paths: Iterable[Path]) -> dict[str, str]:
    """Return the SHA-256 of every file, such as those of a bot, by its path in the package or as given."""
    labelled = {}
    for path in paths:
        inside = [name for name, folder in FOLDERS.items() if path.is_relative_to(folder)]
        label = f"{inside[0]}/{path.relative_to(FOLDERS[inside[0]]).as_posix()}" if inside else str(path)
        labelled[label] = hashlib.sha256(path.read_bytes()).hexdigest()
    return dict(sorted(labelled.items()))


SLOW = ("gin_env.agents.search",)
"""Modules of bots that take minutes for ten times the positions."""


def _hashes_of(bot: Agent, many: bool) -> dict[str, str | None]:
    many = many and not type(bot).__module__.startswith(SLOW)
    return {
        "decisions": decision_hash(bot),
        "game_decisions": decision_hash(bot, in_games=True),
        "many_decisions": decision_hash(bot, MANY_HANDS) if many else None,
    }


def spell_out_bot(text: str) -> str:
    """Return a bot's name with all parameters, defaults included, in the order of its class.

    A frozen name is spelled as the bot that it stands for, ``knock_at=variable`` with its numbers. The path
    of a policy stays as it is. `gin_env.agents.make` reads the result unless an estimator in it has two
    parameters or more.
    """
    name, params = _base_and_parameters(text)
    return specs.spell(name, params) if params else name


def spell_out_estimator(text: str) -> str:
    """Return an estimator's name with all parameters."""
    name, params = _estimator_and_parameters(text)
    return specs.spell(name, params) if params else name


def _base_and_parameters(text: str) -> tuple[str, dict[str, Any]]:
    """Return name and parameters; frozen readings under the name of their bot, other code unchanged."""
    if bots.starts_program(text):
        return text, {}
    name, given = specs.parse(text)
    if name.endswith(specs.POLICY_ENDINGS):
        return name, given
    params = (bots.parameters(name) or {}) | given
    if params.get("knock_at") == "variable":
        params["knock_at"] = VARIABLE_KNOCK
    return PAPER_BOTS[name].bot if name in PAPER_BOTS else name, params


def _estimator_and_parameters(text: str) -> tuple[str, dict[str, Any]]:
    name, given = specs.parse(text, "estimator")
    return name, (estimators.parameters(name) or {}) | given
