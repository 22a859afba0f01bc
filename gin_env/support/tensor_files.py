"""Weight files: safetensors with a description, provenance and a checksum.

All networks of this package are stored in this format: those of the estimators, the hand-strength networks
and the generations.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from gin_env.support.atomic import write_bytes
from gin_env.support.files import check_regular_file
from gin_env.support.version import __version__

if TYPE_CHECKING:
    import torch
    from torch import nn

ENDING = ".safetensors"
MAX_BYTES = 1 << 29
"""Maximum size of a file in bytes. The largest network that a file can name, a policy, has 460 MB."""
_MAX_TEXT = 1 << 22
_MAX_TENSORS = 10_000
MAX_NUMBER = 1e9
"""Largest absolute value of a number. Larger weights overflow single precision after a few layers; a
checkpoint's counts, such as points won, can reach millions."""
_NUMBERS = {"F16", "F32", "F64", "I64", "I32", "U8", "BOOL"}


class TensorFileError(ValueError):
    """The file does not contain the expected tensors, complete and in this release's version."""


def check_ending(path: str | Path, what: str) -> None:
    """Raise ValueError unless the path of `what`, such as "a policy", ends in ``.safetensors``."""
    if Path(path).suffix != ENDING:
        raise ValueError(f"the file name of {what} must end in {ENDING}, not {path}")


def write_tensors(
    path: str | Path, kind: str, version: str, tensors: dict[str, torch.Tensor], metadata: dict[str, Any]
) -> None:
    """Write tensors to a file atomically.

    Parameters
    ----------
    kind : what the file contains, such as "hand-strength network".
    version : changes when the meaning of the tensors changes.
    metadata : provenance of the tensors, serialisable as JSON. ``kind``, ``file_version`` and the release
        (``version``) are added to it.

    Raises ValueError for tensors that `read_tensors` would refuse; the file is left as it was.
    """
    from safetensors.torch import save

    for name, tensor in tensors.items():
        if wrong := fault_of(tensor):
            raise ValueError(f"some numbers of {name} are {wrong}; {path} is left as it was")
    tensors = {name: tensor.detach().contiguous().clone() for name, tensor in tensors.items()}
    described = metadata | {"kind": kind, "file_version": version, "version": __version__}
    text = json.dumps(described, sort_keys=True)
    # A single entry, since the order of several varies between runs. Equal networks must give equal files.
    content = save(tensors, metadata={"gin_env": f"{_checksum(tensors, text)} {text}"})
    if len(tensors) > _MAX_TENSORS or len(content) > MAX_BYTES:
        raise ValueError(
            f"{len(tensors):,} tensors in {len(content):,} bytes are too many: a file holds at most "
            f"{_MAX_TENSORS:,} in {MAX_BYTES:,} bytes; {path} is left as it was"
        )
    write_bytes(path, content)


def read_tensors(
    path: str | Path, kind: str, version: str, command: str
) -> tuple[dict[str, torch.Tensor], dict[str, Any]]:
    """Return the tensors and the metadata of a file that `write_tensors` wrote.

    All numbers are finite and at most 1e9 in absolute value. `command` is the command that makes such a file;
    error messages show it. If the file is replaced while it is being read, it is read again: the library
    opens it twice.

    Raises ImportError without torch and safetensors, FileNotFoundError, or TensorFileError for a file that is
    damaged, too large, not a regular file, or of another origin, kind or version.
    """
    while True:
        before = _identity(path)
        try:
            return _read_tensors(path, kind, version, command)
        except TensorFileError:
            if _identity(path) == before:
                raise


def _identity(path: str | Path) -> tuple[int, int, int] | None:
    """Return values that change when the file is replaced by another one, or None if it does not exist."""
    try:
        found = Path(path).stat()
    except OSError:
        return None
    return found.st_ino, found.st_mtime_ns, found.st_size


def _read_tensors(
    path: str | Path, kind: str, version: str, command: str
) -> tuple[dict[str, torch.Tensor], dict[str, Any]]:
    remedy = f"copy it again, or make it again with `{command}`"
    with _open(path, kind) as file:
        checksum, text, metadata = _read_metadata(path, file)
        if metadata["kind"] != kind:
            raise TensorFileError(f"{path} holds a {metadata['kind']}, not a {kind}")
        if metadata.get("file_version") != version:
            raise TensorFileError(
                f"{path} has version {_short(metadata.get('file_version'))}, this release reads {version}; "
                f"make it again with `{command}`"
            )
        names = sorted(file.keys())
        if len(names) > _MAX_TENSORS:
            raise TensorFileError(
                f"{path} is damaged: it holds {len(names):,} tensors, more than {_MAX_TENSORS:,}; {remedy}"
            )
        for name in names:
            if (numbers := file.get_slice(name).get_dtype()) not in _NUMBERS:
                raise TensorFileError(
                    f"{path} is damaged: {_short(name)} holds numbers of type {numbers}; {remedy}"
                )
        tensors = {name: file.get_tensor(name) for name in names}
    if checksum != _checksum(tensors, text):
        raise TensorFileError(f"{path} is damaged: its checksum does not match; {remedy}")
    for name, tensor in tensors.items():
        if wrong := fault_of(tensor):
            raise TensorFileError(f"{path} is damaged: some numbers of {_short(name)} are {wrong}; {remedy}")
    return tensors, metadata


