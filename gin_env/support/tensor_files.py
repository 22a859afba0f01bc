"""Files of weights: tensors in the safetensors format with what they are and where they come from, and a checksum over both.

Every network of this package is kept this way: the estimators', the hand-strength networks' and the generations'.
"""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

from gin_env.support.atomic import write_bytes
from gin_env.support.version import __version__

if TYPE_CHECKING:
    import torch


class TensorFileError(ValueError):
    """A file that does not hold the tensors which were looked for, whole and of this release's version."""


def write_tensors(
    path: str | Path, kind: str, version: str, tensors: dict[str, torch.Tensor], metadata: dict[str, Any]
) -> None:
    """Write tensors to a file, at once or not at all.

    Parameters
    ----------
    kind : what the file holds, such as "hand-strength network".
    version : changes when the tensors mean something else.
    metadata : where they come from; must fit into JSON. ``kind``, ``file_version`` and the release (``version``) are added to it.
    """
    from safetensors.torch import save

    tensors = {name: tensor.detach().contiguous().clone() for name, tensor in tensors.items()}
    described = metadata | {"kind": kind, "file_version": version, "version": __version__}
    text = json.dumps(described, sort_keys=True)
    # One entry: the order of several would differ from run to run, and equal networks shall be equal files.
    write_bytes(path, save(tensors, metadata={"gin_env": f"{_checksum(tensors, text)} {text}"}))


def read_tensors(
    path: str | Path, kind: str, version: str, command: str
) -> tuple[dict[str, torch.Tensor], dict[str, Any]]:
    """(tensors, metadata) of a file that `write_tensors` wrote.

    `command` is what makes such a file anew; a user with an old one is told it. Raises ImportError without torch and safetensors,
    FileNotFoundError, or TensorFileError for a file that is damaged, or of another origin, kind or version.
    """
    path = Path(path)
    if not path.is_file():
        raise FileNotFoundError(f"there is no {kind} {path}")
    try:
        import torch  # noqa: F401 (safetensors needs it, and says so less clearly)
        from safetensors import SafetensorError, safe_open
    except ImportError as error:
        raise ImportError(f'a {kind} needs torch and safetensors: pip install "gin-env[train]"') from error
    try:
        with safe_open(path, framework="pt") as file:
            tensors = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118 (no mapping)
            header = file.metadata() or {}
    except (SafetensorError, OSError, ValueError) as error:
        raise TensorFileError(f"{path} is no safetensors file, or is damaged ({error})") from error
    if "gin_env" not in header:
        raise TensorFileError(f"{path} does not say what it is: it was not written by gin-env")
    checksum, _, text = header["gin_env"].partition(" ")
    if checksum != _checksum(tensors, text):
        raise TensorFileError(f"{path} is damaged: its checksum does not fit")
    metadata = json.loads(text)
    if metadata["kind"] != kind:
        raise TensorFileError(f"{path} holds a {metadata['kind']}, not a {kind}")
    if metadata["file_version"] != version:
        raise TensorFileError(
            f"{path} has version {metadata['file_version']}, this release reads {version}; "
            f"make it anew with `{command}`"
        )
    return tensors, metadata


def _checksum(tensors: dict[str, torch.Tensor], text: str) -> str:
    digest = hashlib.sha256(text.encode())
    for name in sorted(tensors):
        digest.update(name.encode() + tensors[name].contiguous().numpy().tobytes())
    return digest.hexdigest()
