"""``generation``: a bot that plays the draw, discard or knock that its value network rates highest."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from gin_env.agents.generations.network import GenerationNetwork, load_network, observe
from gin_env.agents.ties import are_best
from gin_env.game.actions import NUM_ACTIONS
from gin_env.observations.candidates import NO_ACTION, are_discarding, candidate_rows
from gin_env.observations.views import PlayerView
from gin_env.support.checks import check_choice
from gin_env.support.specs import NamedObject
from gin_env.support.torch_extra import torch

KNOCKS = ("value", "simple")
IMPOSSIBLE = np.float32(-1e9)
SHIPPED = Path(__file__).parent / "data" / "generation.safetensors"


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
    name : the bot's name in results; default: the file's name without its ending, or ``"generation"``.
    dtype : the precision of the network.
    """

    def __init__(
        self,
        weights: str | Path | GenerationNetwork | None = None,
        knock: str | None = None,
        name: str | None = None,
        dtype: torch.dtype = torch.float32,
    ) -> None:
        provenance: dict[str, Any] = {}
        if isinstance(weights, GenerationNetwork):
            network = weights
        else:
            network, provenance = load_network(SHIPPED if weights is None else weights)
            name = name or (None if weights is None else Path(weights).stem)
        self.name = name or "generation"
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
        """See `Agent.act`."""
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
        exact = self._exact
        if exact is None:
            return None
        return lambda some: self._values(exact, torch.float64, view[some], discarding)[0].reshape(
            len(some), -1
        )

    def _values(
        self, network: GenerationNetwork, dtype: torch.dtype, view: PlayerView, discarding: bool
    ) -> tuple[np.ndarray, np.ndarray]:
        rows, actions = candidate_rows(view.array, discarding)
        with torch.inference_mode():
            observations = torch.from_numpy(observe(view)).to(dtype)
            computed = network(observations, torch.from_numpy(rows).to(dtype))
            values = (computed if dtype == torch.float64 else computed.float()).numpy()
        values[actions == NO_ACTION] = IMPOSSIBLE
        if self.knock == "simple" and discarding:
            may_knock = (actions[:, :, 1] != NO_ACTION).any(axis=1)
            values[may_knock, :, 0] = IMPOSSIBLE
        return values, actions
