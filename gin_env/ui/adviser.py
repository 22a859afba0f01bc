"""Advice on a move: what each move is worth when a strong bot plays on from it.

The moves are tried in the same sampled worlds, full deals that the player must consider possible. A bot plays
both sides to the end of the hand, each side seeing only its own cards. This is the bot ``search`` without its
networks of values, so it works with any bot.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from gin_env import agents
from gin_env.agents.base import HasActionChances
from gin_env.agents.search.belief import Belief, after, mean_and_error, points_of_hand
from gin_env.agents.turns import check_bot_actions, play_turns
from gin_env.batch import Games
from gin_env.estimators import make as make_estimator
from gin_env.estimators.base import Estimator, NeedsHands
from gin_env.game.actions import KNOCK, is_discard
from gin_env.game.match_odds import chances_after, chances_to_win
from gin_env.game.melds import deadwood
from gin_env.game.rules import Rules
from gin_env.observations.views import PlayerView
from gin_env.support.registry import has_torch
from gin_env.ui.explanations import RankedChoice, choices
from gin_env.ui.opponents import find_opponent

if TYPE_CHECKING:
    from gin_env.agents.search.rollouts import RolloutPlayers

STRONGEST, STRONGEST_WITHOUT_TORCH = "policy", "marjj"
NUM_WORLDS = 256
CLOSER = 4
"""A move to judge and the best one are compared in this many times the worlds, unless they differ by `SURE`
standard errors."""
SURE = 4.0
TRIED = 4
"""Moves that are tried in a position, in addition to knocks and a move to judge."""
NUM_PAID_HANDS = 2000
"""Hands played to learn how many points a hand pays."""
CERTAINTY = 2.0
"""Standard errors by which a move must be worse than another to be called worse."""


class Move(NamedTuple):
    """A move and what it is worth."""

    action: int
    win: float
    """Probability of winning the game after it."""
    points: float
    """Mean points of the hand after it; negative if the opponent is expected to score."""
    error: float
    """Standard error of the difference to the best move in `win`."""
    numbers: RankedChoice
    """Deadwood, cards that help, and danger."""


class Advice(NamedTuple):
    """The moves of a position that are worth comparing."""

    moves: list[Move]
    """The best move first, then the others by `win`."""
    deadwood: float
    """Mean deadwood of the opponent in the sampled worlds."""

    @property
    def best(self) -> Move:
        """The move to play."""
        return self.moves[0]

    def find(self, action: int) -> Move | None:
        """Return the move with this action; None if it was not tried."""
        return next((move for move in self.moves if move.action == action), None)

    def cost(self, move: Move) -> float:
        """Return the chance of winning that a move gives away: 0 unless it is surely worse than the best."""
        lost = self.best.win - move.win
        return lost if lost > CERTAINTY * move.error and lost > 0 else 0.0


class Adviser:
    """Compares moves by rollouts.

    Parameters
    ----------
    bot : name of the bot that proposes moves and plays on; default: the strongest that can be loaded.
    num_worlds : number of worlds in which each move is tried.

    Raises as `gin_env.agents.make` does.
    """

    def __init__(self, bot: str | None = None, num_worlds: int = NUM_WORLDS) -> None:
        torch = has_torch()
        self.bot = agents.make(bot or (STRONGEST if torch else STRONGEST_WITHOUT_TORCH), programs=True)
        self.name = self.bot.name
        known = find_opponent(self.name)
        self.label = self.name if known is None else f"{known.name} ({self.name})"
        self.num_worlds = num_worlds
        self._belief = Belief("suit-equivariant:weights=policy" if torch else "bayes")
        self._danger = make_estimator("bayes")
        self._network: RolloutPlayers | None = _players_of(self.bot) if torch else None
        self._chances: dict[Rules, np.ndarray] = {}

    def advise(self, view: PlayerView, played: int | None = None) -> Advice:
        """Return the comparison of the best moves, of each knock, and of the move `played`.

        Raises ValueError unless `view` is a single view of a player to move, or if `played` is illegal.
        """
        numbers = {choice.action: choice for choice in choices(view, self._danger)}
        if played is not None and played not in numbers:
            raise ValueError(f"action {played} is not legal here")
        tried = self._moves_to_try(view, numbers, played)
        random = _random_of(view)
        worlds = self._belief.worlds(view, self.num_worlds, random)
        moves = self._compare(view, worlds, tried, numbers)
        other = next((move for move in moves[1:] if move.action == played), None)
        if other is not None and moves[0].win - other.win < SURE * other.error:  # look closer at what counts
            more = self._belief.worlds(view, CLOSER * self.num_worlds, random)
            pair = self._compare(view, more, [moves[0].action, other.action], numbers)
            moves = pair + [move for move in moves if move.action not in (pair[0].action, pair[1].action)]
            moves[1:] = sorted(moves[1:], key=lambda move: -move.win)
        return Advice(moves, _mean_deadwood(worlds, 1 - int(view.array["player"][0])))

    def _compare(
        self, view: PlayerView, worlds: np.ndarray, tried: list[int], numbers: dict[int, RankedChoice]
    ) -> list[Move]:
        """Return the moves, the best first; the first of `tried` is the best unless another surely is."""
        player, scores = int(view.array["player"][0]), view.array["public"]["scores"][0]
        points = self._play_out(worlds, np.array(tried), player)
        win = self._chance(view.rules, int(scores[player]), int(scores[1 - player]), points)
        best = _best(win)
        mean, (_, error) = win.mean(axis=1), mean_and_error(win - win[best])
        order = sorted(range(len(tried)), key=lambda index: (index != best, -mean[index]))
        return [
            Move(
                tried[index],
                float(mean[index]),
                float(points[index].mean()),
                float(error[index]),
                numbers[tried[index]],
            )
            for index in order
        ]

    def chance_to_win(self, rules: Rules, own: int, other: int) -> float:
        """Return the probability of winning the game between two hands, from these scores."""
        return float(self._chance(rules, own, other, np.zeros(1, np.int64))[0])

    def _moves_to_try(
        self, view: PlayerView, numbers: dict[int, RankedChoice], played: int | None
    ) -> list[int]:
        """Return the bot's move first, then the most promising others."""
        chosen = int(check_bot_actions(self.bot, self.bot.act(view), 1)[0])
        likely = self.bot.action_chances(view)[0] if isinstance(self.bot, HasActionChances) else None

        def rank(action: int) -> tuple[float, float]:
            leaves = numbers[action].deadwood or 0
            return (0.0 if likely is None else -float(likely[action]), leaves + (numbers[action].risk or 0))

        best_first = sorted(numbers, key=lambda action: (action != chosen, *rank(action), action))
        knocks = [action for action in best_first if action >= KNOCK and is_discard(action)][:1]
        wanted = [*best_first[:TRIED], *knocks, *([] if played is None else [played])]
        return list(dict.fromkeys(wanted))

    def _play_out(self, worlds: np.ndarray, actions: np.ndarray, player: int) -> np.ndarray:
        """Return the player's points after each of k actions in each world: int64 (k, n)."""
        games = after(np.tile(worlds, len(actions)), np.repeat(actions, len(worlds)))
        self._finish(games, player)
        points = points_of_hand(games) * (1 - 2 * player)
        return points.reshape(len(actions), len(worlds))

    def _finish(self, games: Games, player: int) -> None:
        """Play every hand to its end."""
        if self._network is not None:
            self._network.roll_out(games, player, 1 << 30)
            return
        while len(running := games.everyone[~games.done]):
            play_turns(games, self.bot, running, both_seats=True)

    def _chance(self, rules: Rules, own: int, other: int, points: np.ndarray) -> np.ndarray:
        """Return the probability of winning after a hand that pays these points, in the shape of `points`."""
        if rules not in self._chances:
            games = Games(NUM_PAID_HANDS, rules)
            games.start(games.everyone, np.zeros(NUM_PAID_HANDS, np.uint64), games.everyone.astype(np.uint64))
            self._finish(games, 0)
            paid = np.bincount(np.abs(points_of_hand(games)), minlength=2)
            paid[1] += not paid[1:].any()  # no hand paid points
            self._chances[rules] = chances_to_win(paid, rules.target_score)
        return chances_after(self._chances[rules], own, other, points)


