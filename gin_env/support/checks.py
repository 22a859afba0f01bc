"""Checks of parameters, with errors that name the parameter."""

from __future__ import annotations

from collections.abc import Collection
from difflib import get_close_matches
from typing import Any, TypeGuard, TypeVar

import numpy as np

_INTEGERS, _NO_INTEGERS = (int, np.integer), (bool, np.timedelta64)
"""Tuples instead of unions: building a union in each call takes longer than the check, and every action is
checked."""


def is_integer(value: object) -> TypeGuard[int | np.integer]:
    """Return whether `value` is a Python or NumPy integer; bools and timedeltas are not."""
    return isinstance(value, _INTEGERS) and not isinstance(value, _NO_INTEGERS)


def check_integer(name: str, value: object, least: int, most: int) -> int:
    """Return `value` as an int. Raises TypeError or ValueError unless it is in `least` to `most`."""
    if not is_integer(value):
        raise TypeError(f"{name} must be an integer, not {value!r}")
    if not least <= value <= most:
        raise ValueError(f"{name} must be from {least} to {most}, not {value}")
    return int(value)


def check_number(name: str, value: Any, least: float, most: float) -> float:
    """Return `value` as a float. Raises TypeError or ValueError unless it is in `least` to `most`."""
    if not is_integer(value) and not isinstance(value, float | np.floating):
        raise TypeError(f"{name} must be a number, not {value!r}")
    if not least <= value <= most:  # also rejects NaN
        raise ValueError(f"{name} must be from {least} to {most}, not {value}")
    return float(value)


def check_switch(name: str, value: object) -> bool:
    """Return `value` as a bool. Raises TypeError unless it is True or False."""
    if not isinstance(value, bool | np.bool_):
        raise TypeError(f"{name} must be True or False, not {value!r}")
    return bool(value)


Text = TypeVar("Text", bound=str)
MAX_LISTED = 12
"""Maximum number of choices that a message lists."""
MAX_SHOWN = 100
"""Maximum number of characters of a value that a message repeats."""


def check_choice(name: str, value: object, choices: Collection[Text]) -> Text:
    """Return `value`. Raises ValueError unless it is one of the choices."""
    for choice in choices:
        if isinstance(value, str) and choice == value:
            return choice
    raise ValueError(unknown(name, value, choices))


def unknown(name: str, value: object, choices: Collection[str]) -> str:
    """Return the message for a value that is none of the choices: all of a few, or the nearest of many.

    >>> unknown("bot", "smiple", ["simple", "tonic"])
    "unknown bot 'smiple'; choose from simple, tonic. Did you mean 'simple'?"
    """
    text = f"unknown {name} {shortened(repr(value))}"
    if len(choices) > MAX_LISTED:
        near = get_close_matches(str(value)[:MAX_SHOWN], choices, 3, cutoff=0.0)
        return f"{text}; the nearest are {', '.join(near)}"
    close = get_close_matches(str(value), choices, 1)
    hint = f". Did you mean {close[0]!r}?" if close else ""
    return f"{text}; choose from {', '.join(choices)}{hint}"


def printable(value: object, most: int) -> str:
    """Return the first `most` characters of a foreign text, to show in a terminal: no control characters."""
    return "".join(filter(str.isprintable, str(value)[:most]))


def shortened(text: str) -> str:
    """Return a text from outside for a message, cut after `MAX_SHOWN` characters."""
    return text if len(text) <= MAX_SHOWN else f"{text[:MAX_SHOWN]}..."


def result_array(name: str, array: np.ndarray | None, shape: tuple[int, ...], dtype: np.dtype) -> np.ndarray:
    """Return the caller's array to write a result into, or a new array of zeros if it is None.

    Raises TypeError or ValueError if its type or shape does not match or it is read-only.
    """
    if array is None:
        return np.zeros(shape, dtype)
    if not isinstance(array, np.ndarray) or array.dtype != dtype:
        raise TypeError(
            f"{name} must be an array of {dtype}, not {getattr(array, 'dtype', type(array).__name__)}"
        )
    if array.shape != shape or not array.flags.writeable:
        raise ValueError(f"{name} must be a writable array of shape {shape}, not {array.shape}")
    return array
