"""Cache of compiled kernels that is never stale and never runs another user's code.

numba's own cache checks the file that a kernel is written in, but not the files of the kernels that it
calls. After an edit there it would run the old code. So the name of the cache folder contains a hash of every
file of the package that holds a kernel: change one of them, and all kernels are compiled again, once.

The folder is ``~/.cache/gin-env`` (``$XDG_CACHE_HOME`` is respected), or ``$GIN_ENV_CACHE``. All
installations of one release share it. ``gin-rummy compile`` fills it, for example when a container is built;
a user who can only read it uses what is there.

The files hold machine code. A folder that other users can write is therefore refused, and so is one inside
such a folder (unless that is sticky, as ``/tmp`` is). A kernel whose file is damaged, or can be written by
other users, is compiled again. Where nothing can be kept (a full disk), kernels are compiled for this process
only. Each problem is reported in one line on stderr; none is an error.
"""

from __future__ import annotations

import errno
import hashlib
import os
import pickle
import stat
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numba
from numba.core.caching import CompileResultCacheImpl, FunctionCache, IndexDataCacheFile

_CONSTANTS = ("state.py",)
"""Files without a kernel whose constants are compiled into kernels (a test checks them)."""


def kernel_sources() -> list[Path]:
    """Return every file of the package that defines a kernel or a constant of one, in a fixed order."""
    folders = [Path(__file__).parents[1]]
    for name in ("gin_env.agents", "gin_env.wrappers"):  # in a checkout they are next to the package
        spec = find_spec(name)
        if spec is not None and spec.origin is not None:
            folders.append(Path(spec.origin).parent)
    files = {file for folder in folders for file in folder.rglob("*.py")}
    return sorted(file for file in files if file.name in _CONSTANTS or b"@kernel" in file.read_bytes())


def fingerprint(sources: list[Path]) -> str:
    """Return twelve hex digits that change with any byte of any of the files."""
    digest = hashlib.sha256()
    # Sorted by name and content: a checkout and an installation have different folders.
    for name, code in sorted((source.name.encode(), source.read_bytes()) for source in sources):
        digest.update(name + b"\0" + code + b"\0")
    return digest.hexdigest()[:12]


