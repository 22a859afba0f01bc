"""``search``: the policy, which looks ahead at the table where it sits.

Wherever `policy` has a choice, its likeliest actions are tried in worlds that explain what has been seen
(`gin_env.agents.search.belief`): the policy plays both hands on, and after a few turns its network says how
likely the game is to be won. All actions are tried in the same worlds, so that what they have in common
cancels, and another action than the policy's is played only if it is better by more than chance may explain.

This is one step of policy improvement by rollouts (Tesauro and Galperin, "On-line policy improvement using
Monte-Carlo search", NIPS 1996) over sampled hidden cards (Ginsberg, "GIB: imperfect information in a
computationally challenging game", JAIR 2001), with a value network where the rollouts end. In them both
players see their own cards only, so that nothing is gained by what nobody could know; but they play as the
policy does, who draws no conclusions from a decision that the policy would not have made.

Measured: docs/results/search.md, "Games won".
"""

# mypy: disable-error-code="no-untyped-def,return-value"

from __future__ import annotations

from time import perf_counter

import numpy as np

from gin_env import agents
from gin_env.agents.base import Agent
from gin_env.agents.policies.candidate_network import CandidateScorer, QuickLogits, find_candidate_policy
from gin_env.agents.policies.candidate_policy import CandidatePolicyBot
from gin_env.agents.search.belief import Belief
from gin_env.batch import Games
from gin_env.game.actions import NUM_ACTIONS
from gin_env.game.match_odds import chances_to_win
from gin_env.game.rules import Rules
from gin_env.game.state import DISCARD, STOCK_ONLY
from gin_env.observations.candidates import DISCARD_ROWS, DRAW_ROWS, NO_ACTION, new_arrays
from gin_env.observations.views import PlayerView
from gin_env.support.checks import check_integer, check_number
from gin_env.support.compilation import kernel

try:
    import torch
except ImportError as error:  # pragma: no cover - the tests have torch
    raise ImportError('the bot search needs torch: pip install "gin-env[train]"') from error

LEAST_CHANCE = 1e-6
"""Actions that the policy holds for less likely are not tried."""
FIRST_ROUND = 16
"""Worlds of the first round; each further one has as many as all before it."""
PAID_HANDS = 2048
"""Hands that say how often a hand pays which points."""


