"""Bots and networks of the user's own modules: ``module:Class``, with or without parameters.

>>> play_match("my_bots:Cautious:knock_at=5", "simple")
>>> play_match("my_networks:Net:weights=net.safetensors", "simple")

Naming one imports the module, which runs its code. So `gin_env.agents.make` does this only where a name may
start a program. A network (`torch.nn.Module`) is saved by `gin_env.agents.save_network`.
"""

from __future__ import annotations

import sys
from functools import partial
from pathlib import Path
from typing import Any

from gin_env.agents.base import Agent
from gin_env.agents.registry import OWN_NETWORK
from gin_env.support import own_classes
from gin_env.support.own_classes import OWN_CLASS


def make_own(text: str, params: dict[str, Any]) -> Agent:
    """Return a bot of the user's own class, or one that plays a network of their own class.

    See `gin_env.support.own_classes.make_own` for parameters and errors.
    """
    return own_classes.make_own(text, params, "bot", "act", _factory_of)


def name_to_play(path: str | Path) -> str:
    """Return the name of the bot that plays a file of `gin_env.agents.save_network`."""
    saved = str(OWN_NETWORK.read_tensors(path)[1].get("class"))
    return f"{saved if OWN_CLASS.fullmatch(saved) else 'module:Class'}:weights={path}"


def _factory_of(made: Any, spelled: str) -> Any:
    if not _is_network(made):
        return made
    from gin_env.agents.policies.own_network import load_own_network

    return partial(load_own_network, made, spelled)


def _is_network(made: Any) -> bool:
    """Return whether this is a class of networks that is not itself a bot."""
    torch = sys.modules.get("torch")  # imported already if the module defines a network
    return (
        torch is not None
        and isinstance(made, type)
        and issubclass(made, torch.nn.Module)
        and not hasattr(made, "act")
    )
