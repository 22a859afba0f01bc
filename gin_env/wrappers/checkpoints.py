"""Conversion of a MaskablePPO model in training to plain tensors, for checkpoints without pickled objects.

>>> metadata = {"decisions": model.num_timesteps}
>>> write_tensors("run.safetensors", "my checkpoint", "1", model_tensors(model), metadata)
>>> tensors, metadata = read_tensors("run.safetensors", "my checkpoint", "1", "python my_script.py")
>>> restore_model(model, tensors)  # `model` is a new model with the same settings
"""

from __future__ import annotations

import numpy as np
import torch
from sb3_contrib import MaskablePPO

from gin_env.training.checkpoints import Tensors, by_prefix, optimizer_tensors, prefixed, restore_optimizer


def model_tensors(model: MaskablePPO) -> Tensors:
    """Return everything that training changes in a model: network, optimizer and random generators.

    The generators are the global ones of torch and NumPy, both of which SB3 uses.
    """
    _, keys, position, *_ = np.random.get_state()  # noqa: NPY002 (SB3 draws its minibatches from it)
    random = {
        "numpy": torch.from_numpy(np.append(keys, position).astype(np.int64)),
        "torch": torch.get_rng_state(),
    }
    return (
        prefixed("policy", model.policy.state_dict())
        | prefixed("optimizer", optimizer_tensors(model.policy.optimizer))
        | prefixed("random", random)
    )


def restore_model(model: MaskablePPO, tensors: Tensors) -> None:
    """Restore a model with the same settings from the result of `model_tensors`.

    Raises ValueError if the tensors do not fit the model.
    """
    groups = by_prefix(tensors)
    try:
        model.policy.load_state_dict(groups["policy"])
        restore_optimizer(model.policy.optimizer, groups.get("optimizer", {}))
    except (RuntimeError, ValueError) as error:
        raise ValueError(f"the checkpoint is of a model with other settings: {error}") from error
    torch.set_rng_state(groups["random"]["torch"])
    *keys, position = groups["random"]["numpy"].tolist()
    np.random.set_state(("MT19937", np.array(keys, np.uint32), position, 0, 0.0))  # noqa: NPY002
