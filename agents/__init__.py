"""The bots: every one by name, or as an object with the `Agent` interface.

>>> from gin_env import agents
>>> agents.names()
>>> bot = agents.make("simple", knock_at=4)
>>> bot = agents.make("simple:knock_at=4")  # the same; see `gin_env.support.specs`
>>> bot = agents.make("tonic-paper")  # the reading nearest to its paper, which never changes
"""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import partial
from typing import Any

from gin_env.agents.base import Agent
from gin_env.agents.paper import PAPER_BOTS
from gin_env.agents.process import PREFIX, ProcessBot
from gin_env.agents.registry import BOTS, POLICY_FILES
from gin_env.support import specs
from gin_env.support.checks import check_switch
from gin_env.support.registry import import_factory
from gin_env.support.tensor_files import TensorFileError, read_kind

__all__ = ["Agent", "make", "names", "paper_names", "parameters", "quick_names", "resolve", "starts_program"]

_PROGRAM = re.compile(rf"(?:^|[=+])\s*{PREFIX}")
"""At the beginning of a name, or of a parameter's value at any depth."""


def names(*, needs_torch: bool | None = None, slow: bool | None = None) -> list[str]:
    """The names of all bots, or of those that (do not) need torch or (do not) take milliseconds to decide.

    The frozen readings of `paper_names` are not among them.
    """
    return BOTS.names(needs_torch, slow)


def quick_names() -> list[str]:
    """The names of the bots that decide in microseconds, which play wherever no bot is named."""
    return names(slow=False)


def paper_names() -> list[str]:
    """The names of the frozen readings, which never change: see `gin_env.agents.paper`."""
    return list(PAPER_BOTS)


def parameters(name: str) -> dict[str, Any] | None:
    """A bot's parameters and their defaults; None if it takes any.

    Raises ValueError for an unknown name, ImportError for a bot that needs torch where there is none.
    """
    if name not in BOTS.declarations and name not in PAPER_BOTS:
        raise ValueError(f"unknown bot {name!r}; choose from {_choices()}")
    return specs.parameters(_factory(name))


def starts_program(name: str) -> bool:
    """Whether a bot's name, or a bot named anywhere in its parameters, is a program (``process:COMMAND``)."""
    return _PROGRAM.search(name) is not None


def make(name: str, *, programs: bool = False, **params: Any) -> Agent:
    """A bot by name, or the trained policy or generation's network in a ``.safetensors`` file.

    A Stable-Baselines3 archive (``.zip``) is refused, since it may hold code: ``gin-rummy convert`` makes
    such a file of it.

    The name may hold parameters, as in ``"simple:knock_at=4"`` (see `gin_env.support.specs`). In results
    a bot made with parameters is called by the text that makes it again.

    ``process:COMMAND`` is a program that plays, see `gin_env.agents.process`. It is started only with
    ``programs=True``. Pass that for names that your own code or the user wrote, never for a name from a file.
    The bots named in a bot's parameters are never programs.

    Raises ValueError for an unknown name, a program without ``programs=True`` or parameters that cannot be
    read, TypeError for a parameter that the bot does not have.
    """
    if isinstance(name, str) and starts_program(name):
        check_switch("programs", programs)
        if not programs:
            raise ValueError(
                f"bot {name!r} starts a program: if you trust the command, pass programs=True to agents.make"
            )
        if name.startswith(PREFIX):
            return ProcessBot(name.removeprefix(PREFIX), **params)
    bot = specs.make(name, params, _factory, "bot")
    if name in PAPER_BOTS and not params:
        bot.name = name
    return bot


def resolve(bot: str | Agent, *, programs: bool = False) -> Agent:
    """A bot from a name (with or without parameters), a path or an object; `programs` as for `make`.

    Raises TypeError for an object that is not a bot.
    """
    if isinstance(bot, str):
        return make(bot, programs=programs)
    if isinstance(bot, type) or not isinstance(bot, Agent):
        raise TypeError(f"a bot is a name or an object with `name` and `act(view)`, not {bot!r}")
    return bot


def _choices() -> str:
    return ", ".join([*names(), *PAPER_BOTS])


def _factory(name: str) -> Callable[..., Agent]:
    if name in BOTS.declarations:
        return BOTS.factory(name)
    if name in PAPER_BOTS:
        reading = PAPER_BOTS[name]
        return partial(BOTS.factory(reading.bot), **reading.parameters)
    if name.endswith(specs.POLICY_ENDINGS):
        return partial(_policy_loader(name), name)
    raise ValueError(
        f"unknown bot {name!r}; choose from {_choices()}, or give the path of a trained policy (.safetensors)"
    )


def _policy_loader(path: str) -> Callable[..., Agent]:
    """What plays a policy's file, by its ending and the kind that it names."""
    kind = "policy" if path.endswith(".zip") else read_kind(path, "trained policy")
    if kind not in POLICY_FILES:
        raise TensorFileError(f"{path} holds a {kind}: only a {' or a '.join(POLICY_FILES)} is a bot")
    return import_factory(BOTS.package, POLICY_FILES[kind])