class SearchBot:
    """Looks ahead from where it sits, in sampled worlds.

    Its decisions follow from the views and their random numbers, unless `budget_ms` lets them depend on how
    fast the machine is.

    Parameters
    ----------
    samples : worlds in which actions are tried, until there are as many.
    budget_ms : milliseconds for a decision: no round of worlds begins that is not likely to end in time, and
        without one the policy's choice is played. None: as long as the samples take.
    turns : how far to look, until the player draws for the so manieth time; there the network values the
        table.
    tried : actions at most.
    caution : how many standard errors another action has to be better than the policy's choice. One that is
        so many worse is tried no longer.
    policy : whose choices are tried, and who plays on: the file of a policy that scores candidates, or
        ``"policy"``, the shipped one.
    opponent : the bot that plays on for the other side, neither a program nor a search; None: the same
        policy. Worlds come from what `estimator` says, which should have watched the same opponent.
    estimator, trust : of the `gin_env.agents.search.belief.Belief`.
    """

    def __init__(
        self,
        samples: int = 256,
        budget_ms: float | None = None,
        turns: int = 3,
        tried: int = 4,
        caution: float = 1.5,
        policy: str = "policy",
        opponent: str | None = None,
        estimator: str = "suit-equivariant:weights=policy",
        trust: float = 0.0,
    ) -> None:
        if opponent is not None:
            _check_opponent(opponent)
        network, _, episode = find_candidate_policy(policy)
        self.name = "search"
        self.policy = CandidatePolicyBot(network, episode=episode)
        self.samples = check_integer("samples", samples, 2, 1 << 20)
        self.budget_ms = None if budget_ms is None else check_number("budget_ms", budget_ms, 0, 1e9)
        self.turns = check_integer("turns", turns, 1, 100)
        self.tried = check_integer("tried", tried, 2, NUM_ACTIONS)
        self.caution = check_number("caution", caution, 0, 100)
        self.belief = Belief(network, estimator, trust, chains=FIRST_ROUND)
        self._players = _Players(network, None if opponent is None else agents.make(opponent))
        self._chances: dict[Rules, np.ndarray] = {}

    def act(self, view: PlayerView) -> np.ndarray:
        """See `Agent.act`; one view after the other."""
        return np.fromiter((self._look_ahead(one, self.likeliest(one)) for one in view), np.int64, len(view))

    def likeliest(self, view: PlayerView) -> np.ndarray:
        """int64 (k,): the policy's choice for one view, then what else it holds for likely."""
        first, chances = self.policy.act(view), self.policy.action_chances(view)[0]
        order = np.argsort(-chances, kind="stable")
        others = order[(chances[order] > LEAST_CHANCE) & (order != first)]
        return np.concatenate([first, others[: self.tried - 1]])

    def _look_ahead(self, view: PlayerView, tried: np.ndarray) -> int:
        """The best of these actions in sampled worlds; the first unless another one is surely better."""
        first, others = int(tried[0]), tried[1:]
        if not len(others):
            return first
        began = perf_counter()
        chains = self.belief.begin(view, np.random.default_rng(int(view.records["random"][0])))
        gains = np.zeros((len(others), 0))
        while len(others) and gains.shape[1] < self.samples:
            count = gains.shape[1]
            number = max(count, FIRST_ROUND)
            passed = 1000 * (perf_counter() - began)
            # A round of as many worlds as before takes as long as all before it.
            if self.budget_ms is not None and (2 * passed if count else passed) >= self.budget_ms:
                break
            worlds = np.concatenate([chains.next_worlds() for _ in range(number // FIRST_ROUND)])
            found = self.gains(view, worlds, np.concatenate([[first], others]))[1:]
            gains = np.concatenate([gains, found], axis=1)
            mean, error = mean_and_error(gains)
            hopeful = mean + self.caution * error > 0
            others, gains = others[hopeful], gains[hopeful]
        if not gains.size:
            return first
        mean, error = mean_and_error(gains)
        surely = mean - self.caution * error
        return int(others[surely.argmax()]) if surely.max() > 0 else first

    def gains(self, view: PlayerView, worlds: np.ndarray, actions: np.ndarray) -> np.ndarray:
        """float64 (k, n): how much more likely the win is after each of k actions than after the first one.

        `view` is the one view of a player to move, `worlds` are `STATE` records (n,) in which she has it.
        """
        player = int(view.records["player"][0])
        won = self.won_after(np.tile(worlds, len(actions)), np.repeat(actions, len(worlds)), player)
        won = won.reshape(len(actions), len(worlds))
        return won - won[0]

    def won_after(self, worlds: np.ndarray, actions: np.ndarray, player: int) -> np.ndarray:
        """float64 (n,): how much more likely than before the hand the win is after an action in each world.

        `worlds` are `STATE` records (n,) under the same rules, in which `player` is to move.
        """
        games = after(worlds, actions)
        won = self._players.play_on(games, player, self.turns)
        ended = np.flatnonzero(games.done)
        points = np.rint(100 * games.rewards[ended] * (1 - 2 * player)).astype(np.int64)
        scores = worlds["public"]["scores"][ended].astype(np.int64)
        won[ended] = self.worth(games.rules, points, scores[:, player], scores[:, 1 - player])
        return won

    def worth(
        self, rules: Rules, points: np.ndarray, own: int | np.ndarray, other: int | np.ndarray
    ) -> np.ndarray:
        """float64 (n,): how much more likely points int64 (n,) of a hand make the win, at these scores."""
        chances = self._chances_to_win(rules)
        scores = np.stack([own + np.maximum(points, 0), other + np.maximum(-points, 0)])
        return chances[tuple(np.minimum(scores, len(chances) - 1))] - chances[own, other]

    def _chances_to_win(self, rules: Rules) -> np.ndarray:
        """`chances_to_win` by hands of the policy against whom it plays in thought, under these rules."""
        if rules not in self._chances:
            games = Games(PAID_HANDS, rules)
            games.start(games.everyone, np.zeros(PAID_HANDS, np.uint64), games.everyone.astype(np.uint64))
            self._players.play_on(games, 0, 1 << 30)
            paid = np.bincount(np.rint(np.abs(100 * games.rewards)).astype(np.int64))
            if len(paid) == 1:  # nobody ever won
                paid = np.bincount([max(rules.gin_bonus, 1)])
            self._chances[rules] = chances_to_win(paid, rules.target_score)
        return self._chances[rules]


def _check_opponent(opponent: object) -> None:
    """Raise TypeError or ValueError for an opponent of which one action takes too long."""
    if not isinstance(opponent, str):
        raise TypeError(f"opponent must be a bot's name, not {opponent!r}")
    if agents.starts_program(opponent):
        raise ValueError(f"opponent must be a bot of this package, not the program {opponent!r}")
    if opponent.partition(":")[0] == "search":
        raise ValueError(f"opponent must be a bot that does not search, not {opponent!r}")


def after(states: np.ndarray, actions: np.ndarray) -> Games:
    """The games of `STATE` records (n,), all under the same rules, after an action int64 (n,) in each."""
    games = Games(len(states), Rules.from_record(states["public"]["rules"][0]))
    games.state[:] = states
    games.done[:] = False
    games.play(games.everyone, actions)
    return games


def mean_and_error(gains: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Means (..., k) of gains (..., k, n) and their standard errors."""
    return gains.mean(axis=-1), gains.std(axis=-1, ddof=1) / gains.shape[-1] ** 0.5


class _Players:
    """Who plays many games on; the policy in single precision: this happens in thought only.

    Parameters
    ----------
    network : of the policy.
    opponent : on the other side; None: the policy too.
    """

    def __init__(self, network: CandidateScorer, opponent: Agent | None) -> None:
        self.network, self.opponent = network, opponent
        self._logits = {DRAW_ROWS: QuickLogits(network.draws), DISCARD_ROWS: QuickLogits(network.discards)}

    def play_on(self, games: Games, player: int, turns: int) -> np.ndarray:
        """Play every game on until it is over or `player` is to draw for the so manieth time.

        Returns float64 (n,): how much more likely she is to win then than before the hand, as the network
        values it; 0 where the hand has ended.
        """
        drawing, discarding = (new_arrays(len(games), rows) for rows in (DRAW_ROWS, DISCARD_ROWS))
        begun, arrived = np.zeros(len(games), np.int64), np.zeros(len(games), np.bool_)
        running = games.everyone[~games.done]
        while len(running):
            phase = games.state["public"]["phase"][running]
            begun[running] += (
                (games.to_move()[running] == player) & (phase != DISCARD) & (phase != STOCK_ONLY)
            )
            arrived[running] = begun[running] == turns
            on = ~arrived[running]
            running, discards = running[on], phase[on] == DISCARD
            acting = running
            if self.opponent is not None:
                ours = games.to_move()[running] == player
                if len(theirs := running[~ours]):
                    games.play(theirs, self.opponent.act(games.views(theirs)))
                acting, discards = running[ours], discards[ours]
            actions = np.empty(len(acting), np.int64)
            actions[~discards] = self._likeliest(games, acting[~discards], drawing)
            actions[discards] = self._likeliest(games, acting[discards], discarding)
            games.play_legal(acting, actions)  # candidates can be played
            running = running[~games.done[running]]
        won = np.zeros(len(games))
        there = np.flatnonzero(arrived)
        rows, actions, table = _candidates(games, there, drawing)
        with torch.inference_mode():
            possible = torch.from_numpy(actions.reshape(len(there), 2 * DRAW_ROWS) != NO_ACTION)
            values = self.network(torch.from_numpy(rows), possible, torch.from_numpy(table))[1]
        won[there] = values.numpy() / 2  # values are twice the change of the chance to win
        return won

    def _likeliest(self, games: Games, tables: np.ndarray, candidates: Candidates) -> np.ndarray:
        """int64 (n,): what the players to move do; `candidates` has room for at least n of them."""
        rows, actions, table = _candidates(games, tables, candidates)
        chosen = np.empty(len(tables), np.int64)
        _choose(self._logits[rows.shape[1]](rows, table), actions, chosen)
        return chosen


Candidates = tuple[np.ndarray, np.ndarray, np.ndarray]


def _candidates(games: Games, tables: np.ndarray, room: Candidates) -> Candidates:
    """What the players to move may do, written into the first of these arrays."""
    rows, actions, table = (array[: len(tables)] for array in room)
    return games.candidates(tables, rows, actions, table)


@kernel
def _choose(logits: np.ndarray, actions: np.ndarray, chosen: np.ndarray) -> None:
    """The possible action of the highest logit for each player; logits and actions (n, k, 2)."""
    for number in range(len(chosen)):
        most = -np.inf
        for row in range(actions.shape[1]):
            for knock in range(2):
                if actions[number, row, knock] != NO_ACTION and logits[number, row, knock] > most:
                    most = logits[number, row, knock]
                    chosen[number] = actions[number, row, knock]
