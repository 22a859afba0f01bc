"""How kernels are compiled: one decorator, one cache that cannot go stale.

numba's own cache watches the file a kernel is written in, but not the files of the kernels that it
calls: after an edit there it silently runs the old code. So the cache folder carries a hash of every
file of the package that holds a kernel. Change one of them and all kernels are compiled again, once
(about 20 seconds).

The folder is ``~/.cache/gin-env`` (``$XDG_CACHE_HOME`` is respected); ``GIN_ENV_CACHE`` moves it. Where the
package lies does not matter: all installations of one release share what was compiled, and ``gin-rummy
compile`` fills the folder, for example when a container is built. A filled folder serves those who may only
read it. Of processes that need a kernel at the same time one compiles it, the others wait for it.

What lies in the folder is run as machine code, so a folder that other users may write, or one of theirs, is
refused, and so is one below such a folder (a sticky folder such as ``/tmp`` is fine: there nobody can replace
what is mine). Instead, and where there is no folder and none can be made, kernels are kept in a temporary
folder, which is removed when the process ends. Whatever is wrong with a cache is said in one line on stderr
and stops nobody: damaged kernels are compiled again, and where nothing can be kept (a full disk), they are
compiled for this process alone.
"""

from __future__ import annotations

import atexit
import hashlib
import os
import pickle
import shutil
import stat
import sys
import tempfile
from collections.abc import Callable
from contextlib import suppress
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numba
from filelock import FileLock, Timeout
from numba.core import event as numba_event
from numba.core.caching import CompileResultCacheImpl, FunctionCache, IndexDataCacheFile

_CONSTANTS = ("state.py",)
"""Files without a kernel whose constants are compiled into kernels (a test checks them)."""
LONGEST_WAIT = 60.0
"""Seconds for which a process waits for another one that compiles a kernel, before it does so itself."""


def kernel_sources() -> list[Path]:
    """Every file of the package that defines a kernel or a constant of one, in a fixed order."""
    folders = [Path(__file__).parents[1]]
    for name in ("gin_env.agents", "gin_env.wrappers"):  # in a checkout they are beside the package
        spec = find_spec(name)
        if spec is not None and spec.origin is not None:
            folders.append(Path(spec.origin).parent)
    files = {file for folder in folders for file in folder.rglob("*.py")}
    return sorted(file for file in files if file.name in _CONSTANTS or b"@kernel" in file.read_bytes())


def fingerprint(sources: list[Path]) -> str:
    """Twelve hex digits that change with any byte of any of the files."""
    digest = hashlib.sha256()
    # Sorted by name and content: a checkout and an installation have different folders.
    for name, code in sorted((source.name.encode(), source.read_bytes()) for source in sources):
        digest.update(name + b"\0" + code + b"\0")
    return digest.hexdigest()[:12]


# --- Where kernels are kept ---------------------------------------------------------------------------


@cache
def cache_folder() -> Path | None:
    """Where compiled kernels are kept (see above); None if nowhere."""
    base = os.environ.get("GIN_ENV_CACHE") or os.path.join(
        os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache"), "gin-env"
    )
    # Another release of numba would not read what this one wrote, and write over it.
    folder = Path(base).absolute() / f"{fingerprint(kernel_sources())}-numba-{numba.__version__}"
    try:
        if not folder.is_dir():
            folder.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            folder.mkdir(mode=0o700, exist_ok=True)
        folder = folder.resolve()
        if open_to_others := folder_open_to_others(folder):
            _say_once(
                f"kernels are not kept in {folder}, since other users may write {open_to_others}: "
                "take that right from them and delete what is there, "
                "or set GIN_ENV_CACHE to a folder of your own"
            )
        elif os.access(folder, os.R_OK | os.X_OK):
            return folder
    except OSError:
        pass
    return _temporary_folder()


def folder_open_to_others(folder: Path) -> Path | None:
    """The folder itself or the first above it that users other than this one and root may change.

    A group counts as this user alone if it bears the user's name and has no other members, as many systems
    set up.
    """
    if os.name != "posix":
        return None
    mine = (os.getuid(), 0)
    inside: os.stat_result | None = None
    for place in (folder, *folder.parents):
        about = place.stat()
        writable = about.st_mode & stat.S_IWOTH or (
            about.st_mode & stat.S_IWGRP and not _is_private_group(about.st_gid)
        )
        # In a sticky folder others can make things, but not replace those of this user.
        replaceable = writable and (inside is None or not about.st_mode & stat.S_ISVTX)
        if about.st_uid not in mine or replaceable:
            return place
        inside = about
    return None


def open_to_readers(folder: Path) -> None:
    """Let all users read a cache, and only this one write it. Raises OSError where that cannot be done."""
    for place in (folder.parent, folder, *folder.rglob("*")):
        place.chmod(0o755 if place.is_dir() else 0o644)


def _is_private_group(number: int) -> bool:
    import grp
    import pwd

    try:
        user, group = pwd.getpwuid(os.getuid()), grp.getgrgid(number)
    except KeyError:
        return False
    return group.gr_name == user.pw_name and set(group.gr_mem) <= {user.pw_name}


def _temporary_folder() -> Path | None:
    """A folder of this process, removed at its end."""
    try:
        folder = Path(tempfile.mkdtemp(prefix="gin-env-")).resolve()
    except OSError:
        return None
    owner = os.getpid()

    def remove() -> None:
        if os.getpid() == owner:  # not when a forked child ends
            shutil.rmtree(folder, ignore_errors=True)

    atexit.register(remove)
    return None if folder_open_to_others(folder) else folder


