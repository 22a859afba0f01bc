"""Objects of the user's own modules by name: ``module:Class``, with or without parameters.

Naming one imports the module, which runs its code. So names from files must not come here, unless the user
named the class as well.
"""

from __future__ import annotations

import importlib
import re
import sys
from collections.abc import Callable, Collection
from pathlib import Path
from typing import Any

from gin_env.support import specs

OWN_CLASS = re.compile(r"(?P<module>[A-Za-z_][\w.]*):(?P<name>[A-Za-z_]\w*)(?!\w|\s*=|[./\\])")
"""Matches ``module:Class`` at the start of a name; ``name:key=value`` and paths do not match."""


def names_own_class(text: object, declared: Collection[str]) -> bool:
    """Return whether a name begins with ``module:Class``, and the module is not one of the declared names."""
    own = OWN_CLASS.match(text) if isinstance(text, str) else None
    return own is not None and own["module"] not in declared


def make_own(
    text: str,
    params: dict[str, Any],
    kind: str,
    method: str,
    factory_of: Callable[[Any, str], Any] = lambda made, spelled: made,
) -> Any:
    """Return an object of the user's own class; its name is the text that makes it again.

    Parameters
    ----------
    text : matches `OWN_CLASS`. The module is looked for like any other module, then in the current folder.
    params : additional parameters.
    kind, method : what it must be, for messages, and a method that it must have.
    factory_of : returns the factory, given the class and its name.

    Raises ValueError for an unknown module or class and for invalid parameters, TypeError for unknown
    parameters and for objects without the method, and whatever the module or the class raises.
    """
    match = OWN_CLASS.match(text)
    if match is None:
        raise ValueError(f"{kind} {text!r} must be named module:Class")
    spelled = match[0]
    _, named = specs.parse(text, kind, name=spelled)
    if twice := sorted(named.keys() & params.keys()):
        raise ValueError(f"{kind} {spelled!r}: the parameter {twice[0]!r} is given twice")
    params = named | params
    factory = factory_of(_import_class(spelled, match["module"], match["name"], kind), spelled)
    specs.check_parameters(spelled, factory, params, kind)
    made = factory(**params)
    if not callable(getattr(made, method, None)):
        raise TypeError(
            f"{kind} {spelled!r} must have a method {method}(view); {type(made).__name__} has none"
        )
    try:
        made.name = specs.spell(spelled, params) if params else spelled
    except AttributeError as error:
        raise TypeError(f"{kind} {spelled!r} must have an attribute name that can be set: {error}") from error
    return made


def _import_class(spelled: str, module: str, name: str, kind: str) -> Any:
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
            f"unknown {kind} {spelled!r}: no module {error.name!r} in {folder} or among the installed "
            "packages"
        ) from error
    made = getattr(found, name, None)
    if not callable(made):
        where = getattr(found, "__file__", None) or module
        raise ValueError(f"unknown {kind} {spelled!r}: {where} has no class {name!r}")
    return made
