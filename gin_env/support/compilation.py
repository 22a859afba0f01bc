"""The decorator of all compiled functions."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numba
from numba.core import event as numba_event

from gin_env.support.kernel_cache import KernelCache, cache_folder, can_keep, say_once


def kernel(function: Callable[..., Any] | None = None, *, reorder_sums: bool = False) -> Any:
    """Compile `function` with numba (nopython, released GIL, cached under `cache_folder`).

    The annotations of kernels are for readers: ``int`` stands for any of numba's integer types. With
    `reorder_sums`, floating-point sums and products may be reordered and fused, so that another processor
    may round them differently.
    """
    if function is None:
        return partial(kernel, reorder_sums=reorder_sums)
    fastmath = {"reassoc", "contract"} if reorder_sums else False
    compiled = numba.njit(function, nogil=True, fastmath=fastmath)
    if cache_folder() is not None:
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
            say_once(f"compiling (about 20 seconds for the environments, once on this machine; {kept})")

    def on_end(self, event: Any) -> None:
        pass


numba_event.register("numba:compile", _AnnounceCompilation())
