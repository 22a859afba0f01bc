"""PyTorch, or an error that names the extra which installs it.

>>> from gin_env.support.torch_extra import nn, torch
"""

from __future__ import annotations

try:
    import torch as torch
    from torch import nn as nn
    from torch.nn import functional as functional
except ImportError as error:  # pragma: no cover - the tests have torch
    raise ImportError('networks need torch: pip install "gin-env[train]"') from error


def multiply(layer: nn.Linear, inputs: torch.Tensor) -> torch.Tensor:
    """Return ``layer(inputs)``, in bfloat16 with an even number of columns.

    PyTorch's library for products in bfloat16 reads one number beyond a row of odd length. Its weight is 0,
    but if what follows the last row is NaN, so is the product. Like autocast, this leaves float64 as it is.
    """
    autocast = torch.is_autocast_enabled(inputs.device.type) and layer.weight.dtype != torch.float64
    if inputs.shape[-1] % 2 == 0 or not (autocast or layer.weight.dtype == torch.bfloat16):
        return layer(inputs)
    even = functional.pad(inputs.to(torch.bfloat16), (0, 1))
    return functional.linear(even, functional.pad(layer.weight, (0, 1)), layer.bias)
