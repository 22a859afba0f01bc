"""Gin Rummy in words: a Gymnasium environment for language models, with text observations and actions.

>>> env = TextGinRummy(opponent="tonic")
>>> text, info = env.reset(seed=1)
>>> text, reward, terminated, truncated, info = env.step("draw from the stock")

The first observation contains the rules. An answer can contain other text: the last action that it names
counts, legal or not. An answer without an action, or with an illegal one, changes nothing, and the next
observation explains the error. After `patience` such answers the episode is lost.
"""

from __future__ import annotations

from typing import Any

import gymnasium
from gymnasium import spaces

from gin_env.batch import Episode, Reward
from gin_env.envs.gymnasium_env import GinRummyEnv
from gin_env.envs.learner_seat import LEARNER, Opponents
from gin_env.envs.snapshots import Restorable
from gin_env.game.actions import IllegalActionError, describe
from gin_env.game.rules import RulesLike
from gin_env.game.words import MAX_CHARACTERS, find_action, result_in_words, rules_in_words
from gin_env.support.checks import check_integer


class TextGinRummy(Restorable, gymnasium.Env):
    """Play one seat against a bot, in words.

    Parameters
    ----------
    opponent, rules, episode, reward : as for `GinRummyEnv`.
    patience : number of answers without a legal action after which the episode is lost (reward -1).
    """

    metadata = {"render_modes": []}  # noqa: RUF012
    _CHANGING = ("game", "_misses")

    def __init__(
        self,
        opponent: Opponents = "simple",
        rules: RulesLike = None,
        episode: Episode = "hand",
        reward: Reward = "points",
        patience: int = 3,
    ) -> None:
        self.game = GinRummyEnv(opponent, rules, episode=episode, reward=reward)
        self.patience = check_integer("patience", patience, 1, 1000)
        characters = "".join(map(chr, range(32, 127))) + "\n"
        self.observation_space = spaces.Text(MAX_CHARACTERS, charset=characters)
        self.action_space = spaces.Text(MAX_CHARACTERS, min_length=0, charset=characters)
        self._misses = 0

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[str, dict[str, Any]]:
        """Begin an episode as `GinRummyEnv.reset` does. Return (rules and position in words, info)."""
        _, info = self.game.reset(seed=seed, options=options)
        super().reset(seed=seed)
        self._misses = 0
        rules = rules_in_words(self.game.seat.games.rules)
        return f"{rules}\n\n{self._position()}", self._info(info)

    def step(self, action: str) -> tuple[str, float, bool, bool, dict[str, Any]]:
        """Play the action that a text names. Return (events and position in words, reward, ...).

        Raises RuntimeError if the episode is over or has not begun.
        """
        if self.game.seat.done[0] or self._misses >= self.patience:
            raise RuntimeError("the episode is over or has not begun; call reset() before step()")
        games = self.game.seat.games
        hand = int(games.state["public"]["hand_number"][0])
        try:
            _, reward, over, _, info = self.game.step(find_action(action))
        except IllegalActionError as error:
            self._misses += 1
            lost = self._misses >= self.patience
            end = "That was the last chance: the episode is lost." if lost else self._position()
            info = self.game._observe()[1] | ({"outcome": "illegal"} if lost else {})
            return f"Not possible: {error}\n\n{end}", -1.0 if lost else 0.0, lost, False, self._info(info)
        said = self._position()
        if not over and games.state["public"]["hand_number"][0] > hand:
            said = f"The last hand is over: {result_in_words(games.results[0], LEARNER)}.\n\n{said}"
        return said, reward, over, False, self._info(info)

    def _setting(self) -> tuple[Any, ...]:
        return "text", self.patience

    def _position(self) -> str:
        games = self.game.seat.games
        return str(games.views(games.everyone, LEARNER))

    def _info(self, info: dict[str, Any]) -> dict[str, Any]:
        """Return the info of the wrapped environment, the legal actions in words and the number of misses."""
        legal = self.game.action_masks().nonzero()[0].tolist()
        return {**info, "legal": [describe(action) for action in legal], "misses": self._misses}
