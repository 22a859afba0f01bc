"""Names of bots and estimators with parameters: ``simple:knock_at=4``, ``tonic:pair_turns=3,held=0.9``.

The same grammar applies everywhere a bot is named (command line, `play_match`,
``gymnasium.make(opponent=...)``)::

    name                             a bot's name, or the path of a trained policy (.safetensors)
    name:key=value,key=value         with parameters
    value                            an integer, a number, true, false, none, a word, or a list
    list                             entries joined by +: 21+12+10; a single entry: 21+; no entries: +

A bot of your own module is named ``module:Class`` or ``module:Class:key=value`` (`gin_env.agents.make`). None
of these characters needs quoting in a shell.

Naming a class imports its module, which runs its code. So don't pass names from files to `make_own`, unless
the user has named the class as well.
"""

from __future__ import annotations

import importlib
import inspect
import os
import re
import sys
from collections.abc import Callable, Collection
from pathlib import Path
from typing import Any, Protocol, TypeVar

from gin_env.support.checks import unknown

POLICY_ENDINGS = (".zip", ".safetensors")
"""File name endings that mark a bot's name as a path.

``.safetensors`` is a trained network, ``.zip`` what `MaskablePPO.save` writes.
"""
OWN_CLASS = re.compile(r"(?P<module>[A-Za-z_][\w.]*):(?P<name>[A-Za-z_]\w*)(?!\w|\s*=|[./\\])")
"""Matches ``module:Class`` at the start of a name; ``name:key=value`` and paths do not match."""
_NAME_WITH_PARAMETERS = re.compile(r"[\w-]+:\w+=")
_FILE = re.compile(rf".*?(?:{'|'.join(map(re.escape, POLICY_ENDINGS))})(?=:|$)", re.DOTALL)
"""Matches a path, which can contain colons, at the start of a name."""
_WORDS = {"true": True, "false": False, "none": None}


class NamedObject:
    """Base of bots and estimators: they are printed by their names."""

    name: str
    files: tuple[Path, ...] = ()
    """The files that it plays by, those of its estimator and of other bots in it included."""

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {self.name}>"


def files_of(made: object) -> tuple[Path, ...]:
    """Return the `NamedObject.files` of a bot or an estimator; none of one of the user's own without them."""
    files = getattr(made, "files", ())
    return tuple(map(Path, files)) if isinstance(files, tuple | list) else ()


class _Named(Protocol):
    name: str


Made = TypeVar("Made", bound=_Named)


def make(text: str, params: dict[str, Any], find: Callable[[str], Callable[..., Made]], kind: str) -> Made:
    """Return the object named by `text`; `params` are additional parameters.

    `find` returns the factory registered under a name, or raises ValueError. If there are parameters, the
    object's `name` is set to the text that makes the same object again (see `spell`).

    Raises TypeError or ValueError if the text cannot be parsed, if the name or a parameter is unknown, or if
    a parameter is given twice. Error messages call the object `kind`.
    """
    if not isinstance(text, str):
        raise TypeError(f"{'an' if kind[0] in 'aeiou' else 'a'} {kind}'s name must be a string, not {text!r}")
    name, params = all_parameters(text, params, kind)
    factory = find(name)
    check_parameters(name, factory, params, kind)
    try:
        made = factory(**params)
    except TypeError as error:
        raise TypeError(f"{kind} {name!r}: {error}") from error
    if params:
        made.name = spell(name, params)
    return made


def all_parameters(
    text: str, params: dict[str, Any], kind: str, name: str | None = None
) -> tuple[str, dict[str, Any]]:
    """Return the name in a text, and its parameters with these additional ones. Raises as `make` does."""
    name, named = parse(text, kind, name)
    if twice := sorted(named.keys() & params.keys()):
        raise ValueError(f"{kind} {name!r}: the parameter {twice[0]!r} is given twice")
    return name, named | params


def spell(name: str, params: dict[str, Any]) -> str:
    """Return the text that `parse` reads as this name and these parameters: ``simple:knock_at=4``."""
    return f"{name}:{','.join(f'{key}={format_value(value)}' for key, value in params.items())}"


def parse(text: str, kind: str = "bot", name: str | None = None) -> tuple[str, dict[str, Any]]:
    """Return the name and the parameters in a bot's text, which follows the grammar above.

    Estimators are named in the same way; error messages use `kind`. `name` is the name that the text starts
    with, if it is known. Raises ValueError for invalid parameters.
    """
    if name is None:
        file = None if _NAME_WITH_PARAMETERS.match(text) else _FILE.match(text)
        name = file[0] if file is not None else text.partition(":")[0]
    return name, {} if text == name else _parameters(text, kind, name, text[len(name) + 1 :])


def _parameters(text: str, kind: str, name: str, parameters: str) -> dict[str, Any]:
    """Return the parameters in the part of a text after its name and a colon."""
    params: dict[str, Any] = {}
    for item in parameters.split(","):
        key, equals, value = (part.strip() for part in item.partition("="))
        if not equals or not key.isidentifier() or not value:
            raise ValueError(
                f"{kind} {text!r}: {item!r} is not a parameter; "
                f"write {name}:key=value, or {name}:key=value,key=value"
            )
        if key in params:
            raise ValueError(f"{kind} {text!r}: the parameter {key!r} is given twice")
        params[key] = parse_value(value)
    return params


def parse_value(text: str) -> Any:
    """Return a parameter's value from its text: an int, float, bool, None, str, or a tuple of these."""
    if text.lower() in _WORDS:
        return _WORDS[text.lower()]
    for kind in (int, float) if text.isascii() else ():  # no digits of other scripts
        try:
            return kind(text)
        except ValueError:
            pass
    if "+" in text:
        return tuple(parse_value(entry) for entry in text.split("+") if entry)
    return text


def format_value(value: object) -> str:
    """Return the text that `parse_value` reads as `value`; an object, such as an estimator, by its name."""
    if value is None or isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, tuple | list):
        return "+".join(map(format_value, value)) + ("+" if len(value) < 2 else "")
    name = None if isinstance(value, os.PathLike) else getattr(value, "name", None)
    return name if isinstance(name, str) else str(value)


def parameters(factory: Callable[..., object]) -> dict[str, Any] | None:
    """Return the names and defaults of a factory's parameters, or None if it accepts any (``**params``)."""
    found = inspect.signature(factory).parameters.values()
    if any(parameter.kind is parameter.VAR_KEYWORD for parameter in found):
        return None
    return {parameter.name: parameter.default for parameter in found}


def check_parameters(
    name: str, factory: Callable[..., object], params: dict[str, Any], kind: str = "bot"
) -> None:
    """Check the names of parameters.

    Raises TypeError, listing the choices, if the bot (or other `kind`) does not have one of them.
    """
    known = parameters(factory)
    if known is None:
        return
    for key in params:
        if key not in known:
            message = unknown("parameter", key, known) if known else f"unknown parameter {key!r}; it has none"
            raise TypeError(f"{kind} {name!r}: {message}")


# --- Classes of the user's own -------------------------------------------------------------------------


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
    spelled, params = all_parameters(text, params, kind, name=match[0])
    factory = factory_of(_import_class(spelled, match["module"], match["name"], kind), spelled)
    check_parameters(spelled, factory, params, kind)
    made = factory(**params)
    if not callable(getattr(made, method, None)):
        raise TypeError(
            f"{kind} {spelled!r} must have a method {method}(view); {type(made).__name__} has none"
        )
    try:
        made.name = spell(spelled, params) if params else spelled
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
