"""Names with parameters, of bots and estimators: ``simple:knock_at=4``, ``tonic:pair_turns=3,held=0.9``.

The grammar, wherever a bot is named (command line, `play_match`, ``gymnasium.make(opponent=...)``)::

    name                             a bot by its name, or the path of a trained policy (.safetensors)
    name:key=value,key=value         with parameters
    value                            an integer, a number, true, false, none, a word, or a list
    list                             entries joined by +: 21+12+10; one entry: 21+; none: +

No character needs quoting in a shell.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable
from typing import Any, Protocol, TypeVar

POLICY_ENDINGS = (".zip", ".safetensors")
"""Of files named as a bot: what `MaskablePPO.save` writes (refused: it may hold code), trained networks."""
_NAME_WITH_PARAMETERS = re.compile(r"[\w-]+:\w+=")
_WORDS = {"true": True, "false": False, "none": None}


class _Named(Protocol):
    name: str


Made = TypeVar("Made", bound=_Named)


def make(text: str, params: dict[str, Any], find: Callable[[str], Callable[..., Made]], kind: str) -> Made:
    """What a name with parameters stands for; `params` are more of them.

    `find` returns what makes the thing of a name, or raises ValueError. Made with parameters it is called by
    the text that makes it again, see `spell`.

    Raises TypeError or ValueError, calling the thing `kind`, for what cannot be read, an unknown name or
    parameter, and a parameter given twice.
    """
    if not isinstance(text, str):
        raise TypeError(f"{'an' if kind[0] in 'aeiou' else 'a'} {kind}'s name is a text, not {text!r}")
    name, named = parse(text, kind)
    if twice := sorted(named.keys() & params.keys()):
        raise ValueError(f"{kind} {name!r}: the parameter {twice[0]!r} is given twice")
    params = named | params
    factory = find(name)
    check_parameters(name, factory, params, kind)
    try:
        made = factory(**params)
    except TypeError as error:
        raise TypeError(f"{kind} {name!r}: {error}") from error
    if params:
        made.name = spell(name, params)
    return made


def spell(name: str, params: dict[str, Any]) -> str:
    """The text that `parse` reads as this name and these parameters: ``simple:knock_at=4``."""
    return f"{name}:{','.join(f'{key}={format_value(value)}' for key, value in params.items())}"


def parse(text: str, kind: str = "bot") -> tuple[str, dict[str, Any]]:
    """(name, parameters) of a bot written as above. Raises ValueError for parameters that cannot be read.

    `kind` is what errors call it: estimators are named in the same way.
    """
    if text.endswith(POLICY_ENDINGS) and not _NAME_WITH_PARAMETERS.match(text):
        return text, {}
    for ending in POLICY_ENDINGS:  # a path may have colons of its own
        head, found, parameters = text.partition(f"{ending}:")
        if found:
            name = head + ending
            break
    else:
        name, colon, parameters = text.partition(":")
        if not colon:
            return text, {}
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
    return name, params


def parse_value(text: str) -> Any:
    """A parameter's value from its text: int, float, bool, None, str, or a tuple of these."""
    if text.lower() in _WORDS:
        return _WORDS[text.lower()]
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            pass
    if "+" in text:
        return tuple(parse_value(entry) for entry in text.split("+") if entry)
    return text


def format_value(value: object) -> str:
    """The text that `parse_value` reads as `value`."""
    if value is None or isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, tuple | list):
        return "+".join(map(format_value, value)) + ("+" if len(value) < 2 else "")
    return str(value)


def parameters(factory: Callable[..., object]) -> dict[str, Any] | None:
    """Names and defaults of what `factory` takes; None if it does not say (``**params``)."""
    found = inspect.signature(factory).parameters.values()
    if any(parameter.kind is parameter.VAR_KEYWORD for parameter in found):
        return None
    return {parameter.name: parameter.default for parameter in found}


def check_parameters(
    name: str, factory: Callable[..., object], params: dict[str, Any], kind: str = "bot"
) -> None:
    """Check the names of parameters.

    Raises TypeError, with the choices, if the bot (or whatever `kind` says) has no parameter of some name.
    """
    known = parameters(factory)
    if known is None:
        return
    for key in params:
        if key not in known:
            choices = f"choose from {', '.join(known)}" if known else "it has none"
            raise TypeError(f"{kind} {name!r}: unknown parameter {key!r}; {choices}")
