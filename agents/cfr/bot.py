"""``cfr`` and ``cfr-plus``: strategies trained by Monte Carlo CFR+ for draw, discard and knock, and nothing else.

Source: Gallucci et al., "Estimating Card Fitness for Discard in Gin Rummy" (2021), paper 000. ``cfr`` is the ablation
that the paper calls for: its abstraction without the ranking by fitness. What a player looks at: `full_game_cfr.abstraction` (the
paper's), `full_game_cfr.plus` (ours); how a table becomes a decision: `full_game_cfr.strategy`; training: `full_game_cfr.kernels`. The paper trained
for a week at 12 hours a day; ``gin-rummy train cfr`` takes about four minutes on one core.

Readings:

- Discards are chosen between the cards that leave the least deadwood, from which the paper's ranking starts
  too: its information set does not show whether a card is melded. The same table asked about more cards, against
  ``simple``: within 4 points of the least deadwood 30.2 %, all unmelded cards 9.5 %, all cards 0.0 %. A table
  *trained* between all unmelded cards (100,000 iterations) wins 50.8 % (4,000 games).
- The lookup table answers "whether they should discard that card": the likeliest alternative is taken
  (``purified``). Played as a mixed strategy the table wins 61.6 % against ``simple``: probes are noisy, so the
  average keeps some weight on bad cards.

Measured, games won in per cent (20,000 games with ``seed=0``, 95 % intervals ± 0.7):

==================================================  =====
``cfr`` - ``simple``                                69.3
``cfr`` - ``fitness-cfr``                           50.5
trained - shuffled table (`StrategyTable.shuffled`)  99.7
trained - no table, all random                      99.1
trained - random discards, trained draw and knock   51.9
==================================================  =====

``gin_env.play_match("cfr", "simple", games=20_000, seed=0)``, and `CfrBot` objects with these tables. So nearly all
of the strength is in the draws and knocks; between cards of least deadwood the paper's table is worth two points.

Training: after 3,000, 30,000, 150,000, 500,000 and 1,000,000 iterations ``cfr`` wins 47.5, 63.9, 67.3, 68.7 and 69.3 %
against ``simple``. Of the 19,793 information sets 43 % are visited; in play 99.999 % of the decisions find
theirs (99.2 % after 3,000 iterations).

With ``stages="linear"`` or ``"harmonic"`` (`full_game_cfr.stages`) one decision in a hundred differs, and the bot wins 49.9 and 50.0 % against
itself without, 69.1 and 69.2 % against ``simple`` (20,000 games each, ± 0.7; 69.2 without): the hard stages lose nothing.

``cfr-plus`` after 20,000, 60,000, 120,000 and 220,000 iterations (``gin-rummy train cfr plus.npz --abstraction plus --iterations
220000``) wins 44.9, 52.6, 54.7 and 56.9 % against ``fitness-cfr`` (the first two: 4,000 games) and 54.3, 63.8, 67.6 and 69.4 %
against ``simple``: it is still learning. The packaged table, 20,000 games with ``seed=0``, ± 0.7: 56.9 % against ``fitness-cfr``, 54.4 %
against it with ``relative=True``, 69.4 % against ``simple``, 70.9 % against ``medium``, 59.6 % against ``tonic``. Hit rate 99.99 %.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np

from gin_env.agents.cfr.abstractions import CANDIDATES, DEFAULT_CANDIDATES, KINDS
from gin_env.agents.cfr.stages import interpolate
from gin_env.agents.cfr.strategy import strategy_action
from gin_env.agents.cfr.table import StrategyTable, find_table
from gin_env.compilation import kernel
from gin_env.support.checks import check_switch
from gin_env.views import PlayerView


class CfrBot:
    """Follows a trained table in everything.

    Parameters
    ----------
    table : the packaged table (None), a file, or a `StrategyTable`.
    candidates : between which cards discards are chosen, see `full_game_cfr.sets.CANDIDATES`; by default those of the
        training.
    purified : takes the likeliest alternative instead of one by chance.
    stages : how positions between the stages are mapped, one of `full_game_cfr.stages.MAPPINGS`.

    Attributes
    ----------
    counts : int64 (3, 2): discards, draws and knocks decided by the table, and without one so far.
    """

    name = "cfr"
    abstractions: tuple[str, ...] = ("paper", "dealt")
    """Of which its table may be; the packaged one is of the first."""

    def __init__(
        self,
        table: str | Path | StrategyTable | None = None,
        candidates: str | None = None,
        purified: bool = True,
        stages: str = "hard",
    ) -> None:
        if candidates is None:
            candidates = DEFAULT_CANDIDATES[self.abstractions[0]]
        if candidates not in CANDIDATES:
            raise ValueError(f"candidates = {candidates!r}: choose from {', '.join(CANDIDATES)}")
        self.table = find_table(table, self.abstractions)
        if stages != "hard":
            self.table = interpolate(self.table, stages)
        self._kind = KINDS[self.table.metadata["abstraction"]]
        self.candidates = candidates
        self.purified = check_switch("purified", purified)
        self.counts = np.zeros((3, 2), np.int64)

    @property
    def hit_rate(self) -> float:
        """Share of the decisions so far whose information set training had visited (nan before the first)."""
        return float(self.counts[:, 0].sum() / self.counts.sum()) if self.counts.any() else float("nan")

    def act(self, view: PlayerView) -> np.ndarray:
        """See `Agent.act`."""
        actions = np.empty(len(view), np.int64)
        _act(
            view.records,
            self.table.strategy,
            self._kind,
            CANDIDATES[self.candidates],
            self.purified,
            self.counts,
            actions,
        )
        return actions


@kernel
def _act(views, strategy, kind, which, purified, counts, actions):
    for index in range(len(views)):
        view = views[index]
        actions[index] = strategy_action(
            view.public,
            view.private,
            view.player,
            view.random,
            strategy,
            kind,
            which,
            purified,
            counts,
        )


class CfrPlusBot(CfrBot):
    """Follows a table trained on the abstraction of `full_game_cfr.plus`; parameters as for `CfrBot`."""

    name = "cfr-plus"
    abstractions = ("plus",)

    def __init__(
        self,
        table: str | Path | StrategyTable | None = None,
        candidates: str | None = None,
        purified: bool = True,
    ) -> None:
        super().__init__(table, candidates, purified)
