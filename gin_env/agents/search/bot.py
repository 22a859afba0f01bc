"""``search``: the policy with a look ahead from the current position.

Where the policy has a choice, its action and the most probable others are tried in sampled worlds, which are
full deals consistent with the view (`gin_env.agents.search.belief`). The policy plays on for a few turns, for
both players or against the assumed opponent; then its network estimates the probability of winning the game.
All actions are tried in the same worlds, so that common luck cancels. An action other than the policy's is
played only if it is better by `caution` standard errors.

This is one step of policy improvement by rollouts (Tesauro and Galperin, "On-line policy improvement using
Monte-Carlo search", NIPS 1996) over sampled hidden cards (Ginsberg, "GIB: imperfect information in a
computationally challenging game", JAIR 2001), with a value network where the rollouts end. In the rollouts
each player sees only their own cards, so hidden cards are never exploited. The policy draws no conclusions
from decisions that it would not have made itself.

Results: docs/results/search.md, "Games won".
"""

from __future__ import annotations

from time import perf_counter
from typing import NamedTuple

import numpy as np

from gin_env import agents
from gin_env.agents.policies.candidate_network import file_of_policy, find_policy_of_games
from gin_env.agents.policies.candidate_policy import CandidatePolicyBot
from gin_env.agents.policies.improved_policy import ImprovedPolicyBot
from gin_env.agents.search.belief import Belief, Worlds, after, mean_and_error, points_of_hand
from gin_env.agents.search.rollouts import RolloutPlayers
from gin_env.agents.search.small_networks import (
    MODELS,
    PACKAGED,
    UNKNOWN,
    HandShapes,
    OpponentModels,
    estimators_for,
    packaged_networks,
)
from gin_env.game.actions import NUM_ACTIONS
from gin_env.game.match_odds import chances_after
from gin_env.game.rules import Rules
from gin_env.observations.candidates import NO_ACTION
from gin_env.observations.views import PlayerView
from gin_env.support.checks import check_integer, check_number
from gin_env.support.specs import NamedObject, files_of

MIN_PROBABILITY = 1e-6
"""Actions that the policy gives a lower probability are not tried."""
FIRST_ROUND = 16
"""Worlds in the first round."""
GROWTH = 3
"""Each later round has this many times the worlds of all rounds before it, or as many as are missing: a round
of few worlds takes almost as long as one of many."""


class _Model(NamedTuple):
    """What the search assumes of its opponent."""

    belief: Belief
    players: RolloutPlayers


