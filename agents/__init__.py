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
from gin_env.agents.cfr.bot import CfrBot, CfrPlusBot
from gin_env.agents.fitness import FitnessCfrBot, HeuristicsBot
from gin_env.agents.hand_strength.bots import BalancedBot, DefensiveBot, OffensiveBot
from gin_env.agents.late_knock import LateKnockBot
from gin_env.agents.medium import MediumBot
from gin_env.agents.paper import PAPER_BOTS
from gin_env.agents.process import PREFIX, ProcessBot
from gin_env.agents.random_bots import RandomBot
from gin_env.agents.random_discard import RandomDiscardBot
from gin_env.agents.safe_discard import SafeDiscardBot
from gin_env.agents.simple import SimpleBot
from gin_env.agents.tonic import TonicBot
from gin_env.agents.utility import UtilityBot
from gin_env.support import specs
from gin_env.support.checks import check_switch

__all__ = ["Agent", "make", "names", "paper_names", "parameters", "resolve", "starts_program"]

_PROGRAM = re.compile(rf"(?:^|[=+])\s*{PREFIX}")
"""At the beginning of a name, or of a parameter's value at any depth."""


def _policy(path: str, deterministic: bool = True) -> Agent:
    """A trained policy; imported when it is asked for, since it needs torch."""
    from gin_env.agents.policies.policy import PolicyBot

    return PolicyBot.load(path, deterministic)


def _generation(weights: str | None = None, knock: str = "value") -> Agent:
    """A player of the generational loop; imported when it is asked for, since it needs torch."""
    from gin_env.agents.generations.bot import GenerationBot

    return GenerationBot(weights, knock)


def _candidate_policy(path: str, deterministic: bool = True) -> Agent:
    """A trained policy that scores candidates; imported when it is asked for, since it needs torch."""
    from gin_env.agents.policies.candidate_policy import CandidatePolicyBot

    return CandidatePolicyBot.load(path, deterministic)


def _shipped_policy(deterministic: bool = True) -> Agent:
    """Our strongest policy; imported when it is asked for, since it needs torch."""
    from gin_env.agents.policies.candidate_policy import CandidatePolicyBot

    return CandidatePolicyBot.shipped(deterministic)


def _search(
    samples: int = 256,
    budget_ms: float | None = None,
    turns: int = 3,
    tried: int = 4,
    caution: float = 1.5,
    policy: str = "policy",
    opponent: str | None = None,
    estimator: str = "suit-equivariant:weights=policy",
    trust: float = 0.0,
) -> Agent:
    """The policy that looks ahead; imported when it is asked for, since it needs torch."""
    from gin_env.agents.search.bot import SearchBot

    return SearchBot(samples, budget_ms, turns, tried, caution, policy, opponent, estimator, trust)


def _loader(path: str) -> Callable[..., Agent]:
    """What makes a bot of a file: its ending and what it says that it holds decide."""
    if path.endswith(".zip"):
        return _policy
    from gin_env.support.tensor_files import TensorFileError, read_kind

    kind = read_kind(path, "trained policy")
    if kind not in _LOADERS:
        raise TensorFileError(f"{path} holds a {kind}: only a {' or a '.join(_LOADERS)} is a bot")
    return _LOADERS[kind]


_LOADERS: dict[str, Callable[..., Agent]] = {
    "policy": _policy,
    "candidate policy": _candidate_policy,
    "generation network": _generation,
}
"""By what a .safetensors file holds."""
_BOTS: dict[str, Callable[..., Agent]] = {
    "random": RandomBot,
    "simple": SimpleBot,
    "random-discard": RandomDiscardBot,
    "medium": MediumBot,
    "tonic": TonicBot,
    "utility": UtilityBot,
    "late-knock": LateKnockBot,
    "safe-discard": SafeDiscardBot,
    "heuristics": HeuristicsBot,
    "fitness-cfr": FitnessCfrBot,
    "cfr": CfrBot,
    "cfr-plus": CfrPlusBot,
    "offensive": OffensiveBot,
    "defensive": DefensiveBot,
    "balanced": BalancedBot,
    "generation": _generation,
    "policy": _shipped_policy,
    "search": _search,
}
_SLOW = ("search",)
"""They take milliseconds for a decision."""


def names() -> list[str]:
    """The names of all bots, without the frozen readings of `paper_names`."""
    return list(_BOTS)


def quick_names() -> list[str]:
    """The names of the bots that decide in microseconds: who plays where nobody is named."""
    return [name for name in _BOTS if name not in _SLOW]


def paper_names() -> list[str]:
    """The names of the frozen readings, which never change: see `gin_env.agents.paper`."""
    return list(PAPER_BOTS)


def parameters(name: str) -> dict[str, Any] | None:
    """A bot's parameters and their defaults; None if it takes any. Raises ValueError for an unknown name."""
    if name not in _BOTS and name not in PAPER_BOTS:
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
    return ", ".join([*_BOTS, *PAPER_BOTS])


def _factory(name: str) -> Callable[..., Agent]:
    if name in _BOTS:
        return _BOTS[name]
    if name in PAPER_BOTS:
        bot, params = PAPER_BOTS[name]
        return partial(_BOTS[bot], **params)
    if name.endswith(specs.POLICY_ENDINGS):
        return partial(_loader(name), name)
    raise ValueError(
        f"unknown bot {name!r}; choose from {_choices()}, or give the path of a trained policy (.safetensors)"
    )
