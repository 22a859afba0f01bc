"""Bots and networks of the user's own modules: ``module:Class``, with or without parameters.

>>> play_match("my_bots:Cautious:knock_at=5", "simple")
>>> play_match("my_networks:Net:weights=net.safetensors", "simple")

Naming one imports the module, which runs its code. So `gin_env.agents.make` does this only where a name may
start a program. A network (`torch.nn.Module`) is saved by `gin_env.agents.save_network`.
"""

from __future__ import annotations

import importlib
import re
import sys
from functools import partial
from pathlib import Path
from typing import Any

from gin_env.agents.base import Agent
from gin_env.agents.registry import OWN_NETWORK
from gin_env.support import specs

OWN_CLASS = re.compile(r"(?P<module>[A-Za-z_][\w.]*):(?P<name>[A-Za-z_]\w*)(?!\w|\s*=|[./\\])")
"""Matches ``module:Class`` at the start of a name; ``name:key=value`` and paths do not match."""


def make_own(text: str, params: dict[str, Any]) -> Agent:
    """Return a bot of the user's own class; its name is the text that makes it again.

    Parameters
    ----------
    text : matches `OWN_CLASS`. The module is looked for like any other module, then in the current folder.
    params : additional parameters.

    Raises ValueError for an unknown module or class and for invalid parameters, TypeError for unknown
    parameters and for objects that are not bots, and whatever the module or the class raises.
    """
    match = OWN_CLASS.match(text)
    if match is None:
        raise ValueError(f"bot {text!r} must be named module:Class")
    spelled = match[0]
    _, named = specs.parse(text, name=spelled)
    if twice := sorted(named.keys() & params.keys()):
        raise ValueError(f"bot {spelled!r}: the parameter {twice[0]!r} is given twice")
    params = named | params
    factory = _import_class(spelled, match["module"], match["name"])
    if _is_network(factory):
        from gin_env.agents.policies.own_network import load_own_network

        factory = partial(load_own_network, factory, spelled)
    specs.check_parameters(spelled, factory, params)
    bot = factory(**params)
    if not callable(getattr(bot, "act", None)):
        raise TypeError(f"bot {spelled!r} must have a method act(view); {type(bot).__name__} has none")
    try:
        bot.name = specs.spell(spelled, params) if params else spelled
    except AttributeError as error:
        raise TypeError(f"bot {spelled!r} must have an attribute name that can be set: {error}") from error
    return bot


def name_to_play(path: str | Path) -> str:
    """Return the name of the bot that plays a file of `gin_env.agents.save_network`."""
    saved = str(OWN_NETWORK.read_tensors(path)[1].get("class"))
    return f"{saved if OWN_CLASS.fullmatch(saved) else 'module:Class'}:weights={path}"


def _import_class(spelled: str, module: str, name: str) -> Any:
    """Return the class (or function) of this name."""
    folder = str(Path.cwd())
    if folder not in sys.path and "" not in sys.path:
        sys.path.append(folder)  # at the end, so that no file there replaces an installed module
    importlib.invalidate_caches()
    try:
        found = importlib.import_module(module)
    except ModuleNotFoundError as error:
        if error.name is None or not f"{module}.".startswith(f"{error.name}."):
            raise  # a module that the user's module imports
        raise ValueError(
            f"unknown bot {spelled!r}: no module {error.name!r} in {folder} or among the installed packages"
        ) from error
    made = getattr(found, name, None)
    if not callable(made):
        where = getattr(found, "__file__", None) or module
        raise ValueError(f"unknown bot {spelled!r}: {where} has no class {name!r}")
    return made


def _is_network(made: Any) -> bool:
    """Return whether this is a class of networks that is not itself a bot."""
    torch = sys.modules.get("torch")  # imported already if the module defines a network
    return (
        torch is not None
        and isinstance(made, type)
        and issubclass(made, torch.nn.Module)
        and not hasattr(made, "act")
    )
