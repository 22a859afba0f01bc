"""``generation``: a bot that plays the draw, discard or knock that its value network rates highest.

In the network, a trunk reads the observation (`gin_env.observations.observation`) without the scores, since
it values hands, not games. A smaller network, shared by all rows, reads a candidate
(`gin_env.observations.candidates`) and the output of the trunk. It returns two values: one for the
candidate's action, one for knocking with it.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from gin_env.agents.base import are_best
from gin_env.game.actions import NUM_ACTIONS
from gin_env.observations.candidates import (
    DISCARD_ROWS,
    DRAW_ROWS,
    NO_ACTION,
    NUM_FEATURES,
    are_discarding,
    new_arrays,
)
from gin_env.observations.observation import LAYOUT, OBSERVATION_SIZE
from gin_env.observations.parts import describe_parts, place_columns
from gin_env.observations.views import PlayerView
from gin_env.support.checks import check_choice, check_integer
from gin_env.support.specs import NamedObject
from gin_env.support.tensor_files import NetworkFormat
from gin_env.support.torch_extra import multiply, nn, torch

KNOCKS = ("value", "simple")
IMPOSSIBLE = np.float32(-1e9)
SHIPPED = Path(__file__).parent / "data" / "generation.safetensors"
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
    Raises as `NetworkFormat.read_tensors` does.
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


def candidates_of(view: PlayerView, discarding: bool) -> tuple[np.ndarray, np.ndarray]:
    """Return the rows and actions of the candidates, as `PlayerView.candidates`, of draws or of discards."""
    return view.candidates(*new_arrays(len(view), DISCARD_ROWS if discarding else DRAW_ROWS))[:2]


class GenerationBot(NamedObject):
    """Play greedily by a value network; ties go to the first candidate.

    Actions depend neither on the batch nor on the number of threads: candidates that float32 cannot
    distinguish are compared in float64.

    Parameters
    ----------
    weights : a network, which is copied, or its file; default: the packaged network.
    knock : ``"value"`` knocks when the network rates it highest; ``"simple"`` as soon as possible, with the
        discard of the highest value (an ablation that measures the evaluation of hands alone); default: as in
        the training that wrote the file.
    dtype : the precision of the network.
    """

    def __init__(
        self,
        weights: str | Path | GenerationNetwork | None = None,
        knock: str | None = None,
        dtype: torch.dtype = torch.float32,
    ) -> None:
        provenance: dict[str, Any] = {}
        if isinstance(weights, GenerationNetwork):
            network, self.name = weights, SHIPPED.stem
        else:
            path = SHIPPED if weights is None else Path(weights)
            (network, provenance), self.name, self.files = load_network(path), path.stem, (path,)
        self.knock = check_choice("knock", knock or provenance.get("knock", KNOCKS[0]), KNOCKS)
        self.dtype = dtype
        self.network = GenerationNetwork(*network.sizes).to(dtype).eval()
        if dtype == torch.bfloat16:
            self.network.row_values.float()  # see `GenerationNetwork.forward`
            self.network.table_value.float()
        self.network.load_state_dict(network.state_dict())
        self._exact = None
        if dtype == torch.float32:  # lower precisions are for training, where speed matters
            self._exact = GenerationNetwork(*network.sizes).to(torch.float64).eval()
            self._exact.load_state_dict(network.state_dict())

    @classmethod
    def load(cls, weights: str | Path | None = None, knock: str = "value") -> GenerationBot:
        """Return the bot ``generation``, or one with the network in a file. Raises as `load_network` does."""
        return cls(weights, knock)

    @classmethod
    def load_file(cls, weights: str | Path, knock: str | None = None) -> GenerationBot:
        """Return the bot in a file, which knocks as in its training. Raises as `load_network` does."""
        return cls(weights, knock)

    def act(self, view: PlayerView) -> np.ndarray:
        actions = np.empty(len(view), np.int64)
        discarding = are_discarding(view.array)
        for phase in (False, True):
            index = np.flatnonzero(discarding == phase)
            if len(index):
                group = view[index]
                values, choices = self.values(group, phase)
                best = are_best(values.reshape(len(index), -1), self._exact_values(group, phase))
                actions[index] = choices.reshape(len(index), -1)[np.arange(len(index)), best.argmax(axis=1)]
        return actions

    def values(self, view: PlayerView, discarding: bool) -> tuple[np.ndarray, np.ndarray]:
        """Return values of the candidates in points / 100, float32 (n, rows, 2), and their actions, int64.

        All players of `view` must be discarding, or all drawing. Impossible actions have the value
        `IMPOSSIBLE`.
        """
        values, actions = self._values(self.network, self.dtype, view, discarding)
        return values.astype(np.float32, copy=False), actions

    def action_values(self, view: PlayerView) -> np.ndarray:
        """Return the expected points of the hand after each action, float64 (n, 107); NaN if not considered.

        The players of `view` must be to move, at any decision.
        """
        points_of = np.full((len(view), NUM_ACTIONS + 1), np.nan)  # the last column is for `NO_ACTION`
        discarding = are_discarding(view.array)
        for phase in (False, True):
            index = np.flatnonzero(discarding == phase)
            if len(index):
                values, actions = self.values(view[index], phase)
                points = np.where(values > IMPOSSIBLE, 100 * values.astype(np.float64), np.nan)
                points_of[index[:, None, None], actions] = points
        return points_of[:, :NUM_ACTIONS]

    def _exact_values(self, view: PlayerView, discarding: bool) -> Callable[[np.ndarray], np.ndarray] | None:
        """Return a function for `are_best` that computes the values of some of these players in float64."""
        if self._exact is None:
            return None
        values = partial(self._values, self._exact, torch.float64)
        return lambda some: values(view[some], discarding)[0].reshape(len(some), -1)

    def _values(
        self, network: GenerationNetwork, dtype: torch.dtype, view: PlayerView, discarding: bool
    ) -> tuple[np.ndarray, np.ndarray]:
        rows, actions = candidates_of(view, discarding)
        with torch.inference_mode():
            observations = torch.from_numpy(observe(view)).to(dtype)
            computed = network(observations, torch.from_numpy(rows).to(dtype))
            values = (computed if dtype == torch.float64 else computed.float()).numpy()
        values[actions == NO_ACTION] = IMPOSSIBLE
        if self.knock == "simple" and discarding:
            may_knock = (actions[:, :, 1] != NO_ACTION).any(axis=1)
            values[may_knock, :, 0] = IMPOSSIBLE
        return values, actions