def fault_of(tensor: torch.Tensor) -> str:
    """Return why a file must not hold these numbers: "not finite", "larger than ..." or an empty text."""
    if not tensor.isfinite().all():
        return "not finite"
    if tensor.is_floating_point() and (tensor.abs() > MAX_NUMBER).any():
        return f"larger than {MAX_NUMBER:,.0f}"
    return ""


def read_kind(path: str | Path, sought: str) -> str:
    """Return the kind of a file that `write_tensors` wrote, without reading its tensors.

    `sought` is the kind named in error messages, such as "trained policy". Raises as `read_tensors` does.
    """
    with _open(path, sought) as file:
        return _read_metadata(path, file)[2]["kind"]


def fill_network(network: nn.Module, tensors: dict[str, torch.Tensor], path: str | Path) -> None:
    """Load the weights from a file into a network, in single precision.

    The network can be on the device "meta", where it takes no memory. Raises TensorFileError unless the names
    and shapes of the tensors match the network's.
    """
    expected = {name: tuple(tensor.shape) for name, tensor in network.state_dict().items()}
    found = {name: tuple(tensor.shape) for name, tensor in tensors.items()}
    for name in sorted(expected.keys() | found.keys()):
        if expected.get(name) != found.get(name):
            shapes = f"{found.get(name, 'none')}, not {expected.get(name, 'none')}"
            raise TensorFileError(
                f"{path} does not match its own architecture: {_short(name)} has shape {shapes}"
            )
    # Copies, since the tensors may still be mapped from the file.
    single = {
        name: (tensor.float() if tensor.is_floating_point() else tensor).clone()
        for name, tensor in tensors.items()
    }
    network.load_state_dict(single, assign=True)


@contextlib.contextmanager
def _open(path: str | Path, kind: str) -> Iterator[Any]:
    """Open a file with the safetensors library."""
    if not Path(path).exists():
        raise FileNotFoundError(f"there is no {kind} {path}")
    try:
        check_regular_file(path, MAX_BYTES)
    except ValueError as error:
        raise TensorFileError(str(error)) from error
    try:
        import torch  # noqa: F401 (safetensors needs it; its own error is less clear)
        from safetensors import SafetensorError, safe_open
    except ImportError as error:
        raise ImportError(f'a {kind} needs torch and safetensors: pip install "gin-env[train]"') from error
    try:
        with safe_open(path, framework="pt") as file:
            yield file
    except TensorFileError:
        raise
    except (SafetensorError, OSError, ValueError) as error:
        raise TensorFileError(f"{path} is not a safetensors file, or is damaged ({error})") from error


def _read_metadata(path: str | Path, file: Any) -> tuple[str, str, dict[str, Any]]:
    """Return the checksum, the text and the parsed text of the metadata entry that `write_tensors` writes."""
    header = file.metadata() or {}
    if "gin_env" not in header:
        raise TensorFileError(
            f"{path} has no gin-env metadata: it was not written by gin-env (agents.save_network writes a "
            "network of your own)"
        )
    checksum, _, text = header["gin_env"].partition(" ")
    if len(text) > _MAX_TEXT:
        raise TensorFileError(f"{path} is damaged: its metadata has {len(text):,} characters")
    try:
        metadata = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise TensorFileError(f"{path} is damaged: its metadata is not valid JSON ({error})") from error
    if not isinstance(metadata, dict) or not isinstance(metadata.get("kind"), str):
        raise TensorFileError(f"{path} is damaged: its metadata is not a JSON object with a kind")
    if _short(metadata["kind"]) != metadata["kind"]:
        raise TensorFileError(f"{path} is damaged: its kind is {_short(metadata['kind'])}")
    return checksum, text, metadata


def _short(value: object) -> str:
    """Return a value from an untrusted file, shortened for use in an error message."""
    text = str(value) if isinstance(value, str | int | float | None) else type(value).__name__
    return text if len(text) <= 80 and text.isprintable() else ascii(text[:60]) + "..."


def _checksum(tensors: dict[str, torch.Tensor], text: str) -> str:
    digest = hashlib.sha256(text.encode(errors="surrogatepass"))
    for name in sorted(tensors):
        digest.update(name.encode() + tensors[name].contiguous().numpy().tobytes())
    return digest.hexdigest()
