"""``cfr`` and ``cfr-plus``: bots that draw, discard and knock by a strategy trained with Monte Carlo CFR+.

Source: Gallucci et al., "Estimating Card Fitness for Discard in Gin Rummy" (2021), paper 000. ``cfr`` is the
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

from pathlib import Path

import numpy as np

from gin_env.agents.base import act_by
from gin_env.agents.cfr.abstractions import CANDIDATES, DEFAULT_CANDIDATES, KINDS
from gin_env.agents.cfr.strategy import Strategy, strategy_action
from gin_env.agents.cfr.table import StrategyTable, find_table
from gin_env.observations.views import PlayerView
from gin_env.support.checks import check_choice, check_switch
from gin_env.support.compilation import kernel
from gin_env.support.specs import NamedObject


class CfrBot(NamedObject):
    """Decide draws, discards and knocks by a trained table.

    Parameters
    ----------
    table : a file or a `StrategyTable`; None is the packaged table.
    candidates : the cards from which discards are chosen, one of `abstractions.CANDIDATES`; by default the
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
        self.table = find_table(table, self.abstractions)
        if candidates is None:
            metadata = self.table.metadata
            candidates = metadata.get("candidates", DEFAULT_CANDIDATES[metadata["abstraction"]])
        self.candidates = check_choice("candidates", candidates, CANDIDATES)
        self.purified = check_switch("purified", purified)

    @property
    def strategy(self) -> Strategy:
        """What the kernels need to decide by the table."""
        kind, candidates = KINDS[self.table.metadata["abstraction"]], CANDIDATES[self.candidates]
        return Strategy(self.table.strategy, kind, candidates, self.purified)

    def act(self, view: PlayerView) -> np.ndarray:
        """See `Agent.act`."""
        return act_by(_act, view, self.strategy)


@kernel
def _act(views, strategy, actions):
    for index in range(len(views)):
        view = views[index]
        actions[index] = strategy_action(view.public, view.private, view.player, view.random, strategy)


class CfrPlusBot(CfrBot):
    """Decide by a table trained on the abstraction of `plus_sets`; parameters as for `CfrBot`."""

    name = "cfr-plus"
    abstractions = ("plus",)
