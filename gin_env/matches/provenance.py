"""Which bot played: its name with every parameter, the files that it plays by, a hash of its decisions.

A name such as ``tonic`` says little once its defaults have changed. So whatever is measured or trained stores
`describe_bot` of the bots that took part. `changes` says what has become of such a bot since.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import gin_env.agents as bots
from gin_env import estimators
from gin_env.agents import Agent
from gin_env.agents.paper import PAPER_BOTS
from gin_env.agents.simple import VARIABLE_KNOCK
from gin_env.matches.fixed_positions import decision_hash
from gin_env.support import specs

_PACKAGES = (("agents", bots), ("estimators", estimators))
FOLDERS = {name: Path(package.__path__[0]) for name, package in _PACKAGES}
"""The folders of packaged files; in a checkout agents/ is beside gin_env/."""
_CFR_TABLES = {"cfr": "paper", "fitness-cfr": "paper", "heuristics": "paper", "cfr-plus": "plus"}


def describe_bot(bot: str | Agent, *, programs: bool = False) -> dict[str, Any]:
    """What identifies a bot named as in `gin_env.agents.make`, for JSON.

    ``bot``: the name as given; ``spelled``: with all parameters (`spell_out_bot`); ``estimator``: the same
    for its estimator, if it has one; ``files``: the SHA-256 of every file that it plays by; ``decisions``:
    `gin_env.matches.fixed_positions.decision_hash`. Of a bot made as an object there are ``bot``, its name,
    ``made_by``, its class, and ``decisions``. `programs` and errors are those of `gin_env.agents.resolve`.
    """
    if not isinstance(bot, str):
        made_by = f"{type(bot).__module__}.{type(bot).__qualname__}"
        return {"bot": bot.name, "made_by": made_by, "decisions": decision_hash(bot)}
    name, params = _base_and_parameters(bot)
    described: dict[str, Any] = {"bot": bot, "spelled": spell_out_bot(bot)}
    files = _files_of_bot(name, params)
    if "estimator" in params:
        estimator = params["estimator"] or _estimator_of(str(params["network"]))
        described["estimator"] = spell_out_estimator(estimator)
        files += _files_of_estimator(estimator)
    described["files"] = {label: _sha256(path) for label, path in sorted(map(_labelled, files))}
    described["decisions"] = decision_hash(bot, programs=programs)
    return described


def describe_estimator(text: str) -> dict[str, Any]:
    """The same for an estimator, which makes no decisions: ``estimator``, ``spelled`` and ``files``."""
    files = _files_of_estimator(text)
    return {
        "estimator": text,
        "spelled": spell_out_estimator(text),
        "files": {label: _sha256(path) for label, path in sorted(map(_labelled, files))},
    }


def changes(stored: Mapping[str, Any]) -> list[str]:
    """What has changed since `describe_bot` or `describe_estimator` said this: a line for each difference.

    Nothing is known of a bot that was made as an object, and of a program nothing is asked: it is not run.
    """
    if "made_by" in stored or bots.starts_program(str(stored.get("bot"))):
        return []
    key = "bot" if "bot" in stored else "estimator"
    text = stored[key]
    try:
        now = describe_bot(text) if key == "bot" else describe_estimator(text)
    except (ValueError, TypeError, OSError) as error:
        return [f"{text}: {error}"]
    words = {"spelled": "parameters", "estimator": "estimator", "files": "files", "decisions": "decisions"}
    return [
        f"{text}: other {words[part]} now: {now.get(part)}, stored {stored.get(part)}"
        for part in words
        if now.get(part) != stored.get(part)
    ]


def spell_out_bot(text: str) -> str:
    """A bot's name with all parameters, those left at their defaults too, in the order of its class.

    A frozen name is spelled as the bot that it stands for, ``knock_at=variable`` with its numbers. The path
    of a policy stays as it is. `gin_env.agents.make` reads the result unless an estimator in it has two
    parameters or more.
    """
    name, params = _base_and_parameters(text)
    return specs.spell(name, params) if params else name


def spell_out_estimator(text: str) -> str:
    """The same for an estimator's name."""
    name, given = specs.parse(text, "estimator")
    params = (estimators.parameters(name) or {}) | given
    return specs.spell(name, params) if params else name


def _base_and_parameters(text: str) -> tuple[str, dict[str, Any]]:
    """(name, all parameters); the frozen readings under the name of their bot, a program as it is."""
    if bots.starts_program(text):
        return text, {}
    name, given = specs.parse(text)
    if name.endswith(specs.POLICY_ENDINGS):
        return name, given
    params = (bots.parameters(name) or {}) | given
    if params.get("knock_at") == "variable":
        params["knock_at"] = VARIABLE_KNOCK
    return PAPER_BOTS[name][0] if name in PAPER_BOTS else name, params


def _files_of_bot(name: str, params: Mapping[str, Any]) -> list[Path]:
    """The files that a bot plays by, without those of its estimator."""
    if name.endswith(specs.POLICY_ENDINGS):
        return [Path(name)]
    agents_folder = FOLDERS["agents"]
    if name == "policy":
        return [agents_folder / "data" / "policy.safetensors"]
    packaged = {
        "table": agents_folder / "cfr" / "data" / f"cfr_{_CFR_TABLES.get(name)}.npz",
        "weights": agents_folder / "generations" / "data" / "generation.safetensors",
    }
    found = [
        path if params[key] is None else Path(params[key]) for key, path in packaged.items() if key in params
    ]
    if "network" in params:
        network = str(params["network"])
        folder = agents_folder / "hand_strength" / "data"
        found.append(Path(network) if network.endswith(".safetensors") else folder / f"{network}.safetensors")
    return found


def _files_of_estimator(text: str) -> list[Path]:
    name, given = specs.parse(text, "estimator")
    params = (estimators.parameters(name) or {}) | given
    folder = FOLDERS["estimators"] / "data"
    found = []
    if "weights" in params:
        weights = str(params["weights"])
        packaged = folder / f"{name.replace('-', '_')}_{weights}.safetensors"
        found.append(Path(weights) if weights.endswith(".safetensors") else packaged)
    if "table" in params:
        packaged = folder / (
            "ensemble_simple.npz" if params["table"] is None else f"frequencies_{params['table']}.npz"
        )
        found.append(Path(params["table"]) if str(params["table"]).endswith(".npz") else packaged)
    for member in params.get("members", ()):
        found += _files_of_estimator(member)
    return found


def _estimator_of(network: str) -> str:
    """The estimator with which a hand-strength network was trained."""
    from gin_env.agents.hand_strength.weights import find_network, trained_with

    return trained_with(network, find_network(network)[1])


def _labelled(path: Path) -> tuple[str, Path]:
    """(the path inside the package, or as it was given; the path)."""
    path = Path(path)
    for name, folder in FOLDERS.items():
        if path.is_relative_to(folder):
            return f"{name}/{path.relative_to(folder).as_posix()}", path
    return str(path), path


def _sha256(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()
