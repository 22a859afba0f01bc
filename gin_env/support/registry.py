"""Bots and estimators by name: each is declared once, and imported when it is first needed."""

from __future__ import annotations

import importlib.util
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from importlib import import_module
from pathlib import Path
from pkgutil import resolve_name
from typing import Any

from gin_env.support.checks import unknown


def has_torch() -> bool:
    """Return whether bots and estimators with `Declaration.needs_torch` can be made."""
    return all(importlib.util.find_spec(name) for name in ("torch", "safetensors"))


@dataclass(frozen=True)
class Declaration:
    """Declaration of a bot or an estimator. Everything that lists bots or estimators is derived from these.

    Parameters
    ----------
    factory : what makes it, as ``"module:Class"`` or ``"module:Class.classmethod"``, relative to its package.
        All of its parameters have defaults.
    summary : what it is, in one line.
    needs_torch : whether it needs the extra ``train``.
    slow : whether a decision takes milliseconds. A slow bot plays only where it is named.
    only_by_name : whether it plays only where it is named although it is quick, because a bot that plays much
        like it takes part already.
    held_out : whether no other bot was trained, tuned or selected against it, in any pool or league, so that
        results against it show how well the others generalise.
    files_by_parameter : packaged files that a parameter replaces: its name -> the file of its default. ``{}``
        stands for the parameter's value, unless that is itself the path of a file.
    """

    factory: str
    summary: str
    needs_torch: bool = False
    slow: bool = False
    only_by_name: bool = False
    held_out: bool = False
    files_by_parameter: Mapping[str, str] = field(default_factory=dict)


@dataclass(eq=False)
class Registry:
    """The declared bots, or the declared estimators; their modules are in `package`."""

    package: str
    declarations: Mapping[str, Declaration]

    def names(self, **wanted: bool | None) -> list[str]:
        """Return the names in order of declaration, or those whose `Declaration` has these values, if any."""
        return [
            name
            for name, declared in self.declarations.items()
            if all(value in (None, getattr(declared, key)) for key, value in wanted.items())
        ]

    def factory(self, name: str) -> Callable[..., Any]:
        """Return what makes the bot or estimator. Raises ImportError if it needs torch, which is missing."""
        return resolve_name(f"{self.package}.{self.declarations[name].factory}")

    def file(self, name: str, parameter: str, value: object) -> Path:
        """Return the file that the value of a parameter in `Declaration.files_by_parameter` stands for.

        Raises TypeError for anything but a name or a path, ValueError for a name of no packaged file.
        """
        file = self._folder / self.declarations[name].files_by_parameter[parameter]
        if value is None and "{}" not in file.name:
            return file
        if not isinstance(value, str | Path):
            raise TypeError(f"{parameter} must be a name or a path, not {value!r}")
        if "{}" not in file.name or str(value).endswith(file.suffix):
            return Path(value)
        names = self.packaged(name, parameter)
        if value not in names:
            others = f"or give the path of a {file.suffix} file"
            raise ValueError(unknown(parameter, str(value), [*names, others]))
        return file.with_name(file.name.format(value))

    def packaged(self, name: str, parameter: str) -> list[str]:
        """Return the names of the packaged files among which such a parameter chooses."""
        file = self._folder / self.declarations[name].files_by_parameter[parameter]
        start, end = file.name.split("{}")
        found = (each.name for each in file.parent.glob(file.name.replace("{}", "*")))
        return sorted(each.removeprefix(start).removesuffix(end) for each in found)

    @property
    def _folder(self) -> Path:
        return Path(import_module(self.package).__path__[0])
