"""How kernels are compiled: one decorator, one cache that cannot go stale.

numba's own cache watches the file a kernel is written in, but not the files of the kernels that it
calls: after an edit there it silently runs the old code. So the cache folder carries a hash of every
file of the package that holds a kernel. Change one of them and all kernels are compiled again, once
(about 20 seconds).

The folder is ``~/.cache/gin-env`` (``$XDG_CACHE_HOME`` is respected); ``GIN_ENV_CACHE`` moves it.
"""

from __future__ import annotations

import hashlib
import os
import sys
import tempfile
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import numba
from numba.core import event as numba_event

_CONSTANTS = ("state.py",)
"""Files without a kernel whose constants are compiled into kernels (tests/test_compilation.py checks)."""


def kernel_sources() -> list[Path]:
    """Every file of the package that defines a kernel or a constant of one, in a fixed order."""
    package = Path(__file__).parent
    files = [
        Path(folder, name)
        for folder, _, names in os.walk(package, followlinks=True)  # in a checkout gin_env/agents is a link
        for name in names
        if name.endswith(".py")
    ]
    return sorted(file for file in files if file.name in _CONSTANTS or b"@kernel" in file.read_bytes())


def fingerprint(sources: list[Path]) -> str:
    """Twelve hex digits that change with any byte of any of the files."""
    digest = hashlib.sha256()
    # Sorted by name and content: a checkout and an installation have different folders.
    for name, code in sorted((source.name.encode(), source.read_bytes()) for source in sources):
        digest.update(name + b"\0" + code + b"\0")
    return digest.hexdigest()[:12]


@cache
def cache_folder() -> Path:
    """Where compiled kernels are kept; a temporary folder if the home folder cannot be written."""
    base = os.environ.get("GIN_ENV_CACHE") or os.path.join(
        os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache"), "gin-env"
    )
    folder = Path(base) / fingerprint(kernel_sources())
    try:
        folder.mkdir(parents=True, exist_ok=True)
        writable = os.access(folder, os.W_OK)
    except OSError:
        writable = False
    return folder if writable else Path(tempfile.mkdtemp(prefix="gin-env-"))


class _AnnounceCompilation(numba_event.Listener):
    """Says once per process that kernels are being compiled, so that it is not mistaken for a hang."""

    announced = False

    def on_start(self, event: Any) -> None:
        module = getattr(event.data.get("dispatcher"), "__module__", None) or ""
        if not self.announced and module.startswith("gin_env"):
            type(self).announced = True
            print(
                "gin-env: compiling (each part of the engine once on this machine, all in all about "
                f"20 seconds; kept in {cache_folder()})",
                file=sys.stderr,
                flush=True,
            )

    def on_end(self, event: Any) -> None:
        pass


numba_event.register("numba:compile", _AnnounceCompilation())


def kernel(function: Callable[..., Any]) -> Any:
    """Compile `function` with numba (nopython, released GIL, cached under `cache_folder`).

    The annotations of kernels are for readers: ``int`` stands for any integer type of numba's.
    """
    settings: Any = numba.config
    previous = settings.CACHE_DIR
    settings.CACHE_DIR = str(cache_folder())
    try:
        return numba.njit(function, cache=True, nogil=True)
    finally:
        settings.CACHE_DIR = previous
