"""Named parts that a network reads, so that its file remains valid when a release adds parts.

A network reads some of four vectors: ``"observation"`` (`gin_env.observations.observation`), ``"row"`` and
``"context"`` (`gin_env.observations.candidates`), and ``"memory"`` (`gin_env.observations.memory`). Its file
lists the parts of each in the order of its inputs. A release may add parts anywhere; a part whose meaning
changes gets another name.

>>> described = {"reads": describe_parts("row", "context")}   # when the network is saved
>>> columns = find_parts("row", described["reads"])           # when it is loaded: int64 (inputs,)
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from gin_env.observations import candidates, memory, observation

if TYPE_CHECKING:
    import torch

VECTORS: dict[str, Mapping[str, slice]] = {
    "observation": {name: part.slice for name, part in observation.LAYOUT.items()},
    "row": candidates.LAYOUT,
    "context": {name: slice(index, index + 1) for index, name in enumerate(candidates.CONTEXT)},
    "memory": memory.LAYOUT,
}
"""Vector -> part -> where it is."""


def describe_parts(*vectors: str) -> dict[str, list[list[Any]]]:
    """Return all parts of these vectors, for JSON: vector -> [[name, number of values], ...]."""
    return {
        vector: [[name, where.stop - where.start] for name, where in VECTORS[vector].items()]
        for vector in vectors
    }


def find_parts(vector: str, reads: object) -> np.ndarray:
    """Return the positions of the parts that `describe_parts` listed, in their order: int64 (k,).

    Raises ValueError for anything else, and for a part that this release does not have or has in another
    size.
    """
    parts = reads.get(vector) if isinstance(reads, Mapping) else None
    if not isinstance(parts, list) or not parts:
        raise ValueError(f"it does not say which parts of the {vector} it reads")
    layout, columns, names = VECTORS[vector], [np.empty(0, np.int64)], set()
    for part in parts:
        if not isinstance(part, list) or len(part) != 2 or not isinstance(part[0], str):
            raise ValueError(f"a part of the {vector} must be [name, size], not {str(part)[:80]!r}")
        name, size = part
        if name not in layout or name in names:
            raise ValueError(f"it reads {name[:80]!r} of the {vector}, which this release does not have")
        where = layout[name]
        if size != where.stop - where.start:
            raise ValueError(
                f"it reads {str(size)[:20]} values of {name!r}, which has {where.stop - where.start} here"
            )
        names.add(name)
        columns.append(np.arange(where.start, where.stop))
    return np.concatenate(columns)


def place_columns(weight: torch.Tensor, vector: str, reads: object) -> torch.Tensor:
    """Return the matrix of a layer that reads a whole vector, from that of a layer that reads these parts.

    Takes a matrix (n, k) whose columns are the parts in `reads`, and returns one with a column for each value
    of the vector; those of parts that the layer does not read are 0. A matrix with another number of columns
    is returned as it is. Raises as `find_parts` does.
    """
    columns = find_parts(vector, reads)
    if weight.shape[1:] != (len(columns),):
        return weight
    size = max(where.stop for where in VECTORS[vector].values())
    placed = weight.new_zeros(len(weight), size)
    placed[:, columns] = weight
    return placed
