"""Loading memory into the cache before a kernel writes to it."""

# mypy: disable-error-code="no-untyped-def,return-value"

from __future__ import annotations

from typing import Any

from llvmlite import ir
from numba import config, types
from numba.core import cgutils
from numba.extending import intrinsic

from gin_env.support.compilation import kernel

CACHE_LINE = 64
"""Bytes of a cache line; on processors with longer lines, some are loaded twice."""
_TO_WRITE, _ALL_CACHES, _DATA = 1, 3, 1
"""Arguments of LLVM's prefetch."""


def _compile_prefetch(typing_context: Any, array: Any, byte: Any) -> Any:
    """Compile the call ``_prefetch(array, byte)``, which begins to load the cache line of this byte."""

    def compile_call(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        pointer, number = ir.IntType(8).as_pointer(), ir.IntType(32)
        of_prefetch = ir.FunctionType(ir.VoidType(), [pointer, number, number, number])
        prefetch = cgutils.get_or_insert_function(builder.module, of_prefetch, "llvm.prefetch.p0i8")
        data = context.make_array(signature.args[0])(context, builder, arguments[0]).data
        address = builder.gep(builder.bitcast(data, pointer), [arguments[1]])
        builder.call(prefetch, [address, number(_TO_WRITE), number(_ALL_CACHES), number(_DATA)])
        return context.get_dummy_value()

    return types.void(array, byte), compile_call


# Without compilation there is nothing to do.
_prefetch: Any = (lambda *_: None) if config.DISABLE_JIT else intrinsic(_compile_prefetch)


@kernel
def prefetch_row(array, row: int) -> None:
    """Begin to load a row of an array into the cache, to write to it. There may be no such row.

    The values of a row must follow each other without gaps.

    >>> import numpy as np
    >>> rows = np.arange(6).reshape(3, 2)
    >>> prefetch_row(rows, 1)
    >>> prefetch_row(rows, 3)
    >>> rows.tolist()
    [[0, 1], [2, 3], [4, 5]]
    """
    if row < len(array):
        for byte in range(0, array[row].size * array.itemsize, CACHE_LINE):
            _prefetch(array, row * array.strides[0] + byte)
