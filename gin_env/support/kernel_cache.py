"""Cache of compiled kernels that is never stale.

numba's own cache notices a change of the file that a kernel is written in, but not of the kernels that it
calls or the constants that it takes from other files. So the files of a kernel are named after a hash of its
module and of every module that this one imports, directly or not. An edit to a bot compiles that bot again,
an edit to the rules compiles everything.

The folder is ``~/.cache/gin-env`` (``$XDG_CACHE_HOME`` is respected), or ``$GIN_ENV_CACHE``. All
installations share it. ``gin-rummy compile`` fills it, for example when a container is built; a user who can
only read it uses what is there. You can delete it at any time.

The files hold machine code, so a folder that belongs to another user or that others can write is refused. A
damaged file is compiled again. Where nothing can be kept (a full disk), kernels are compiled for this process
only. Each problem is reported in one line on stderr; none is an error.
"""

from __future__ import annotations

import hashlib
import os
import re
import stat
import sys
from collections.abc import Callable
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Any

import numba
from numba.core.caching import CompileResultCacheImpl, FunctionCache

_IMPORT = re.compile(r"^[ \t]*(?:from ([\w.]+) import (\([^)]*\)|[^\n]*)|import ([\w., \t]+))", re.MULTILINE)


def sources(module: str) -> list[Path]:
    """Return the files of a loaded module and of all that it imports, except other installed libraries.

    Imports anywhere in a file count, also those inside functions.
    """
    roots = ("gin_env", module.partition(".")[0])
    found: dict[Path, None] = {}
    waiting = [module]
    while waiting:
        name = waiting.pop()
        file = source_file(name)
        if file is None or file in found or (name.partition(".")[0] not in roots and _is_installed(file)):
            continue
        found[file] = None
        waiting += _imports(name, file)
    return list(found)


def _is_installed(file: Path) -> bool:
    return file.is_relative_to(Path(os.__file__).parent) or "-packages" in str(file)  # site- or dist-packages


@cache
def fingerprint(module: str) -> str:
    """Return twelve hex digits that change with any byte of the `sources` of a module."""
    # Sorted by name and content: a checkout and an installation have different folders.
    files = sorted((file.name, _digest(file)) for file in sources(module))
    return hashlib.sha256(repr(files).encode()).hexdigest()[:12]


@cache
def _digest(file: Path) -> str:
    return hashlib.sha256(file.read_bytes()).hexdigest()


@cache
def _imports(module: str, file: Path) -> list[str]:
    """Return the names of the modules that a module imports; `file` is its file."""
    own_package = module.split(".") if file.name == "__init__.py" else module.split(".")[:-1]
    found = []
    for package, imported, alone in _IMPORT.findall(file.read_text()):
        if dots := len(package) - len(package.lstrip(".")):
            package = ".".join([*own_package[: 1 - dots or None], package[dots:]]).rstrip(".")
        names = [f"{package}.{name}" for name in re.findall(r"(\w+)(?: as \w+)?", imported)]
        modules = [name for name in names if source_file(name)]
        if len(modules) < len(names) or not names:  # what the package itself defines, or `import package`
            found += re.findall(r"([\w.]+)(?:[ \t]+as[ \t]+\w+)?", alone) or [package]
        found += modules
    return found


@cache
def source_file(module: str) -> Path | None:
    """Return the file of a module, given that its top package is loaded; None if there is none.

    Nothing is imported to find it: its package might be in the middle of its own import.
    """
    root, *inner = module.split(".")
    top = sys.modules.get(root)
    if not inner:
        file = getattr(top, "__file__", None)
        return Path(file) if file else None
    for folder in getattr(top, "__path__", ()):
        base = Path(folder, *inner)
        for file in (base.with_suffix(".py"), base / "__init__.py"):
            if file.is_file():
                return file
    return None


@cache
def cache_folder() -> Path | None:
    """Return the folder of the compiled kernels, made if necessary; None if there can be none."""
    base = os.environ.get("GIN_ENV_CACHE") or os.path.join(
        os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache"), "gin-env"
    )
    # Another release of numba could not read the files of this one.
    folder = Path(base).absolute() / f"numba-{numba.__version__}"
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        if _is_open_to_others(folder):
            say_once(
                f"kernels are not cached in {folder}, because other users can write to it: delete it, or set "
                "GIN_ENV_CACHE to a folder of your own"
            )
        elif os.access(folder, os.R_OK | os.X_OK):
            return folder
    except OSError:
        pass
    return None


def can_keep() -> bool:
    """Return whether kernels compiled now are kept for later processes."""
    folder = cache_folder()
    return folder is not None and os.access(folder, os.W_OK)


def _is_open_to_others(folder: Path) -> bool:
    """Return whether the folder is somebody else's (not root's), or anybody else can write to it."""
    about = folder.stat()
    return os.name == "posix" and bool(
        about.st_uid not in (os.getuid(), 0) or about.st_mode & (stat.S_IWGRP | stat.S_IWOTH)
    )


def open_to_readers(folder: Path) -> None:
    """Let all users read a cache that only this user can write. Raises OSError if that is impossible."""
    for place in (folder.parent, folder, *folder.iterdir()):
        place.chmod(0o755 if place.is_dir() else 0o644)


@cache
def say_once(line: str) -> None:
    """Print a line on stderr, once per process."""
    print(f"gin-env: {line}", file=sys.stderr, flush=True)


class _Locator:
    """Tells numba where the files of a kernel are: named after its module and what is in it."""

    def __init__(self, module: str, file: str) -> None:
        self._key = f"{module}-{fingerprint(module)}"
        self._py_file = file  # numba's warning of a kernel that cannot be cached names it

    @classmethod
    def from_function(cls, function: Callable[..., Any], file: str) -> _Locator:
        return cls(function.__module__, file)

    def get_cache_path(self) -> str:
        return str(cache_folder())

    def get_source_stamp(self) -> str:
        return self._key

    def get_disambiguator(self) -> str:
        return self._key

    def ensure_cache_path(self) -> None:
        pass


class _KernelFiles(CompileResultCacheImpl):
    _locator_classes: list[type[object]] = [_Locator]  # noqa: RUF012


class KernelCache(FunctionCache):
    """numba's cache of one kernel; files that cannot be read or written are not an error."""

    _impl_class = _KernelFiles
    full = False
    """For all kernels: a file could not be written, so nothing more is saved."""

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        try:
            overload = super().load_overload(sig, target_context)
            # Of two processes that save code for different types together, one may overwrite the other's.
            if overload is None or overload.signature.args == tuple(sig):
                return overload
        except Exception:  # a damaged pickle raises nearly anything
            pass
        say_once(f"damaged kernels in {cache_folder()} are compiled again")
        with suppress(OSError):  # then it cannot be written either, which `save_overload` says
            self.flush()
        return None

    def save_overload(self, sig: Any, data: Any) -> None:
        if KernelCache.full:
            return
        try:
            super().save_overload(sig, data)
        except OSError as error:
            KernelCache.full = not isinstance(error, IsADirectoryError)  # that is in the way of one kernel
            say_once(f"compiled kernels cannot be cached in {cache_folder()}: {error.strerror or error}")
