"""Opponent-hand estimators: for each card, the probability that the opponent holds it.

>>> from gin_env import PlayerView, estimators, gin_rummy_v0
>>> estimator = estimators.make("bayes:least_observations=100")  # parameters as in bots' names
>>> env = gin_rummy_v0.raw_env()
>>> env.reset(seed=1)
>>> estimator.estimate(PlayerView.from_env(env, env.agent_selection)).shape
(1, 52)

They fill the observation's estimate plane (``estimator=`` of every environment) and are used by bots;
``gin-rummy estimators`` compares them. Their common interface is in `gin_env.estimators.base`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from gin_env.estimators.base import Estimator, no_memory
from gin_env.estimators.declared_estimators import ESTIMATORS
from gin_env.estimators.public_history import known_cards
from gin_env.support import specs
from gin_env.support.checks import unknown

__all__ = ["Estimator", "known_cards", "make", "names", "no_memory", "parameters", "readings", "resolve"]


def names(*, needs_torch: bool | None = None) -> list[str]:
    """Return the names of all estimators, or only of those that need torch (True) or do not (False).

    >>> names(needs_torch=False)
    ['uniform', 'omniscient', 'logistic', 'bayes', 'bayes-isru']
    """
    return ESTIMATORS.names(needs_torch=needs_torch)


def readings() -> list[str]:
    """Return every estimator by name, the ensemble in its three kinds and `bayes` also as the paper words it.

    >>> "ensemble:switching=adaptive" in readings()
    True
    """
    kinds = [f"ensemble:switching={switching}" for switching in ("paper", "fitted", "adaptive")]
    return [*(name for name in names() if name != "ensemble"), *kinds, "bayes:likelihood=paper"]


def parameters(name: str) -> dict[str, Any] | None:
    """Return the names and defaults of an estimator's parameters. Raises ValueError for an unknown name.

    >>> parameters("nn")
    {'weights': 'simple'}
    """
    return specs.parameters(_factory(name))


def make(name: str, *, programs: bool = False, **params: Any) -> Estimator:
    """Return an estimator by name; the name can include parameters, as in ``"nn:weights=simple"``.

    See `gin_env.support.specs` for the grammar. The `name` of an estimator made with
    parameters is the text that makes it again: ``"nn:weights=simple"``. A class of your own,
    ``"my_module:Class"``, is imported, which runs its code. So it needs ``programs=True``, as for
    `gin_env.agents.make`.

    Raises ValueError for an unknown name, invalid parameters or a class of your own without `programs`,
    TypeError for a parameter that the estimator does not have.

    >>> make("bayes:least_observations=20").name
    'bayes:least_observations=20'
    """
    if names_own_class(name):
        if not programs:
            raise ValueError(
                f"estimator {name!r} imports a module: if you trust its code, pass programs=True to "
                "estimators.make"
            )
        return resolve(specs.make_own(name, params, "estimator", "estimate"))
    return specs.make(name, params, _factory, "estimator")


def names_own_class(name: str) -> bool:
    """Return whether a name is that of a class of the user's own: ``module:Class``.

    >>> names_own_class("my_module:Mine"), names_own_class("nn:weights=simple")
    (True, False)
    """
    return specs.names_own_class(name, ESTIMATORS.declarations)


def resolve(estimator: str | Estimator, *, programs: bool = False) -> Estimator:
    """Return an estimator from a name (with or without parameters) or an estimator object.

    `programs` is as for `make`. Raises TypeError for an object that is not an estimator.

    >>> resolve("uniform").name
    'uniform'
    """
    if isinstance(estimator, str):
        return make(estimator, programs=programs)
    if isinstance(estimator, type) or not isinstance(estimator, Estimator):
        raise TypeError(
            "an estimator must be a name or an object with `name`, `estimate(view)`, `new_memory(count)` and "
            f"`advance(view, memory)`, not {estimator!r}"
        )
    return estimator


def _factory(name: str) -> Callable[..., Estimator]:
    if name not in ESTIMATORS.declarations:
        raise ValueError(unknown("estimator", name, names()))
    return ESTIMATORS.factory(name)
