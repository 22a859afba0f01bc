"""Networks and optimizers as the named tensors of a checkpoint, and the settings that it keeps."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from pathlib import Path
from typing import Any

import torch

Tensors = dict[str, torch.Tensor]


def check_same_settings(
    run: Path, own: Mapping[str, Any], given: Mapping[str, Any], may_change: Collection[str] = ()
) -> None:
    """Raise ValueError, with the first one, if settings given to resume a run differ from its own."""
    for name, value in given.items():
        mine = own.get(name)
        if name not in may_change and mine != value:
            raise ValueError(f"the run in {run} has {name} = {mine} and cannot be resumed with {value}")


def prefixed(prefix: str, tensors: Mapping[str, torch.Tensor]) -> Tensors:
    """Return copies of the tensors under the names ``prefix.name``, on the CPU."""
    return {f"{prefix}.{name}": tensor.detach().cpu().clone() for name, tensor in tensors.items()}


def by_prefix(tensors: Mapping[str, torch.Tensor]) -> dict[str, Tensors]:
    """Return the tensors grouped by prefix, the inverse of `prefixed`."""
    groups: dict[str, Tensors] = {}
    for key, tensor in tensors.items():
        prefix, name = key.split(".", 1)
        groups.setdefault(prefix, {})[name] = tensor
    return groups


def optimizer_tensors(optimizer: torch.optim.Optimizer) -> Tensors:
    """Return the state of an optimizer under names like ``0.exp_avg``, for a checkpoint."""
    tensors: Tensors = {}
    for index, state in optimizer.state_dict()["state"].items():
        tensors |= prefixed(str(index), state)
    return tensors


def restore_optimizer(optimizer: torch.optim.Optimizer, tensors: Mapping[str, torch.Tensor]) -> None:
    """Restore the tensors of `optimizer_tensors`. Raises ValueError if they are of other parameters."""
    state = {
        int(index): {name: tensor.clone() for name, tensor in values.items()}
        for index, values in by_prefix(tensors).items()
    }
    groups = optimizer.state_dict()["param_groups"]
    optimizer.load_state_dict({"state": state, "param_groups": groups})