def _random_of(view: PlayerView) -> np.random.Generator:
    """Return a generator that depends only on the course of the hand, so that a replay is judged alike."""
    return np.random.default_rng([int(view.hands[0]), *(event.action for event in view.history())])


def estimator_of_hand(name: str) -> Estimator:
    """Return the estimator of this name. Raises ValueError for an estimator that needs both hands."""
    estimator = make_estimator(name)
    if isinstance(estimator, NeedsHands):
        raise ValueError(f"estimator {name!r} sees the opponent's hand: choose one that estimates it")
    return estimator


def _players_of(bot: agents.Agent) -> RolloutPlayers | None:
    """Return compiled rollouts by a bot's network; None for another kind of bot."""
    from gin_env.agents.search.rollouts import RolloutPlayers, network_of

    network = network_of(bot)
    return None if network is None else RolloutPlayers(network, None)


def _best(win: np.ndarray) -> int:
    """Return the index of the best of k moves by chances (k, n): the first unless one is surely better."""
    mean, error = mean_and_error(win - win[0])
    return int((mean - error).argmax())


def _mean_deadwood(worlds: np.ndarray, player: int) -> float:
    """Return the mean deadwood of a player's cards in `STATE` records (n,)."""
    hands = worlds["private"]["hand"][:, player]
    return float(np.mean([deadwood(int(hand)) for hand in hands]))
