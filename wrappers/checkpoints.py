"""A model of MaskablePPO in the middle of its training as plain tensors: no checkpoint holds pickled objects.

>>> metadata = {"decisions": model.num_timesteps}
>>> write_tensors("run.safetensors", "my checkpoint", "1", model_tensors(model), metadata)
>>> tensors, metadata = read_tensors("run.safetensors", "my checkpoint", "1", "python my_script.py")
>>> restore_model(model, tensors)   # a new model, made with the same settings
"""

from __future__ import annotations

import numpy as np
import torch
from sb3_contrib import MaskablePPO


def model_tensors(model: MaskablePPO) -> dict[str, torch.Tensor]:
    """Everything of a model that learning changes: network, optimizer, random generators.

    These are torch's and NumPy's: SB3 uses both.
    """
    tensors = {f"policy.{name}": value for name, value in model.policy.state_dict().items()}
    for number, state in model.policy.optimizer.state_dict()["state"].items():
        tensors |= {f"optimizer.{number}.{name}": value for name, value in state.items()}
    _, keys, position, *_ = np.random.get_state()  # noqa: NPY002 (SB3 draws its minibatches from it)
    tensors["random.numpy"] = torch.from_numpy(np.append(keys, position).astype(np.int64))
    tensors["random.torch"] = torch.get_rng_state()
    return tensors


def restore_model(model: MaskablePPO, tensors: dict[str, torch.Tensor]) -> None:
    """Put what `model_tensors` returned into a model with the same settings.

    Raises ValueError if it does not fit.
    """
    parts: dict[str, dict[str, torch.Tensor]] = {"policy": {}, "optimizer": {}, "random": {}}
    for key, value in tensors.items():
        part, name = key.split(".", 1)
        parts[part][name] = value
    states: dict[int, dict[str, torch.Tensor]] = {}
    for key, value in parts["optimizer"].items():
        number, name = key.split(".")
        states.setdefault(int(number), {})[name] = value
    optimizer = model.policy.optimizer
    try:
        model.policy.load_state_dict(parts["policy"])
        optimizer.load_state_dict({"state": states, "param_groups": optimizer.state_dict()["param_groups"]})
    except (RuntimeError, ValueError) as error:
        raise ValueError(f"the checkpoint is of a model with other settings: {error}") from error
    torch.set_rng_state(parts["random"]["torch"])
    *keys, position = parts["random"]["numpy"].tolist()
    np.random.set_state(("MT19937", np.array(keys, np.uint32), position, 0, 0.0))  # noqa: NPY002