class SearchBot(NamedObject):
    """Tries the policy's most probable actions in sampled worlds.

    Its decisions depend only on the views and their random numbers, unless `budget_ms` makes them depend on
    the speed of the machine.

    Parameters
    ----------
    samples : number of worlds in which actions are tried, at most; rounded up to a multiple of `FIRST_ROUND`.
    budget_ms : milliseconds for a decision. No round of worlds begins that is not likely to end in time; if
        none ends, the policy's choice is played. None for no limit. The first decision under new rules takes
        a few tenths of a second more, for the chances to win by score.
    turns : how far to look ahead: the network estimates the value when the player is to draw for the
        `turns`-th time.
    tried : maximum number of actions.
    caution : number of standard errors by which an action has to be better than the policy's choice to be
        played, and worse to be dropped. The errors count worlds as independent, although the same world can
        be sampled twice.
    policy : the policy that proposes actions and plays the rollouts: a file of a policy that scores
        candidates, trained by ``examples/ppo.py``, or the name of a bundled one. The bot ``policy`` improves
        its discards before it proposes them, but not in the rollouts.
    opponent : the bot that plays the other side in rollouts, neither a program nor a search; None for
        `policy`. ``"unknown"`` for one of `gin_env.agents.search.small_networks.MODELS`: each is assumed in a
        share of the worlds, which is its probability after what the opponent has done in the game.
    estimator : gives the worlds, see `gin_env.agents.search.belief.Belief`; it should be trained on games of
        the same opponent. None for a packaged one: that of the model with the opponent's name, whatever its
        parameters, or else that of ``policy``. The worlds of the `MODELS` themselves are weighted by the
        shape of the opponent's hand.

    Raises ValueError for `estimator` without an opponent.
    """

    def __init__(
        self,
        samples: int = 256,
        budget_ms: float | None = None,
        turns: int = 3,
        tried: int = 4,
        caution: float = 1.0,
        policy: str = "policy",
        opponent: str | None = UNKNOWN,
        estimator: str | None = None,
    ) -> None:
        if opponent == UNKNOWN and estimator is not None:
            raise ValueError("estimator needs an opponent: an unknown one has those of its models")
        if opponent not in (None, UNKNOWN):
            _check_opponent(opponent)
        self.name = "search"
        if policy == "policy":
            self.policy: ImprovedPolicyBot | CandidatePolicyBot = ImprovedPolicyBot()
        else:
            self.policy = CandidatePolicyBot(find_policy_of_games(policy, match_values=True))
            self.policy.files = (file_of_policy(policy),)
        self.files = PACKAGED, *self.policy.files
        self.samples = check_integer("samples", samples, 2, 1 << 20)
        self.budget_ms = None if budget_ms is None else check_number("budget_ms", budget_ms, 0, 1e9)
        self.turns = check_integer("turns", turns, 1, 100)
        self.tried = check_integer("tried", tried, 2, NUM_ACTIONS)
        self.caution = check_number("caution", caution, 0, 100)
        self._recognise = OpponentModels() if opponent == UNKNOWN else None
        assumed = list(MODELS) if opponent == UNKNOWN else [policy if opponent is None else opponent]
        self._models = [self._model(bot, estimator) for bot in assumed]
        self.belief, self.players = self._models[0]

    def _model(self, bot: str, estimator: str | None) -> _Model:
        """Return what is assumed of an opponent that plays like a bot, whose files are added to `files`."""
        network = self.policy.network
        shaped = bot in MODELS and estimator is None
        shapes = HandShapes(packaged_networks()[bot]) if shaped else None
        (packaged,) = estimators_for(bot)
        belief, opponent = Belief(estimator or packaged, shapes), agents.make(bot)
        self.files += *files_of(opponent), *files_of(belief.estimator)
        return _Model(belief, RolloutPlayers(network, opponent))

    def act(self, view: PlayerView) -> np.ndarray:
        """See `Agent.act`. Views are searched one by one."""
        if not len(view):
            return np.empty(0, np.int64)
        return np.array([self._look_ahead(*each) for each in zip(view, self.likeliest(view), strict=True)])

    def likeliest(self, view: PlayerView) -> list[np.ndarray]:
        """Return the policy's choice and its next likeliest actions, int64 (k,), for each view."""
        logits, actions = (array.reshape(len(view), -1) for array in self.players.logits(view.array))
        logits = np.where(actions == NO_ACTION, -np.inf, logits.astype(np.float64))
        chances = np.exp(logits - logits.max(axis=1, keepdims=True))
        chances /= chances.sum(axis=1, keepdims=True)
        chances[actions == self.policy.act(view)[:, None]] = 1.0
        order = np.lexsort((actions, -chances), axis=1)[:, : self.tried]  # ties by number, as in the bot
        likely = np.take_along_axis(chances, order, axis=1) > MIN_PROBABILITY
        ordered = np.take_along_axis(actions, order, axis=1)
        return [row[keep] for row, keep in zip(ordered, likely, strict=True)]

    def _look_ahead(self, view: PlayerView, tried: np.ndarray) -> int:
        """Return the best of these actions in sampled worlds; the first unless another is clearly better."""
        first, others = int(tried[0]), tried[1:]
        if not len(others):
            return first
        if self.budget_ms is not None:  # the first decision would spend its time on the chances to win
            self.players.chances_to_win(Rules.from_record(view.array["public"]["rules"][0]))
        began = perf_counter()
        models = self.begin(view, np.random.default_rng(int(view.array["random"][0])))
        gains = np.zeros((len(others), 0))
        while len(others) and gains.shape[1] < self.samples:
            num_worlds = gains.shape[1]
            elapsed = 1000 * (perf_counter() - began)
            # The next round takes at most `GROWTH` times as long as all rounds before it.
            expected = (1 + GROWTH) * elapsed if num_worlds else elapsed
            if self.budget_ms is not None and expected >= self.budget_ms:
                break
            missing = -(-(self.samples - num_worlds) // FIRST_ROUND) * FIRST_ROUND
            num_new = min(max(GROWTH * num_worlds, FIRST_ROUND), missing)
            actions = np.concatenate([[first], others])
            new_gains = self.gains_in_models(view, models, num_new, actions)[1:]
            gains = np.concatenate([gains, new_gains], axis=1)
            others, gains = self.hopeful(others, gains)
        return self.best(first, others, gains)

    def begin(self, view: PlayerView, random: np.random.Generator) -> list[tuple[_Model, Worlds]]:
        """Return the models assumed in this view, and for each the worlds of its share of `FIRST_ROUND`."""
        chances = np.ones(1) if self._recognise is None else self._recognise(view.array[0])
        models: list[tuple[_Model, Worlds]] = []
        estimates: dict[str, np.ndarray] = {}
        for model, count in zip(self._models, shared_out(chances, FIRST_ROUND), strict=True):
            if count:
                estimator = model.belief.estimator
                if estimator.name not in estimates:
                    estimates[estimator.name] = estimator.estimate(view)[0]
                models.append((model, Worlds(model.belief, view, count, random, estimates[estimator.name])))
        return models

    def gains_in_models(
        self, view: PlayerView, models: list[tuple[_Model, Worlds]], num_worlds: int, actions: np.ndarray
    ) -> np.ndarray:
        """Return `gains` in a multiple of `FIRST_ROUND` new worlds, shared by what `begin` returned."""
        rounds = num_worlds // FIRST_ROUND
        gains = [self.gains(view, worlds.draw(rounds), actions, model.players) for model, worlds in models]
        return np.concatenate(gains, axis=1)

    def hopeful(self, others: np.ndarray, gains: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return the actions that may still be better than the first, and their gains."""
        mean, error = mean_and_error(gains)
        hopeful = mean + self.caution * error > 0
        return others[hopeful], gains[hopeful]

    def best(self, first: int, others: np.ndarray, gains: np.ndarray) -> int:
        """Return the action that is most surely better than the first; the first if none is."""
        if not gains.size:
            return first
        mean, error = mean_and_error(gains)
        surely = mean - self.caution * error
        return int(others[surely.argmax()]) if surely.max() > 0 else first

    def gains(
        self, view: PlayerView, worlds: np.ndarray, actions: np.ndarray, players: RolloutPlayers | None = None
    ) -> np.ndarray:
        """Return the probability of winning after each of k actions minus that of the first: float64 (k, n).

        `view` is one view of a player to move; `worlds` are `STATE` records (n,) consistent with it;
        `players` play the rollouts.
        """
        player = int(view.array["player"][0])
        repeated = np.repeat(actions, len(worlds))
        won = self.won_after(np.tile(worlds, len(actions)), repeated, player, players)
        won = won.reshape(len(actions), len(worlds))
        return won - won[0]

    def won_after(
        self,
        worlds: np.ndarray,
        actions: np.ndarray,
        player: int | np.ndarray,
        players: RolloutPlayers | None = None,
    ) -> np.ndarray:
        """Return the change in the probability of winning by an action in each world: float64 (n,).

        `worlds` are `STATE` records (n,) under the same rules; `player` is to move, one for all or for each;
        `players` play the rollouts.
        """
        games = after(worlds, actions)
        movers = np.broadcast_to(np.asarray(player, np.int64), len(games))
        won = (players or self.players).roll_out(games, movers, self.turns)
        ended = np.flatnonzero(games.done)
        points = points_of_hand(games)[ended] * (1 - 2 * movers[ended])
        scores, seat = worlds["public"]["scores"].astype(np.int64), movers[ended]
        worth = self.worth(games.rules, points, scores[ended, seat], scores[ended, 1 - seat])
        won[ended] = worth
        return won

    def worth(
        self, rules: Rules, points: np.ndarray, own: int | np.ndarray, other: int | np.ndarray
    ) -> np.ndarray:
        """Return the change in the probability of winning by these points, int64 (n,): float64 (n,)."""
        chances = self.players.chances_to_win(rules)
        return chances_after(chances, own, other, points) - chances[own, other]


def shared_out(chances: np.ndarray, total: int) -> list[int]:
    """Return whole numbers with this sum, in proportion to probabilities."""
    shares = chances * total
    counts = np.floor(shares).astype(np.int64)
    counts[np.argsort(counts - shares, kind="stable")[: total - counts.sum()]] += 1
    return counts.tolist()


def _check_opponent(opponent: object) -> None:
    """Raise TypeError or ValueError for an opponent whose actions take too long."""
    if not isinstance(opponent, str):
        raise TypeError(f"opponent must be a bot's name, not {opponent!r}")
    if agents.starts_program(opponent):
        raise ValueError(f"opponent must be a bot of this package, not {opponent!r}, which runs other code")
    if opponent.partition(":")[0] == "search":
        raise ValueError(f"opponent must be a bot that does not search, not {opponent!r}")
