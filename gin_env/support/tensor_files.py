"""Network files: safetensors with a description, provenance and a checksum.

All networks of this package are stored in this format, and the checkpoints of trainings. Each kind of network
is a `NetworkFormat`.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from gin_env.support.atomic import write_bytes
from gin_env.support.files import check_regular_file
from gin_env.support.version import __version__

if TYPE_CHECKING:
    import torch
    from torch import nn

ENDING = ".safetensors"
MAX_BYTES = 1 << 29
"""Maximum size of a file in bytes. The largest network that a file can name, a policy, has 460 MB."""
MAX_HEADER = 1 << 24
"""Maximum size of the header in bytes, which has the metadata and the names of the tensors."""
MAX_NUMBER = 1e9
"""Largest absolute value of a number. Larger weights overflow single precision after a few layers; a
checkpoint's counts, such as points won, can reach millions."""
_NUMBERS = {"F16", "F32", "F64", "I64", "I32", "U8", "BOOL"}

Network = TypeVar("Network", bound="nn.Module")


class TensorFileError(ValueError):
    """The file does not contain the expected tensors, complete and in this release's version."""


@dataclass(frozen=True)
class NetworkFormat:
    """One kind of network file, with methods to write and read it."""

    kind: str
    """What the file contains, such as "hand-strength network"."""
    version: str
    """Changes when the inputs or the layers of the network change; files of other versions are refused."""
    command: str
    """The command that makes such a file, shown in error messages."""

    def write(self, path: str | Path, network: nn.Module, metadata: dict[str, Any]) -> None:
        """Write a network and its metadata. Raises as `write_tensors` does."""
        self.write_tensors(path, network.state_dict(), metadata)

    def write_tensors(
        self, path: str | Path, tensors: dict[str, torch.Tensor], metadata: dict[str, Any]
    ) -> None:
        """Write tensors to a file atomically.

        `metadata` is their provenance, serialisable as JSON. ``kind``, ``file_version`` and the release
        (``version``) are added to it.

        Raises ValueError for tensors that `read_tensors` would refuse; the file is left as it was.
        """
        from safetensors.torch import save

        for name, tensor in tensors.items():
            if wrong := fault_of(tensor):
                raise ValueError(f"some numbers of {name} are {wrong}; {path} is left as it was")
        tensors = {name: tensor.detach().contiguous().clone() for name, tensor in tensors.items()}
        described = metadata | {"kind": self.kind, "file_version": self.version, "version": __version__}
        text = json.dumps(described, sort_keys=True)
        # A single entry, since the order of several varies between runs: equal networks give equal files.
        content = save(tensors, metadata={"gin_env": f"{_checksum(tensors, text)} {text}"})
        if int.from_bytes(content[:8], "little") > MAX_HEADER or len(content) > MAX_BYTES:
            raise ValueError(
                f"{len(tensors):,} tensors and their metadata in {len(content):,} bytes are too many: a file "
                f"has at most {MAX_BYTES:,} bytes and a header of {MAX_HEADER:,}; {path} is left as it was"
            )
        write_bytes(path, content)

    def read_tensors(self, path: str | Path) -> tuple[dict[str, torch.Tensor], dict[str, Any]]:
        """Return the tensors and the metadata of a file that `write_tensors` wrote.

        All numbers are finite and at most 1e9 in absolute value.

        Raises ImportError without torch and safetensors, FileNotFoundError, or TensorFileError for a file
        that is damaged, too large, not a regular file, or of another origin, kind or version.
        """
        content, header = _read_file(path, self.kind)
        remedy = f"copy it again, or make it again with `{self.command}`"
        checksum, text, metadata = _read_metadata(path, header)
        if metadata["kind"] != self.kind:
            raise TensorFileError(f"{path} holds a {metadata['kind']}, not a {self.kind}")
        if metadata.get("file_version") != self.version:
            raise TensorFileError(
                f"{path} has version {_short(metadata.get('file_version'))}, this release reads "
                f"{self.version}; make it again with `{self.command}`"
            )
        for name, described in header.items():
            numbers = described.get("dtype") if isinstance(described, dict) else None
            if name != "__metadata__" and numbers not in _NUMBERS:
                raise TensorFileError(
                    f"{path} is damaged: {_short(name)} holds numbers of type {_short(numbers)}; {remedy}"
                )
        try:
            from safetensors import SafetensorError
            from safetensors.torch import load
        except ImportError as error:
            raise ImportError(
                f'a {self.kind} needs torch and safetensors: pip install "gin-env[train]"'
            ) from error
        try:
            tensors = dict(sorted(load(content).items()))
        except (SafetensorError, ValueError) as error:
            raise _not_safetensors(path, error) from error
        if checksum != _checksum(tensors, text):
            raise TensorFileError(f"{path} is damaged: its checksum does not match; {remedy}")
        for name, tensor in tensors.items():
            if wrong := fault_of(tensor):
                numbers = f"some numbers of {_short(name)} are {wrong}"
                raise TensorFileError(f"{path} is damaged: {numbers}; {remedy}")
        return tensors, metadata

    def read(
        self, path: str | Path, build: Callable[[dict[str, Any], dict[str, torch.Tensor]], Network]
    ) -> tuple[Network, dict[str, Any]]:
        """Return (network, metadata) from a file.

        ``build(metadata, tensors)`` returns a network without weights and may change the tensors. What it
        raises for metadata that it cannot use (ValueError, TypeError, KeyError) becomes a TensorFileError.
        Otherwise raises as `read_tensors` and `fill_network` do.
        """
        tensors, metadata = self.read_tensors(path)
        try:
            network = build(metadata, tensors)
        except (ValueError, TypeError, KeyError) as error:
            raise TensorFileError(
                f"{path} lacks a valid description of its network: {str(error)[:200]}"
            ) from error
        fill_network(network, tensors, path)
        return network.eval(), metadata


