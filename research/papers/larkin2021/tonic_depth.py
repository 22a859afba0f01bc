"""Larkin et al. 2021's open questions on the depth of a hand: predicting a knock, and which cards to keep.

"Hand depth also ... is likely to have an impact on Tonic's ability to predict opponent knocking by tracking
their probable deadwood" and "Tonic would likely see an impact on its performance if it used hand depth to
determine which card(s) the opponent is interested in and which to make available to discard" ("Opponent
Hand Estimation").

Readings: a knock is predicted from the turn, the number of upcards that the opponent holds and the points of
their lowest discard, by frequencies in hands of Tonic against the same opponent. A Tonic that expects a knock
discards for the least deadwood. Desired cards are kept only in some turns.
"""

# mypy: disable-error-code="no-untyped-def,return-value"

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from gin_env import agents
from gin_env.agents.base import act_by
from gin_env.agents.tonic import TonicBot, knock_limit
from gin_env.agents.turns import play_bot, play_seated
from gin_env.batch import Games
from gin_env.game.cards import CARD_VALUES, card_columns, pick_card
from gin_env.game.engine import discards_allowed
from gin_env.game.hands import discard_or_knock, own_turn
from gin_env.game.melds import least_deadwood_discards
from gin_env.game.state import DISCARD
from gin_env.observations.views import PlayerView
from gin_env.support.compilation import kernel
from research.papers.larkin2021.tonic_filters import BASES, DESIRED, PAIRS, RUNS, filtered_action
from research.reproduce.experiment import TONIC, VARIABLE, Run, match_row, more_than, named
from research.reproduce.tables import Row

ALL_FILTERS = np.array([PAIRS, RUNS, DESIRED], np.int64)
OTHER_FILTERS = np.array([PAIRS, RUNS], np.int64)
MAX_TURN, MAX_SHOWN = 20, 3
LOWEST_POINTS = (3, 6, 9, 10)
"""Upper ends of the groups of the points of the lowest discard; a fifth group holds turns without one."""
_CELLS = (MAX_TURN, MAX_SHOWN + 1, len(LOWEST_POINTS) + 1)
_PRIOR = 20.0
"""Weight of the frequency of the turn, in observations."""


def clues(view: PlayerView) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return the turns, the upcards that the opponents hold and the groups of their lowest discards."""
    public = view.array["public"]
    opponents = 1 - view.array["player"].astype(np.int64)
    rows = np.arange(len(view))
    shown = card_columns(public["shown"][rows, opponents]).sum(axis=1)
    discarded = card_columns(public["discarded"][rows, opponents])
    lowest = np.where(discarded, CARD_VALUES, 99).min(axis=1)
    return (
        np.minimum(public["turn"].astype(np.int64), MAX_TURN - 1),
        np.minimum(shown, MAX_SHOWN),
        np.searchsorted(LOWEST_POINTS, lowest),
    )


class KnockTable(NamedTuple):
    """Frequencies of a knock in the opponent's next turn, by turn and by `clues` (shape `_CELLS`)."""

    by_turn: np.ndarray
    chances: np.ndarray


