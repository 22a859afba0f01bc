"""The bots, created by name or passed as objects with the `Agent` interface.

>>> from gin_env import agents
>>> bots = agents.names()
>>> bot = agents.make("simple", knock_at=4)
>>> bot = agents.make("simple:knock_at=4")  # the same; see `gin_env.support.specs`
>>> bot = agents.make("tonic-paper")  # the reading closest to its paper, which never changes
"""

from __future__ import annotations

import re
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path
from pkgutil import resolve_name
from typing import TYPE_CHECKING, Any

from gin_env.agents.adapted import adapt
from gin_env.agents.base import Agent, AnyAgent, HasActionChances, HasActionValues
from gin_env.agents.declared_bots import BOTS, OWN_NETWORK, POLICY_FILES
from gin_env.agents.paper import PAPER_BOTS
from gin_env.agents.process import PREFIX as PROCESS
from gin_env.agents.process import ProcessBot
from gin_env.support import specs
from gin_env.support.checks import check_switch, unknown
from gin_env.support.specs import OWN_CLASS, names_own_class
from gin_env.support.tensor_files import TensorFileError, read_kind

if TYPE_CHECKING:
    import torch

__all__ = [
    "Agent",
    "AnyAgent",
    "HasActionChances",
    "HasActionValues",
    "make",
    "names",
    "paper_names",
    "parameters",
    "quick_names",
    "resolve",
    "save_network",
    "starts_program",
]

CHAT = "chat:"
_PROGRAM = re.compile(rf"(?:^|[=+])\s*({PROCESS}|{CHAT})")
"""Matches these prefixes at the start of a name, or of a parameter's value at any depth."""
_OWN_CLASS = re.compile(rf"(?:^|[=+])\s*{OWN_CLASS.pattern}")
"""Matches ``module:Class`` in the same places."""


def names(*, needs_torch: bool | None = None, slow: bool | None = None) -> list[str]:
    """Return the names of the bots, without the frozen readings of `paper_names`.

    `needs_torch` and `slow` select the bots that do (True) or do not (False) need torch, and that do or do
    not take milliseconds per decision. None selects both.

    >>> "tonic" in names(), "search" in names(slow=False)
    (True, False)
    """
    return BOTS.names(needs_torch=needs_torch, slow=slow)


def quick_names() -> list[str]:
    """Return the names of the bots that play by default if no bot is named; they decide in microseconds.

    >>> "policy" in quick_names(), "policy-1" in quick_names(), "search" in quick_names()
    (True, False, False)
    """
    return BOTS.names(slow=False, only_by_name=False)


def paper_names() -> list[str]:
    """Return the names of the frozen readings, which never change; see `gin_env.agents.paper`.

    >>> "tonic-paper" in paper_names()
    True
    """
    return list(PAPER_BOTS)


def parameters(name: str) -> dict[str, Any] | None:
    """Return a bot's parameters with their defaults, or None if it accepts any parameter.

    Raises ValueError for an unknown name, and ImportError if the bot needs torch and torch is not installed.

    >>> parameters("simple")
    {'knock_at': 10}
    """
    if name not in _declared():
        raise ValueError(unknown("bot", name, _declared()))
    return specs.parameters(_factory(name))


def starts_program(name: str) -> bool:
    """Return whether a name runs code from outside this package when the bot is made.

    That is a program (``process:COMMAND``), a language model (``chat:MODEL``) or a class of your own
    (``module:Class``), by itself or in the parameters of another bot.

    >>> starts_program("process:./my-bot"), starts_program("simple:knock_at=4")
    (True, False)
    """
    if _PROGRAM.search(name) is not None:
        return True
    return any(match["module"] not in _declared() for match in _OWN_CLASS.finditer(name))


def make(name: str, *, programs: bool = False, **params: Any) -> Agent:
    """Return a new bot, given its name or the ``.safetensors`` file of a policy or a generation's network.

    The name may include parameters, as in ``"simple:knock_at=4"`` (see `gin_env.support.specs`). Results
    store a bot with parameters under the name that creates it again.

    Three kinds of names run code from outside this package: ``process:COMMAND``, an external program
    (`gin_env.agents.process`), ``chat:MODEL@URL``, a language model (`gin_env.agents.chat`), and
    ``module:Class``, a class of your own: a bot, or a network (`torch.nn.Module`) that `save_network` saved.
    They are made only with ``programs=True``. Pass that for names written in your own code or by the user,
    never for a name read from a file. Bots named in another bot's parameters must not be of these kinds.

    Of a Stable-Baselines3 archive (``.zip``) only the weights are read, and none of the code that it may
    contain. An archive whose policy needs that code is refused; ``gin-rummy convert --trust`` runs it.

    Raises
    ------
    ValueError
        If the name is unknown, the parameters cannot be parsed, or the bot runs code from outside this
        package and `programs` is False.
    TypeError
        If the bot does not have one of the parameters.

    >>> make("simple:knock_at=4").name
    'simple:knock_at=4'
    """
    if isinstance(name, str) and starts_program(name):
        check_switch("programs", programs)
        if not programs:
            program = _PROGRAM.search(name)
            what = {None: "imports a module", PROCESS: "starts a program", CHAT: "asks a server"}[
                program and program[1]
            ]
            raise ValueError(f"bot {name!r} {what}: if you trust its code, pass programs=True to agents.make")
        if name.startswith(PROCESS):
            return ProcessBot(name.removeprefix(PROCESS), **params)
        if name.startswith(CHAT):
            from gin_env.agents.chat import make_chat

            return make_chat(name, params)
        if names_own_class(name, _declared()):
            return specs.make_own(name, params, "bot", "act", _factory_of)
    bot = specs.make(name, params, _factory, "bot")
    if name in PAPER_BOTS and not params:
        bot.name = name
    return bot