def check_ending(path: str | Path, what: str) -> None:
    """Raise ValueError unless the path of `what`, such as "a policy", ends in ``.safetensors``."""
    if Path(path).suffix != ENDING:
        raise ValueError(f"the file name of {what} must end in {ENDING}, not {path}")


def fault_of(tensor: torch.Tensor) -> str:
    """Return why a file must not hold these numbers: "not finite", "larger than ..." or an empty text."""
    if not tensor.isfinite().all():
        return "not finite"
    if tensor.is_floating_point() and (tensor.abs() > MAX_NUMBER).any():
        return f"larger than {MAX_NUMBER:,.0f}"
    return ""


def read_kind(path: str | Path, sought: str) -> str:
    """Return the kind of a file of any `NetworkFormat`, without reading its tensors.

    `sought` is the kind named in error messages, such as "trained policy". Raises as
    `NetworkFormat.read_tensors` does.
    """
    return _read_metadata(path, _read_file(path, sought, header_only=True)[1])[2]["kind"]


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
    single = {
        name: (tensor.float() if tensor.is_floating_point() else tensor).clone()
        for name, tensor in tensors.items()
    }
    network.load_state_dict(single, assign=True)


def _read_file(path: str | Path, kind: str, header_only: bool = False) -> tuple[bytes, dict[str, Any]]:
    """Return the content of a file, or only its beginning, and the header: tensors by name, and metadata."""
    check_regular_file(path, MAX_BYTES, kind, TensorFileError)
    try:
        with open(path, "rb") as file:
            content = file.read(8)
            size = int.from_bytes(content, "little")
            if len(content) < 8 or size > MAX_HEADER:
                raise ValueError(f"a header of {size:,} bytes")
            content += file.read(size if header_only else MAX_BYTES)
        header = json.loads(content[8 : 8 + size])
        if not isinstance(header, dict):
            raise TypeError("its header is not a JSON object")
    except (OSError, ValueError, TypeError, RecursionError) as error:
        raise _not_safetensors(path, error) from error
    return content, header


def _not_safetensors(path: str | Path, error: Exception) -> TensorFileError:
    return TensorFileError(f"{path} is not a safetensors file, or is damaged ({error})")


def _read_metadata(path: str | Path, header: dict[str, Any]) -> tuple[str, str, dict[str, Any]]:
    """Return the checksum, the text and the parsed text of the metadata entry that `NetworkFormat` writes."""
    entries = header.get("__metadata__")
    written = entries.get("gin_env") if isinstance(entries, dict) else None
    if not isinstance(written, str):
        raise TensorFileError(
            f"{path} has no gin-env metadata: it was not written by gin-env (agents.save_network writes a "
            "network of your own)"
        )
    checksum, _, text = written.partition(" ")
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