def watched_positions(opponent: str, hands: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Return (cells, whether a knock followed) of Tonic's discards in hands against an opponent.

    Cells are int64 (n, 3); a discard that is itself a knock is left out.
    """
    games = Games(hands, episode="hand")
    games.start(seed=seed)
    players = [agents.make(TONIC), agents.make(opponent)]
    cells, numbers = [], []
    for running in games.until_over():
        ours = games.waiting_for(0, running)
        discarding = ours[games.state["public"]["phase"][ours] == DISCARD]
        before = np.stack(clues(games.views(discarding)), axis=1)
        play_seated(games, players, games.to_move()[running], running, play_bot)
        playing = ~games.done[discarding]
        cells.append(before[playing])
        numbers.append(discarding[playing])
    of_hands = np.concatenate(numbers)
    last = np.full(hands, -1)
    last[of_hands] = np.arange(len(of_hands))
    knocked = np.zeros(len(of_hands), np.bool_)
    knocked[last[(games.state["public"]["knocker"] == 1) & (last >= 0)]] = True
    return np.concatenate(cells), knocked


def watch(opponent: str, hands: int, seed: int) -> KnockTable:
    """Return the table of an opponent, from hands of Tonic against it."""
    cells, knocked = watched_positions(opponent, hands, seed)
    positions, knocks = np.zeros(_CELLS), np.zeros(_CELLS)
    np.add.at(positions, tuple(cells.T), 1)
    np.add.at(knocks, tuple(cells[knocked].T), 1)
    by_turn = (knocks.sum(axis=(1, 2)) + 1) / (positions.sum(axis=(1, 2)) + 10)
    return KnockTable(by_turn, (knocks + _PRIOR * by_turn[:, None, None]) / (positions + _PRIOR))


class DepthTonicBot(TonicBot):
    """Tonic with filters that depend on the turn, and with a table that predicts knocks.

    Parameters
    ----------
    desired_turns : first and last turn in which cards that the opponent desires are kept.
    table, expects_at : the table, and the chance of a knock from which the bot discards for the least
        deadwood. Without a table it never does.
    parameters : parameters of `TonicBot`; `break_pairs` and `filtered_fallback` do nothing here.
    """

    def __init__(
        self,
        desired_turns: tuple[int, int] = (1, 99),
        table: KnockTable | None = None,
        expects_at: float = 1.0,
        **parameters: Any,
    ) -> None:
        super().__init__(**parameters)
        self.desired_turns, self.table, self.expects_at = desired_turns, table, expects_at

    def act(self, view: PlayerView) -> np.ndarray:
        """See `Agent.act`."""
        expected = np.zeros(len(view), np.bool_)
        if self.table is not None:
            expected = self.table.chances[clues(view)] >= self.expects_at
        return act_by(_act, view, self._parameters, *self.desired_turns, expected)


@kernel
def _act(views, parameters, first, last, expected, actions):
    for index in range(len(views)):
        view = views[index]
        public, private = view.public, view.private
        if public.phase == DISCARD and expected[index]:
            hand = np.int64(private.hand)
            best, _ = least_deadwood_discards(hand, discards_allowed(public, private))
            card = pick_card(best, view.random)
            actions[index] = discard_or_knock(hand, card, knock_limit(public, parameters))
        else:
            filters = ALL_FILTERS if first <= own_turn(public) <= last else OTHER_FILTERS
            actions[index] = filtered_action(view, parameters, filters, False)


OPPONENTS = ("simple", "simple:knock_at=4", VARIABLE)
EXPECTS_AT = (0.1, 0.2, 0.3)
TURNS = {
    "in turns 1 and 2": (1, 2),
    "in turns 1 to 4": (1, 4),
    "from turn 3": (3, 99),
    "from turn 5": (5, 99),
    "never": (99, 0),
}
GAMES = 20_000
WATCHED = 20_000
"""Number of hands for a table, and for the test of its predictions."""
PARAMETERS = BASES[TONIC]


def bot_name(kind: str, label: str, opponent: str) -> str:
    """Return the name of a variant in its matches against an opponent."""
    return f"{TONIC}, {kind} {label}, against {opponent}"


def bots_by_turns() -> dict[str, DepthTonicBot]:
    """Return the variants that keep desired cards in some turns, by name."""
    return {
        bot_name("desired", label, opponent): DepthTonicBot(turns, **PARAMETERS)
        for opponent in OPPONENTS
        for label, turns in TURNS.items()
    }


def measure_depth(run: Run) -> list[Row]:
    """Measure predictions of knocks, Tonic with them, and Tonic with desired cards kept in some turns."""
    rows: list[Row] = []
    for opponent in OPPONENTS:
        run.say(f"watching {opponent}")
        table = watch(opponent, run.size(WATCHED, 200), run.seed + 1)
        rows.append(
            {"of": "prediction", "opponent": opponent}
            | predictions(table, *watched_positions(opponent, run.size(WATCHED, 200), run.seed + 2))
        )
        plain = run.match(TONIC, opponent, GAMES)
        bots = {
            ("knock", f"from {expects_at:.0%}"): DepthTonicBot((1, 99), table, expects_at, **PARAMETERS)
            for expects_at in EXPECTS_AT
        } | {("desired", label): DepthTonicBot(turns, **PARAMETERS) for label, turns in TURNS.items()}
        for (kind, label), bot in bots.items():
            match = run.match(named(bot, bot_name(kind, label, opponent)), opponent, GAMES)
            rows.append(match_row(match, of=kind, label=label) | more_than(match, plain))
    return rows


def predictions(table: KnockTable, cells: np.ndarray, knocked: np.ndarray) -> Row:
    """Return how often a knock followed, and the log losses of three predictions in nats."""
    share = float(knocked.mean())
    chances = {
        "always": np.full(len(cells), share),
        "by_turn": table.by_turn[cells[:, 0]],
        "by_clues": table.chances[tuple(cells.T)],
    }
    row: Row = {"positions": len(cells), "knocks": round(100 * share, 2)}
    for name, chance in chances.items():
        row[name] = round(float(-np.log(np.where(knocked, chance, 1 - chance)).mean()), 4)
    return row
