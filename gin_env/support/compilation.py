"""The decorators of all compiled functions."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

import numba
from numba.core import event as numba_event

from gin_env.support.kernel_cache import KernelCache, cache_folder, can_keep, say_once, source_file


def kernel(function: Callable[..., Any]) -> Any:
    """Compile `function` with numba (nopython, released GIL, cached under `cache_folder`).

    The annotations of kernels are for readers: ``int`` stands for any of numba's integer types.
    """
    return _compile(function, fastmath=False)


def kernel_of_sums(function: Callable[..., Any]) -> Any:
    """Like `kernel`, but sums may be reordered and products fused: other processors may round differently."""
    return _compile(function, fastmath={"reassoc", "contract"})


def _compile(function: Callable[..., Any], fastmath: bool | set[str]) -> Any:
    compiled = numba.njit(function, nogil=True, fastmath=fastmath)
    if inspect.isgeneratorfunction(function):  # numba cannot call one that it has loaded from its cache
        return compiled
    # A module without a file, such as an interactive one, has nothing that a key could be made of.
    if cache_folder() is not None and source_file(function.__module__) is not None:
        try:
            compiled._cache = KernelCache(function)
        except (AttributeError, TypeError):  # a release of numba with other cache classes
            return numba.njit(function, cache=True, nogil=True, fastmath=fastmath)
    return compiled


class _AnnounceCompilation(numba_event.Listener):
    """Says once per process that kernels are being compiled, so that it is not mistaken for a hang."""

    def on_start(self, event: Any) -> None:
        module = getattr(event.data.get("dispatcher"), "__module__", None) or ""
        if module.startswith("gin_env"):
            kept = f"kept in {cache_folder()}" if can_keep() else "not kept"
            say_once(f"compiling what is used for the first time (about 20 seconds on an idle core; {kept})")

    def on_end(self, event: Any) -> None:
        pass


_announcement = _AnnounceCompilation()
numba_event.register("numba:compile", _announcement)


def compile_silently() -> None:
    """Don't announce compilation in this process, because another one does."""
    numba_event.unregister("numba:compile", _announcement)