def resolve(bot: AnyAgent, *, programs: bool = False) -> Agent:
    """Return a bot from a name (with or without parameters), a path, a bot object or another agent.

    Other agents are a function of (observation, mask), a torch module with the attribute ``gin_env``, a
    MaskablePPO model, and an object with ``act(view)`` but without a name; see `gin_env.agents.adapted`.
    `programs` is as for `make`. Raises TypeError for any other object, and ValueError for a network or a
    model that does not say what it reads.

    >>> resolve("simple").name
    'simple'
    >>> resolve(lambda observation, mask: mask.argmax()).name
    '<lambda>'
    """
    if isinstance(bot, str):
        return make(bot, programs=programs)
    if isinstance(bot, Agent) and not isinstance(bot, type):
        return bot
    adapted = None if isinstance(bot, type) else adapt(bot)
    if adapted is None:
        raise TypeError(
            "a bot must be a name, an object with `name` and `act(view)`, a function of (observation, mask), "
            f"a network or a model, not {bot!r}"
        )
    return adapted


def save_network(
    path: str | Path,
    network: torch.nn.Module,
    training: dict[str, Any] | None = None,
    settings: dict[str, Any] | None = None,
) -> None:
    """Write a network of your own, so that ``module:Class:weights=FILE`` plays it.

    Parameters
    ----------
    path : a file whose name ends in ``.safetensors``.
    network : maps observations float32 (n, OBSERVATION_SIZE) to logits float32 (n, 107); illegal actions are
        masked afterwards. If its attribute ``reads_mask`` is true, the mask precedes the observation:
        (n, 107 + OBSERVATION_SIZE).
    training : ``env.unwrapped.describe_training()`` of the environment that it was trained in; default: that
        of an environment without options.
    settings : JSON-serialisable keyword arguments with which the network's class makes a network of the same
        shape.

    Raises ValueError if the class with these settings does not make such a network.

    For a class ``Net`` in ``my_networks.py``::

        agents.save_network("net.safetensors", network, settings={"hidden": 128})
        play_match("my_networks:Net:weights=net.safetensors", "simple")
    """
    from gin_env.agents.policies.own_network import save_own_network

    save_own_network(path, network, training, settings)


def _declared() -> list[str]:
    return [*BOTS.declarations, *PAPER_BOTS]


def _factory(name: str) -> Callable[..., Agent]:
    if name in BOTS.declarations:
        return BOTS.factory(name)
    if name in PAPER_BOTS:
        reading = PAPER_BOTS[name]
        return partial(BOTS.factory(reading.bot), **reading.parameters)
    if name.endswith(specs.POLICY_ENDINGS):
        return partial(_policy_loader(name), name)
    others = "or give the path of a trained policy (.safetensors) or a class of your own (module:Class)"
    raise ValueError(unknown("bot", name, [*_declared(), others]))


def _policy_loader(path: str) -> Callable[..., Agent]:
    """Return the factory for a policy's file, chosen by its extension and the kind stored in it."""
    if path.endswith(".zip"):
        return resolve_name("gin_env.agents.policies.sb3_archives:load_archive")
    kind = read_kind(path, "trained policy")
    if kind == OWN_NETWORK.kind:
        saved = str(OWN_NETWORK.read_tensors(path)[1].get("class"))
        name = f"{saved if OWN_CLASS.fullmatch(saved) else 'module:Class'}:weights={path}"
        raise TensorFileError(
            f"{path} holds the weights of a network of your own, without its code: name {name}"
        )
    if kind not in POLICY_FILES:
        raise TensorFileError(f"{path} holds a {kind}: only a {' or a '.join(POLICY_FILES)} is a bot")
    return resolve_name(f"gin_env.agents.{POLICY_FILES[kind]}")


def _factory_of(made: Any, spelled: str) -> Any:
    """Return the factory for a user's class: the class, or for a network what loads its weights."""
    torch = sys.modules.get("torch")  # imported already if the module defines a network
    is_network = torch is not None and isinstance(made, type) and issubclass(made, torch.nn.Module)
    if not is_network or hasattr(made, "act"):
        return made
    from gin_env.agents.policies.own_network import load_own_network

    return partial(load_own_network, made, spelled)
