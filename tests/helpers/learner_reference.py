"""The reference for a learner against bots: the reference rules with an opponent in the other seat."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from typing import Any

import numpy as np
from environment_checks import (
    as_the_package_lays,
    deal_key,
    dealer_of_seed,
    deck_of_seed,
    mask_of_actions,
    vector_of,
)
from reference_rules import KNOCK, PASS, STOCK, Game

from gin_env.game.rules import Rules
from gin_env.game.streams import OPPONENT, mix, stream, unit
from gin_env.observations.views import PlayerView


def keen(legal: list[int]) -> int:
    """Pass, draw from the stock, knock as soon as possible, discard the highest rank."""
    for first in (PASS, STOCK):
        if first in legal:
            return first
    return max(legal, key=lambda number: (number >= KNOCK, number % 13))


POLICIES: dict[str, Callable[[list[int]], int]] = {"lowest": min, "highest": max, "keen": keen}
"""How opponents choose one of their legal actions (in ascending order)."""


class Chooser:
    """A bot that follows one of the `POLICIES`."""

    def __init__(self, name: str) -> None:
        self.name = name

    def act(self, view: PlayerView) -> np.ndarray:
        return np.array([POLICIES[self.name](np.flatnonzero(mask).tolist()) for mask in view.masks()])


MAX_SKIPPED = 20
"""What `learner_seat.MAX_SKIPPED` is here (see `LearnerFace`), so that the reference takes a moment only."""


class DealRefusedError(ValueError):
    """With this deck or dealer, the opponent ends the hand before the learner's first turn."""


class Pool:
    """Opponents by name, with the weights for choosing one per hand."""

    def __init__(self, names: list[str], weights: list[float] | None = None) -> None:
        self.names = names
        shares = np.array([1.0] * len(names) if weights is None else weights)
        self.shares = np.cumsum(shares / shares.sum())[:-1]

    def choose(self, number: float) -> str:
        return self.names[sum(number >= share for share in self.shares)]


class Table:
    """The reference for one game of the learner, who is player 0."""

    def __init__(self, rules: Rules, whole_game: bool, pays_wins: bool, outcomes: Counter[str]) -> None:
        self.outcomes = outcomes
        self.rules, self.whole_game, self.pays_wins = rules, whole_game, pays_wins
        self.seed: int | None = None
        self.episode = 0
        """The episode that begins next."""
        self.game: Game | None = None
        self.lost = False
        """An illegal action ended the episode."""
        self.earned = 0.0
        """Rewards since the learner's last observation."""

    @property
    def over(self) -> bool:
        return self.game is None or self.game.over or self.lost

    def legal(self) -> list[int]:
        return [] if self.game is None or self.lost else self.game.legal()

    def begin(self, pool: Pool, decks: list[list[int]], dealer: int | None) -> None:
        """Begin the next episode in which the learner has a turn."""
        skipped = -1
        while self.over or self.game is None:
            skipped += 1
            if skipped and (decks or (dealer is not None and skipped == MAX_SKIPPED)):
                raise DealRefusedError
            seed, episode = self.seed, self.episode
            assert seed is not None, "the first reset needs a seed, so that a failure can be repeated"
            self.episode += 1

            def deck_of(hand: int, seed: int = seed, episode: int = episode) -> list[int]:
                return decks[hand] if hand < len(decks) else deck_of_seed(self.rules, seed, episode, hand)

            who = dealer_of_seed(seed, episode) if dealer is None else dealer
            self.game = Game(self.rules, deck_of, who, self.whole_game, self.pays_wins, as_the_package_lays)
            self.key = deal_key(seed, episode)
            self.lost, self.earned = False, 0.0
            self._seat(pool)
            self._play_opponent(pool)

    def step(self, number: int, pool: Pool) -> float:
        """Play the learner's action and the replies; return its reward. An illegal action loses."""
        assert self.game is not None
        if number in self.legal():
            self._play(number, pool)
            self._play_opponent(pool)
        else:
            self.lost, self.earned = True, -1.0
        paid, self.earned = self.earned, 0.0
        return paid

    def _play(self, number: int, pool: Pool) -> None:
        assert self.game is not None
        self.game.play(number)
        self.earned += self.game.paid
        if self.game.ended:
            self.outcomes[self.game.ended.outcome] += 1
            if not self.game.over:
                self._seat(pool)

    def _play_opponent(self, pool: Pool) -> None:
        assert self.game is not None
        while not self.game.over and self.game.to_move == 1:
            self._play(POLICIES[self.opponent](self.game.legal()), pool)

    def _seat(self, pool: Pool) -> None:
        """Choose the opponent by the random number of the hand."""
        assert self.game is not None
        key = np.uint64(stream(self.key, np.uint64(self.game.hand_number), OPPONENT))
        self.opponent = pool.choose(unit(np.uint64(mix(key, np.uint64(0)))))

    def result(self) -> dict[str, Any]:
        """Return the ending of the last hand, for the infos of a finished episode."""
        if self.lost or self.game is None or self.game.last_result is None:
            return {"outcome": "illegal", "won": False, "points": 0, "turns": 0}
        result = self.game.last_result
        return {
            "outcome": result.outcome,
            "won": result.winner == 0,
            "points": result.points,
            "turns": result.turns,
        }

    def vector(self) -> np.ndarray:
        assert self.game is not None
        return vector_of(self.game.observation(0))

    def mask(self) -> np.ndarray:
        return mask_of_actions(self.legal())
