"""Francis et al. 2021's player that "dynamically learns which of the hand estimators performs better", in
play.

The safe-discard player uses the adaptive mixture of estimators, with a memory that lasts for the whole game,
and plays long games against an opponent that changes style on the way. It is compared with the same mixture
without a memory and with each member alone. All players play the same decks, from both seats.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from gin_env import agents, estimators
from gin_env.agents import Agent
from gin_env.agents.safe_discard import SafeDiscardBot
from gin_env.agents.turns import play_bot
from gin_env.batch import Games
from gin_env.estimators.base import Estimator
from gin_env.estimators.ensemble import MEMBERS, EnsembleEstimator
from gin_env.estimators.public_history import known_cards
from gin_env.game.cards import NUM_CARDS, card_columns
from gin_env.game.rules import Rules
from gin_env.game.state import DISCARD
from gin_env.matches.intervals import win_rate_difference_interval, win_rate_interval
from gin_env.observations.views import PlayerView
from research.papers.francis2021.estimators import NETWORKS
from research.reproduce.experiment import Run, counts_of_wins, more_won, percent
from research.reproduce.tables import Row

TARGET_SCORE = 500
"""Games of about 30 hands, long enough to learn from."""
CHANGE = 12
"""Hands after which the opponent changes style."""
STYLES = ("simple", "tonic-paper")
"""Bots on whose hands the members were trained."""
PLAYERS: dict[str, tuple[str | tuple[str, ...], bool]] = {
    **{f"`{network}`": (network, False) for network in NETWORKS},
    "mixture of these four, no memory": (NETWORKS, False),
    "mixture of these four, memory": (NETWORKS, True),
    "`ensemble:switching=adaptive`, no memory": (MEMBERS, False),
    "`ensemble:switching=adaptive`, memory": (MEMBERS, True),
}
"""Label -> (estimator, or members of an adaptive mixture; whether it learns during the game)."""
OPPONENTS = (*STYLES, f"{STYLES[0]}, then {STYLES[1]}", f"{STYLES[1]}, then {STYLES[0]}")
GAMES = 2000


class StyleChangingBot:
    """A bot that plays as one bot in the first `hands` hands of a game, and then as another."""

    def __init__(self, first: str | Agent, then: str | Agent, hands: int) -> None:
        self.first, self.then, self.hands = agents.resolve(first), agents.resolve(then), hands
        self.name = f"{self.first.name}, then {self.then.name}"

    def act(self, view: PlayerView) -> np.ndarray:
        """See `Agent.act`."""
        changed = view.array["public"]["hand_number"] >= self.hands
        actions = np.empty(len(view), np.int64)
        for bot, now in ((self.first, ~changed), (self.then, changed)):
            if now.any():
                actions[now] = bot.act(view[now])
        return actions


def play_long_games(
    estimator: Estimator, learns: bool, opponent: Agent, games: int, seed: int, rules: Rules, change: int
) -> dict[str, Any]:
    """Play games of the safe-discard player with an estimator, each deal from both seats.

    An estimator that learns sees every decision of the player. Otherwise it sees only the discards, the only
    decisions that use its estimates.

    Returns ``wins`` and ``decided`` for each deal, and ``losses``: the sum of the log losses of the cards in
    unknown places at the player's discards and the number of these cards, as two pairs, for hands before
    number `change` and for the later ones.
    """
    bot = SafeDiscardBot(estimator)
    batch = Games(games, rules, "game")
    numbers = np.arange(games)
    seats = numbers % 2
    batch.start(seed=seed, episodes=(numbers // 2).astype(np.uint64), twins=seats == 1)
    memory = estimator.new_memory(games)
    losses = np.zeros((2, 2))
    for running in batch.until_over():
        ours = batch.to_move()[running] == seats[running]
        mine, theirs = running[ours], running[~ours]
        if len(mine):
            view = batch.views(mine)
            shown = np.flatnonzero(learns | (view.array["public"]["phase"] == DISCARD))
            estimates = np.zeros((len(mine), NUM_CARDS), np.float32)
            if len(shown):
                own = memory[mine[shown]]
                estimates[shown] = estimator.advance(view[shown], own)
                memory[mine[shown]] = own
            hands = batch.state["private"]["hand"][mine, 1 - seats[mine]]
            add_losses(view, estimates, hands, change, losses)
            batch.play(mine, bot.decide(view, estimates))
        if len(theirs):
            play_bot(batch, opponent, theirs)
    reached = batch.state["public"]["scores"] >= rules.target_score
    won = reached[numbers, seats].reshape(-1, 2)
    return {
        "wins": won.sum(axis=1).tolist(),
        "decided": reached.any(axis=1).reshape(-1, 2).sum(axis=1).tolist(),
        "losses": losses.tolist(),
    }


def add_losses(
    view: PlayerView, estimates: np.ndarray, hands: np.ndarray, change: int, losses: np.ndarray
) -> None:
    """Add the log losses of estimates at discards to `losses`, float64 (2, 2); see `play_long_games`.

    `hands` are the opponents' cards, masks uint64 (n,).
    """
    public = view.array["public"]
    held = card_columns(hands)
    _, unknown, _ = known_cards(view)
    given = np.clip(np.where(held, estimates, 1.0 - estimates).astype(np.float64), 1e-6, 1.0)
    each = -(np.log(given) * unknown).sum(axis=1)
    discarding = public["phase"] == DISCARD
    later = public["hand_number"] >= change
    for part in range(2):
        chosen = discarding & (later == bool(part))
        losses[part] += each[chosen].sum(), unknown[chosen].sum()


def make_estimator(made_of: str | tuple[str, ...], learns: bool) -> Estimator:
    """Return an estimator by name, or the adaptive mixture of members; it adapts only if it `learns`."""
    if isinstance(made_of, str):
        return estimators.make(made_of)
    return EnsembleEstimator("adaptive", made_of, rate=float(learns))


def measure_adaptive(run: Run) -> list[Row]:
    """Measure every player against steady and changing opponents; the folder keeps each finished pair."""
    run.estimators += [*NETWORKS, "ensemble:switching=adaptive"]
    run.used(*STYLES)
    rules = Rules(target_score=run.size(TARGET_SCORE, 100))
    change = run.size(CHANGE, 2)

    def play(label: str, opponent: str) -> dict[str, Any]:
        run.say(f"{label} against {opponent}")
        made_of, learns = PLAYERS[label]
        first, _, then = opponent.partition(", then ")
        bot = StyleChangingBot(first, then, CHANGE) if then else agents.make(first)
        players = make_estimator(made_of, learns), learns, bot
        return play_long_games(*players, run.size(GAMES, 10), run.seed, rules, change)

    rows: list[Row] = []
    for number, opponent in enumerate(OPPONENTS):
        played: dict[str, dict[str, Any]] = {}
        for place, label in enumerate(PLAYERS):
            played[label] = run.kept(f"opponent-{number}-player-{place}", play, label, opponent)
            rows.append(adaptive_row(label, opponent, played))
    return rows


def adaptive_row(label: str, opponent: str, played: dict[str, dict[str, Any]]) -> Row:
    """Return a player's row; with a memory also its gain in games won over no memory, on the same decks."""
    wins, decided = (np.array(played[label][key]) for key in ("wins", "decided"))
    low, high = win_rate_interval(wins, decided)
    won = wins.sum() / max(decided.sum(), 1)
    row: Row = {"player": label, "opponent": opponent, "games": 2 * len(wins), "won": percent(won)}
    row |= {"low": percent(low), "high": percent(high), "deals": counts_of_wins((wins, decided))}
    for part, (total, count) in zip(("before", "after"), played[label]["losses"], strict=True):
        row[f"log_loss_{part}"] = round(total / count, 5) if count else None
    without = played.get(label.replace(", memory", ", no memory")) if ", memory" in label else None
    if without is not None:
        others = np.array(without["wins"]), np.array(without["decided"])
        low, high = win_rate_difference_interval((wins, decided), others)
        more = won - others[0].sum() / max(others[1].sum(), 1)
        row |= more_won(more, low, high, counts_of_wins((wins, decided), others))
    return row