@cache
def cache_folder() -> Path | None:
    """Return the folder of the compiled kernels, made if necessary; None if there can be none."""
    base = os.environ.get("GIN_ENV_CACHE") or os.path.join(
        os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache"), "gin-env"
    )
    # Another release of numba could not read the files of this one.
    folder = Path(base).absolute() / f"{fingerprint(kernel_sources())}-numba-{numba.__version__}"
    try:
        if not folder.is_dir():
            folder.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            folder.mkdir(mode=0o700, exist_ok=True)
        folder = folder.resolve()
        if open_place := place_open_to_others(folder):
            say_once(
                f"kernels are not cached in {folder}, because other users can write to {open_place}: remove "
                "that permission and delete the contents, or set GIN_ENV_CACHE to a folder of your own"
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


def place_open_to_others(path: Path) -> Path | None:
    """Return the file or folder itself, or the first folder above it, that other users can change.

    Root and this user are not "others". Neither is a group that has the user's name and no other members, as
    many systems set it up.
    """
    below: os.stat_result | None = None
    for place in (path, *path.parents):
        about = place.stat()
        # In a sticky folder others can create files, but not replace those of this user.
        sticky = below is not None and bool(about.st_mode & stat.S_ISVTX)
        if _is_open_to_others(about, sticky):
            return place
        below = about
    return None


def _is_open_to_others(about: os.stat_result, sticky: bool = False) -> bool:
    if os.name != "posix":
        return False
    writable = about.st_mode & stat.S_IWOTH or (
        about.st_mode & stat.S_IWGRP and not _is_private_group(about.st_gid)
    )
    return about.st_uid not in (os.getuid(), 0) or bool(writable and not sticky)


def _is_private_group(number: int) -> bool:
    import grp
    import pwd

    try:
        user, group = pwd.getpwuid(os.getuid()), grp.getgrgid(number)
    except KeyError:
        return False
    return group.gr_name == user.pw_name and set(group.gr_mem) <= {user.pw_name}


def open_to_readers(folder: Path) -> None:
    """Let all users read a cache that only this user can write. Raises OSError if that is impossible."""
    for place in (folder.parent, folder, *folder.iterdir()):
        place.chmod(0o755 if place.is_dir() else 0o644)


@cache
def say_once(line: str) -> None:
    """Print a line on stderr, once per process."""
    print(f"gin-env: {line}", file=sys.stderr, flush=True)


# --- numba's cache, keyed by module and checked ---------------------------------------------------------


class _Locator:
    """Keeps all kernels in one folder, named after their modules: installations elsewhere share them."""

    def __init__(self, module: str) -> None:
        self.module = module
        self._folder = cache_folder() or Path()

    @classmethod
    def from_function(cls, function: Callable[..., Any], _: str) -> _Locator:
        return cls(function.__module__)

    def get_cache_path(self) -> str:
        return str(self._folder)

    def get_source_stamp(self) -> str:
        return self._folder.name

    def get_disambiguator(self) -> str:
        return self.module

    def ensure_cache_path(self) -> None:
        pass


class _KernelImplementation(CompileResultCacheImpl):
    _locator_classes: list[type[object]] = [_Locator]  # noqa: RUF012


class _KernelFiles(IndexDataCacheFile):
    """numba's files of one kernel, refused unless they are this user's and whole."""

    def _load_index(self) -> Any:
        with suppress(FileNotFoundError):
            if _is_open_to_others(os.stat(self._index_path)):
                raise PermissionError(errno.EPERM, "other users can write to this file", self._index_path)
        return super()._load_index()

    def _save_data(self, name: str, data: Any) -> None:
        content = self._dump(data)
        with self._open_for_write(self._data_path(name)) as file:
            file.write(hashlib.sha256(content).digest() + content)

    def _load_data(self, name: str) -> Any:
        path = Path(self._data_path(name))
        content = path.read_bytes()
        if _is_open_to_others(path.stat()) or hashlib.sha256(content[32:]).digest() != content[:32]:
            raise ValueError("other users can write to the file, or it is damaged")
        return pickle.loads(content[32:])

    @contextmanager
    def _open_for_write(self, filepath: str) -> Iterator[Any]:
        with super()._open_for_write(filepath) as file:
            os.chmod(file.name, 0o644)  # whatever the umask is
            yield file

    def remove(self) -> None:
        """Delete the index: data files without an index are written over."""
        Path(self._index_path).unlink(missing_ok=True)


class KernelCache(FunctionCache):
    """numba's cache of one kernel; files that cannot be read or written are not an error."""

    _impl_class = _KernelImplementation
    full = False
    """For all kernels: a file could not be written, so nothing more is saved."""

    def __init__(self, function: Callable[..., Any]) -> None:
        super().__init__(function)
        files: Any = self._cache_file
        self._cache_file: Any = _KernelFiles(self._cache_path, self._impl.filename_base, files._source_stamp)

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        try:
            overload = super().load_overload(sig, target_context)
            # Of two processes that save code for different types together, one may overwrite the other's.
            if overload is None or overload.signature.args == tuple(sig):
                return overload
        except Exception:  # a damaged pickle raises nearly anything
            pass
        say_once(f"damaged or unprotected kernels in {cache_folder()} are compiled again")
        with suppress(OSError):  # then it cannot be written either, which `save_overload` says
            self._cache_file.remove()
        return None

    def save_overload(self, sig: Any, data: Any) -> None:
        if KernelCache.full:
            return
        try:
            super().save_overload(sig, data)
        except OSError as error:
            KernelCache.full = True
            say_once(f"compiled kernels cannot be cached in {cache_folder()}: {error.strerror or error}")
