"""Identification of bots: the name with all parameters, the files it uses, and a hash of its decisions.

A name such as ``tonic`` says little once its defaults have changed. Everything that is measured or trained
therefore stores `describe_bot` of the bots that took part.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import gin_env.agents as bots
from gin_env import estimators
from gin_env.agents import Agent, AnyAgent
from gin_env.agents.paper import PAPER_BOTS
from gin_env.agents.process import PREFIX
from gin_env.agents.registry import BOTS
from gin_env.agents.simple import VARIABLE_KNOCK
from gin_env.estimators.registry import ESTIMATORS
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
    described: dict[str, Any] = {"bot": bot, "spelled": spell_out_bot(bot)}
    estimator = _estimator_of_bot(bot)
    if estimator is not None:
        described["estimator"] = spell_out_estimator(estimator)
    described["files"] = hash_files(bot)
    if bot.startswith(bots.CHAT):
        return described | dict.fromkeys(("decisions", "game_decisions", "many_decisions"))
    return described | _hashes_of(bots.resolve(bot, programs=programs), not bots.starts_program(bot))


def hash_files(name: str, estimator: bool = False) -> dict[str, str]:
    """Return the SHA-256 of every file that a named bot or estimator reads. Raises as its `make` does."""
    return _hashes(_files_of_estimator(name) if estimator else _files_of_bot(name))


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


def _files_of_bot(text: str) -> list[Path]:
    """Return the files that a bot reads, with those of its estimator and, of a search, of its bots.

    What other code reads is not known, except the weights of a network of the user's own class.
    """
    name, params = _base_and_parameters(text)
    if bots.starts_program(text):
        if text.startswith((PREFIX, bots.CHAT)):
            return []
        own = specs.OWN_CLASS.match(text)
        policy, params = specs.parse(text, name=own and own[0])
        if policy.endswith(specs.POLICY_ENDINGS):  # with an estimator of the user's own
            return [Path(policy)]
        weights = params.get("weights")
        return [Path(weights)] if isinstance(weights, str) else []
    if name.endswith(specs.POLICY_ENDINGS):
        return [Path(name)]
    files = BOTS.files(name, params)
    estimator = _estimator_of_bot(text)
    if estimator is not None:
        files += _files_of_estimator(estimator)
    if name == "search":
        files += _files_of_search(params)
    return files


def _files_of_search(params: Mapping[str, Any]) -> list[Path]:
    """Return the files of the policy of a search, of its assumed opponents and of their estimators."""
    from gin_env.agents.search.small_networks import MODELS, PACKAGED, UNKNOWN, estimators_for

    opponent = params["policy"] if params["opponent"] is None else params["opponent"]
    files = [PACKAGED]
    for bot in (params["policy"], *(MODELS if opponent == UNKNOWN else (opponent,))):
        files += _files_of_bot(bot)
    if params["estimator"] is None:
        files += [file for each in estimators_for(opponent) for file in _files_of_estimator(each)]
    return files


def _files_of_estimator(text: str) -> list[Path]:
    name, params = _estimator_and_parameters(text)
    files = ESTIMATORS.files(name, params)
    for member in params.get("members", ()):
        files += _files_of_estimator(member)
    return files


def _estimator_of_bot(text: str) -> str | None:
    """Return the name of a bot's estimator; by default that of its hand-strength network.

    Returns None for a search that has those of its opponents.
    """
    params = _base_and_parameters(text)[1]
    if "network" not in params or params["estimator"] is not None:
        return params.get("estimator")
    from gin_env.agents.hand_strength.bots import find_network, trained_with

    network = str(params["network"])
    return trained_with(network, find_network(network)[1])


def _hashes(files: Iterable[Path]) -> dict[str, str]:
    """Return SHA-256 hashes by label (the path inside the package, or as given), in their order."""
    labelled = {}
    for path in files:
        inside = [name for name, folder in FOLDERS.items() if path.is_relative_to(folder)]
        label = f"{inside[0]}/{path.relative_to(FOLDERS[inside[0]]).as_posix()}" if inside else str(path)
        labelled[label] = hashlib.sha256(path.read_bytes()).hexdigest()
    return dict(sorted(labelled.items()))