_said: set[str] = set()


def _say_once(line: str) -> None:
    if line not in _said:
        _said.add(line)
        print(f"gin-env: {line}", file=sys.stderr, flush=True)


# --- A cache that stops nobody ------------------------------------------------------------------------


@cache
def _lock() -> FileLock:
    """Held by the process that compiles."""
    return FileLock(Path(cache_folder() or tempfile.gettempdir(), ".lock"), mode=0o600)


class _Place:
    """Where numba keeps a kernel: a file's place in the package decides, not where the package lies."""

    def __init__(self, function: Callable[..., Any]) -> None:
        self._folder = cache_folder() or Path()
        self._line = function.__code__.co_firstlineno
        self._module = function.__module__

    @classmethod
    def from_function(cls, function: Callable[..., Any], file: str) -> _Place:
        return cls(function)

    def get_cache_path(self) -> str:
        return str(self._folder / self._module)

    def get_source_stamp(self) -> str:
        return self._folder.name

    def get_disambiguator(self) -> str:
        return str(self._line)

    def ensure_cache_path(self) -> None:
        Path(self.get_cache_path()).mkdir(mode=0o700, exist_ok=True)


class _KernelImplementation(CompileResultCacheImpl):
    _locator_classes: list[type[object]] = [_Place]  # noqa: RUF012


class _KernelFiles(IndexDataCacheFile):
    """numba's files of one kernel, with a checksum before the machine code: damaged code must not be run."""

    def _save_data(self, name: str, data: Any) -> None:
        content = self._dump(data)
        with self._open_for_write(self._data_path(name)) as file:
            file.write(hashlib.sha256(content).digest() + content)

    def _load_data(self, name: str) -> Any:
        content = Path(self._data_path(name)).read_bytes()
        if hashlib.sha256(content[32:]).digest() != content[:32]:
            raise ValueError("the checksum is wrong")
        return pickle.loads(content[32:])

    def remove(self) -> None:
        """Delete the index; data files without an index are written over."""
        Path(self._index_path).unlink(missing_ok=True)


class _KernelCache(FunctionCache):
    """numba's cache of one kernel, for which no file that cannot be read or written is an error."""

    _impl_class = _KernelImplementation
    full = False
    """For all kernels: something could not be written, nothing more is tried."""

    def __init__(self, function: Callable[..., Any]) -> None:
        super().__init__(function)
        files: Any = self._cache_file
        self._cache_file: Any = _KernelFiles(self._cache_path, self._impl.filename_base, files._source_stamp)

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        found = self._load(sig, target_context)
        if found is None and self._wait():  # another process may have compiled it meanwhile
            found = self._load(sig, target_context)
            if found is not None:
                _lock().release()
        return found

    def _load(self, sig: Any, target_context: Any) -> Any:
        try:
            found = super().load_overload(sig, target_context)
            # Of two processes that save code for different types at once, one may have lost its place.
            if found is None or found.signature.args == tuple(sig):
                return found
        except Exception:  # a damaged pickle raises nearly anything
            pass
        _say_once(f"damaged kernels in {cache_folder()} are compiled again")
        with suppress(OSError):  # then it cannot be written either, which `save_overload` says
            self._cache_file.remove()
        return None

    def _wait(self) -> bool:
        """Let no other process compile until `save_overload`; False if that cannot be had."""
        if _KernelCache.full:
            return False
        try:
            _lock().acquire(timeout=LONGEST_WAIT)  # as often as kernels call kernels
        except (OSError, Timeout, NotImplementedError):
            return False  # a folder for readers, too long a wait, or a file system without locks
        return True

    def save_overload(self, sig: Any, data: Any) -> None:
        try:
            if not _KernelCache.full:
                super().save_overload(sig, data)
        except OSError as error:
            _KernelCache.full = True
            _say_once(f"compiled kernels cannot be kept in {cache_folder()}: {error.strerror or error}")
        finally:
            _lock().release()


class _AnnounceCompilation(numba_event.Listener):
    """Says once per process that kernels are being compiled, so that it is not mistaken for a hang."""

    announced = False

    def on_start(self, event: Any) -> None:
        module = getattr(event.data.get("dispatcher"), "__module__", None) or ""
        if not self.announced and module.startswith("gin_env"):
            type(self).announced = True
            kept = f"kept in {cache_folder()}" if _can_keep() else "not kept"
            _say_once(
                "compiling (each part of the engine once on this machine, all in all about 20 seconds; "
                f"{kept})"
            )

    def on_end(self, event: Any) -> None:
        if event._exc_details is not None:  # it failed, so nothing is saved (`is_failed` says the opposite)
            _lock().release()


def _can_keep() -> bool:
    folder = cache_folder()
    return folder is not None and os.access(folder, os.W_OK)


numba_event.register("numba:compile", _AnnounceCompilation())


def kernel(function: Callable[..., Any]) -> Any:
    """Compile `function` with numba (nopython, released GIL, cached under `cache_folder`).

    The annotations of kernels are for readers: ``int`` stands for any integer type of numba's.
    """
    compiled = numba.njit(function, nogil=True)
    if cache_folder() is not None:
        try:
            compiled._cache = _KernelCache(function)
        except (AttributeError, TypeError):  # a release of numba that keeps its files otherwise
            return numba.njit(function, cache=True, nogil=True)
    return compiled
