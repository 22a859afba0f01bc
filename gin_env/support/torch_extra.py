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
