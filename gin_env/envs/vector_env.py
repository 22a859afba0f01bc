"""The Gymnasium vector environment: many games, one seat of each against fixed opponents.

A thin layer over `gin_env.envs.learner_seat.LearnerSeat`, as `gin_env.envs.gymnasium_env` is for one game.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Unpack

import gymnasium
import numpy as np
from gymnasium import spaces
from gymnasium.vector import AutoresetMode
from gymnasium.vector.utils import batch_space

from gin_env.batch import check_actions
from gin_env.envs.encoder import Observation, row
from gin_env.envs.learner_seat import NO_RESULT, LearnerSeat, Opponents, Options, Seated, check_seeds
from gin_env.game.actions import NUM_ACTIONS
from gin_env.game.deals import check_deal_options
from gin_env.game.rules import RulesLike
from gin_env.support.checks import check_choice, check_integer
from gin_env.support.threads import warn_if_threads_compete
from gin_env.ui.screen import Screen, check_render_mode


class GinRummyVectorEnv(Seated, gymnasium.vector.VectorEnv[Observation, np.ndarray, np.ndarray]):
    """A batch of games: ``gymnasium.make_vec("gin_env/GinRummy-v0", num_envs=1024)``.

    Description, spaces, rewards and arguments are those of `GinRummyEnv`. Game i of ``reset(seed=s)`` equals
    the single environment with seed s + i. Infos contain ``"action_mask"``, int8 (num_envs, 107), and the
    other entries of a single environment's info, as arrays (num_envs,).

    Arguments
    ---------
    num_envs : number of games.
    autoreset_mode : what happens after the end of an episode, as Gymnasium's `AutoresetMode` or its value.
        ``"SameStep"`` (default): the returned observation is the first of the next episode, so no mask is all
        zeros; the last one is in ``infos["final_obs"]``, and ``infos["final_info"]`` describes the end of the
        hand. ``"NextStep"``: the last observation is returned, with a mask of zeros unless the episode was
        truncated, and the next step starts the next episode of that game, whatever its action.
        ``"Disabled"``: only `reset` with ``options={"reset_mask": ...}`` starts the next one.
    max_episode_steps : truncate an episode after that many decisions of the agent; None: never.
    """

    metadata = {  # noqa: RUF012
        "autoreset_mode": AutoresetMode.SAME_STEP,
        "render_modes": ["rgb_array", "ansi"],
        "render_fps": 2,
    }

    _CHANGING = ("_begun", "_over", "_steps", "seat")

    def __init__(
        self,
        num_envs: int = 1,
        opponent: Opponents = "simple",
        rules: RulesLike = None,
        *,
        render_mode: str | None = None,
        autoreset_mode: AutoresetMode | str = "SameStep",
        max_episode_steps: int | None = None,
        **options: Unpack[Options],
    ) -> None:
        warn_if_threads_compete()
        check_render_mode(render_mode, self.metadata["render_modes"])
        mode = getattr(autoreset_mode, "value", autoreset_mode)
        modes = [each.value for each in AutoresetMode]
        self.autoreset_mode = AutoresetMode(check_choice("autoreset_mode", mode, modes))
        self.metadata = self.metadata | {"autoreset_mode": self.autoreset_mode}
        self.seat = LearnerSeat(num_envs, opponent, rules, **options)
        self.num_envs = num_envs
        self.render_mode = render_mode
        self.single_observation_space = self.seat.space
        self.single_action_space = spaces.Discrete(NUM_ACTIONS)
        self.observation_space = batch_space(self.single_observation_space, num_envs)
        self.action_space = batch_space(self.single_action_space, num_envs)
        self._begun = False
        self._over = np.zeros(num_envs, np.bool_)
        """Games that wait for their next episode."""
        self._max_steps = int(np.iinfo(np.int64).max)
        if max_episode_steps is not None:
            self._max_steps = check_integer("max_episode_steps", max_episode_steps, 1, self._max_steps)
        self._steps = np.zeros(num_envs, np.int64)
        self._no_results = {name: np.full(num_envs, value) for name, value in NO_RESULT.items()}
        self._marks = [f"_{name}" for name in (*NO_RESULT, "action_mask", "opponent")]

    def reset(
        self, *, seed: int | Sequence[int | None] | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Observation, dict[str, Any]]:
        """Begin an episode in every game, or in those of ``options["reset_mask"]`` (bool (num_envs,)).

        ``options`` may also fix the deal of all these games (``"deck"``, ``"dealer"``). Errors are those of
        `GinRummyEnv.reset` and change nothing.
        """
        decks, dealer = check_deal_options(options, self.seat.games.rules, self.seat.games.whole_game)
        games = self._games_to_reset((options or {}).get("reset_mask"))
        self.seat.reset(games, check_seeds(seed, self.num_envs), decks, dealer)
        if isinstance(seed, int | np.integer):
            super().reset(seed=int(seed))
        self._begun = True
        self._over[games] = False
        self._steps[games] = 0
        return self._observe()

    def step(
        self, actions: np.ndarray
    ) -> tuple[Observation, np.ndarray, np.ndarray, np.ndarray, dict[str, Any]]:
        """Play one action in each game: integer array, shape (num_envs,).

        Raises RuntimeError before the first `reset`, and with ``"Disabled"`` autoreset if a game is over.
        """
        if not self._begun:
            raise RuntimeError("call reset() before step()")
        actions = check_actions(actions, self.num_envs)
        if self.autoreset_mode == AutoresetMode.DISABLED and self._over.any():
            raise RuntimeError(
                f"{self._over.sum()} games are over; call reset(options={{'reset_mask': ...}}) for them"
            )
        playing = ~self._over  # all with "SameStep"
        if playing.all():
            self.seat.step(actions)
        else:
            self.seat.step(actions, np.flatnonzero(playing))
            self._begin(np.flatnonzero(self._over))
        terminated = self.seat.done.copy()
        self._steps += playing
        truncated = playing & ~terminated & (self._steps >= self._max_steps)
        over = terminated | truncated
        if self.autoreset_mode == AutoresetMode.SAME_STEP:
            final = {}
            if over.any():
                final = self._final_infos(over)
                self._begin(np.flatnonzero(over))
            observation, infos = self._observe()
            infos |= final
        else:
            self._over = over
            observation, infos = self._observe()
            ended = np.flatnonzero(terminated)
            for name, values in self.seat.hand_results(ended).items() if len(ended) else ():
                infos[name][ended] = values
        return observation, self.seat.rewards, terminated, truncated, infos

    def _begin(self, games: np.ndarray) -> None:
        """Begin the next episode of these games."""
        self.seat.begin(games)
        self._steps[games] = 0

    def action_masks(self) -> np.ndarray:
        """Return the action masks: int8 (num_envs, 107)."""
        return self.seat.masks()

    def _setting(self) -> tuple[Any, ...]:
        return "vector", self.num_envs, self.autoreset_mode, self._max_steps

    def call(self, name: str, *args: Any, **kwargs: Any) -> tuple[Any, ...]:
        """Return an attribute of each game, or the result of calling it: ``call("action_masks")``.

        As in Gymnasium's other vector environments. Raises AttributeError for an unknown name.
        """
        value = getattr(self, name)
        value = value(*args, **kwargs) if callable(value) else value
        if isinstance(value, np.ndarray) and value.shape[:1] == (self.num_envs,):
            return tuple(value)
        if name == "render" and value is not None:
            return value
        return (value,) * self.num_envs

    def render(self) -> tuple[Any, ...] | None:
        """Return one image or text for each game, according to ``render_mode``."""
        screen = Screen(self.render_mode)
        if self.render_mode is None:
            screen.render(self.seat.games.state[0])  # warns
            return None
        return tuple(screen.render(record) for record in self.seat.games.state)

    def _games_to_reset(self, reset_mask: Any) -> np.ndarray:
        if reset_mask is None:
            return self.seat.games.everyone
        mask = np.asarray(reset_mask)
        if mask.dtype != np.bool_ or mask.shape != (self.num_envs,) or not mask.any():
            raise ValueError(
                f"options['reset_mask'] must be a bool array of shape ({self.num_envs},) "
                "with at least one True"
            )
        if not self._begun and not mask.all():
            raise RuntimeError("the first reset() must reset all games")
        return np.flatnonzero(mask)

    def _observe(self) -> tuple[Observation, dict[str, Any]]:
        masks = self.seat.masks()
        infos = {name: values.copy() for name, values in self._no_results.items()}
        infos["action_mask"] = masks
        infos["opponent"] = self.seat.opponent_names()
        infos |= dict.fromkeys(self._marks, np.ones(self.num_envs, np.bool_))
        return self.seat.observe(masks), infos

    def _final_infos(self, over: np.ndarray) -> dict[str, Any]:
        """Return the final observations and infos of the games that are over, in Gymnasium's format.

        The infos are `hand_results`, undecided where time ran out, and the masks.
        """
        ended = np.flatnonzero(over)
        observations = self.seat.observe(self.seat.masks()[ended], ended)
        final_obs = np.full(self.num_envs, None, object)
        for index, game in enumerate(ended):
            final_obs[game] = row(observations, index)
        infos: dict[str, Any] = {}
        decided = self.seat.done[ended]
        for name, values in self.seat.hand_results(ended).items():
            if name in self._no_results and not decided.all():
                values = np.where(decided, values, self._no_results[name][ended])
            infos[name] = np.zeros(self.num_envs, values.dtype)
            infos[name][ended] = values
            infos[f"_{name}"] = over
        return {"final_obs": final_obs, "_final_obs": over, "final_info": infos, "_final_info": over}
