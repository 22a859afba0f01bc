"""The value network, which rates each candidate by its expected points, and its files.

A trunk reads the observation (`gin_env.observations.observation`) without the scores, since it values hands,
not games. A smaller network, shared by all rows, reads a candidate (`gin_env.observations.candidates`) and
the output of the trunk. It returns two values: one for the candidate's action, one for knocking with it.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from gin_env.observations.candidates import NUM_FEATURES
from gin_env.observations.observation import LAYOUT, OBSERVATION_SIZE
from gin_env.observations.parts import describe_parts, place_columns
from gin_env.observations.views import PlayerView
from gin_env.support.checks import check_integer
from gin_env.support.tensor_files import NetworkFormat
from gin_env.support.torch_extra import multiply, nn, torch

FORMAT = NetworkFormat("generation network", "2", "gin-rummy train generations")
MAX_UNITS = 4096
"""Maximum width of a layer. Files with wider layers are refused."""
_SCORES = slice(LAYOUT["own_score"].slice.start, LAYOUT["opponent_score"].slice.stop)


class GenerationNetwork(nn.Module):
    """Values of candidates, in points / 100.

    Parameters
    ----------
    table_size : width of the trunk's two layers.
    row_size : width of the first layer for rows; the second is half as wide.
    """

    def __init__(self, table_size: int = 256, row_size: int = 128) -> None:
        super().__init__()
        self.sizes = (table_size, row_size)
        self.trunk = nn.Sequential(
            nn.Linear(OBSERVATION_SIZE, table_size), nn.ReLU(), nn.Linear(table_size, table_size), nn.ReLU()
        )
        self.table_value = nn.Linear(table_size, 1)
        self.table_context = nn.Linear(table_size, row_size)
        self.row_first = nn.Linear(NUM_FEATURES, row_size, bias=False)
        self.row_second = nn.Linear(row_size, row_size // 2)
        self.row_values = nn.Linear(row_size // 2, 2)

    def forward(self, observations: torch.Tensor, rows: torch.Tensor) -> torch.Tensor:
        """Return values (n, k, 2) for observations (n, OBSERVATION_SIZE) and rows (n, k, NUM_FEATURES)."""
        table = self.trunk(observations)
        hidden = torch.relu(multiply(self.row_first, rows) + self.table_context(table)[:, None])
        hidden = torch.relu(self.row_second(hidden))
        # Products of so few columns in bfloat16 are NaN on some processors.
        with torch.autocast(hidden.device.type, enabled=False):
            dtype = self.row_values.weight.dtype
            return self.row_values(hidden.to(dtype)) + self.table_value(table.to(dtype))[:, None]


def observe(view: PlayerView) -> np.ndarray:
    """Return the observations with both scores 0, float32 (n, OBSERVATION_SIZE)."""
    observations = view.observations()
    observations[:, _SCORES] = 0.0
    return observations


def save_network(network: GenerationNetwork, path: str | Path, provenance: dict[str, Any]) -> None:
    """Write weights and their provenance (JSON-serialisable) to a ``.safetensors`` file."""
    described = {
        "sizes": network.sizes,
        "reads": describe_parts("observation", "row"),
        "provenance": provenance,
    }
    FORMAT.write(path, network, described)


def load_network(path: str | Path) -> tuple[GenerationNetwork, dict[str, Any]]:
    """Return (network, provenance) from a file written by `save_network`.

    The network reads all parts of observation and rows; parts that the file does not name have weights of 0.
    Raises as `gin_env.support.tensor_files.read_tensors` does.
    """

    def build(described: dict[str, Any], tensors: dict[str, torch.Tensor]) -> GenerationNetwork:
        sizes = (check_integer("a layer's size", size, 2, MAX_UNITS) for size in described["sizes"])
        table_size, row_size = sizes
        dict(described["provenance"])  # checks it
        for name, vector in (("trunk.0.weight", "observation"), ("row_first.weight", "row")):
            tensors[name] = place_columns(tensors[name], vector, described.get("reads"))
        with torch.device("meta"):  # allocate no memory until the sizes are known to match the weights
            return GenerationNetwork(table_size, row_size)

    network, described = FORMAT.read(path, build)
    return network, described["provenance"]
