"""``cfr`` and ``cfr-plus``: bots that draw, discard and knock by a strategy trained with Monte Carlo CFR+.

Source: Gallucci et al., "Estimating Card Fitness for Discard in Gin Rummy" (2021). ``cfr`` is the
ablation that the paper calls for: its abstraction without the ranking by fitness. The information sets are in
`paper_sets` (the paper's) and `plus_sets` (ours), the decision rule is in `strategy`, and training is in
`research.recipes.cfr`. The paper trained for a week at 12 hours a day; ``python -m research train cfr``
takes about four minutes on one core.

Readings:

- Discards are chosen from the cards that leave the least deadwood. The paper's ranking starts from these
  cards too. The paper's information set does not show whether a card is melded, so the table plays worse the
  more cards it chooses from.
- The lookup table answers "whether they should discard that card". The bot takes the most probable
  alternative (``purified``). The mixed strategy is weaker: probes are noisy, so the average strategy keeps
  some weight on bad cards.

Results: docs/results/gallucci2021.md, "The CFR table".
"""

# mypy: disable-error-code="no-untyped-def,return-value"

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from gin_env.agents.base import act_by
from gin_env.agents.cfr.strategy import (
    CANDIDATES,
    DEFAULT_CANDIDATES,
    KINDS,
    Strategy,
    number_of_sets,
    strategy_action,
)
from gin_env.observations.views import PlayerView
from gin_env.support.array_files import ArrayFileError, ArrayFormat
from gin_env.support.checks import check_choice, check_switch
from gin_env.support.compilation import kernel
from gin_env.support.specs import NamedObject

UNVISITED = 255
_SCALE = 254
FORMAT = ArrayFormat(
    kind="strategy table",
    version=1,  # increase when the numbering of information sets changes
    arrays={"strategy": (np.uint8, ("information sets",))},
    described={"abstraction": str, "iterations": int},
    command="python -m research train cfr",
)


@dataclass(eq=False)
class StrategyTable:
    """A trained strategy and its provenance.

    A file (`FORMAT`) holds ``strategy``, uint8 (number of information sets,): the probability of acting times
    254, or `UNVISITED`. Its metadata say how the strategy was trained.
    """

    strategy: np.ndarray
    """float64 (number of information sets,): the probability of acting; -1 for unvisited sets."""
    metadata: dict[str, Any]
    """abstraction, candidates, iterations, seed, exploration, command, date, version."""

    def __str__(self) -> str:
        return (
            f"strategy table: abstraction {self.metadata['abstraction']}, "
            f"{self.metadata['iterations']:,} iterations, "
            f"{self.visited.sum():,} of {len(self.strategy):,} information sets visited"
        )

    @property
    def visited(self) -> np.ndarray:
        """The information sets visited in training, bool (number of information sets,)."""
        return self.strategy >= 0

    def save(self, path: str | Path) -> None:
        """Write the table to a file (.npz)."""
        entries = np.where(self.visited, np.rint(self.strategy * _SCALE), UNVISITED).astype(np.uint8)
        FORMAT.write(path, {"strategy": entries}, self.metadata)

    @classmethod
    def load(cls, path: str | Path) -> StrategyTable:
        """Return the table in a file.

        Raises FileNotFoundError, or ArrayFileError for a truncated, altered or foreign file.
        """
        arrays, metadata = FORMAT.read(path)
        entries = arrays["strategy"]
        kind = KINDS.get(metadata["abstraction"])
        if kind is None or len(entries) != number_of_sets(kind):
            raise ArrayFileError(
                f"{path} holds a strategy for an abstraction that this release does not have"
            )
        return cls(np.where(entries == UNVISITED, -1.0, entries / _SCALE), metadata)


@cache
def packaged_table(abstraction: str) -> StrategyTable:
    """Return the packaged table of an abstraction, which is read only once."""
    return StrategyTable.load(file_of_table(abstraction))


def file_of_table(abstraction: str) -> Path:
    """Return the packaged file for an abstraction."""
    return Path(__file__).parent / "data" / f"cfr_{abstraction}.npz"


class CfrBot(NamedObject):
    """Decide draws, discards and knocks by a trained table.

    Parameters
    ----------
    table : a file or a `StrategyTable`; None is the packaged table.
    candidates : the cards from which discards are chosen, one of `strategy.CANDIDATES`; by default the
        cards used in training.
    purified : whether to take the most probable alternative instead of sampling one.
    """

    name = "cfr"
    abstractions: tuple[str, ...] = ("paper", "dealt")
    """The abstractions that the table may have; the packaged table has the first."""

    def __init__(
        self,
        table: str | Path | StrategyTable | None = None,
        candidates: str | None = None,
        purified: bool = True,
    ) -> None:
        if table is None:
            table, self.files = packaged_table(self.abstractions[0]), (file_of_table(self.abstractions[0]),)
        elif isinstance(table, str | Path):
            self.files = (Path(table),)
            table = StrategyTable.load(table)
        elif not isinstance(table, StrategyTable):
            raise TypeError(f"table must be a path, a StrategyTable or None, not {table!r}")
        self.table = table
        abstraction = table.metadata["abstraction"]
        if abstraction not in self.abstractions:
            needed = " or ".join(map(repr, self.abstractions))
            raise ValueError(f"this table's abstraction is {abstraction!r}; the bot needs {needed}")
        if candidates is None:
            candidates = table.metadata.get("candidates", DEFAULT_CANDIDATES[abstraction])
        self.candidates = check_choice("candidates", candidates, CANDIDATES)
        self.purified = check_switch("purified", purified)
        self.strategy = Strategy(
            table.strategy, KINDS[abstraction], CANDIDATES[self.candidates], self.purified
        )

    def act(self, view: PlayerView) -> np.ndarray:
        return act_by(_act, view, self.strategy)


@kernel
def _act(views, strategy, actions):
    for index, view in enumerate(views):
        actions[index] = strategy_action(view.public, view.private, view.player, view.random, strategy)


class CfrPlusBot(CfrBot):
    """Decide by a table trained on the abstraction of `plus_sets`; parameters as for `CfrBot`."""

    name = "cfr-plus"
    abstractions = ("plus",)
