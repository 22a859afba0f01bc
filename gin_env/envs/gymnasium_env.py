"""Gymnasium environments: one seat against fixed opponents, single and batched.

Both are thin layers over `gin_env.envs.learner_seat.LearnerSeat`. Observations are dicts as in the PettingZoo
environment: ``{"observation": float32 (OBSERVATION_SIZE,), "action_mask": int8 (107,)}``, and with
``candidates=True`` the three `ENTRIES` of `gin_env.observations.candidates`. The mask is also in the info.
With ``flat=True`` observations are the vector alone, for libraries and wrappers without support for dicts.

The kernels write directly into the returned arrays. An array is never overwritten while you hold a reference
to it; once you drop it, its memory is reused.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeAlias

import gymnasium
import numpy as np
from gymnasium.vector import AutoresetMode
from gymnasium.vector.utils import batch_space

from gin_env.agents.policies.policy import describe_training
from gin_env.batch import Episode, Reward, check_actions
from gin_env.envs.learner_seat import LEARNER, IllegalAction, LearnerSeat, Opponents, check_seeds
from gin_env.envs.snapshots import EnvironmentState, check_state, copy_attributes, restore_attributes
from gin_env.envs.spaces import action_space, check_contents, observation_space
from gin_env.estimators.base import Estimator
from gin_env.game.actions import check_action
from gin_env.game.deals import check_deal_options
from gin_env.game.rules import Rules
from gin_env.game.state import OUTCOME_NAMES
from gin_env.game.streams import check_seed
from gin_env.support.checks import check_integer
from gin_env.support.threads import warn_if_threads_compete
from gin_env.ui.screen import Screen, check_render_mode

_CHANGING = ("_begun", "_over", "_steps")

Observation: TypeAlias = dict[str, np.ndarray] | np.ndarray
"""A dict of arrays, or with ``flat=True`` the vector."""


class GinRummyEnv(gymnasium.Env):
    """Gin Rummy for one player against a bot: ``gymnasium.make("gin_env/GinRummy-v0", opponent="simple")``.

    Description
    -----------
    Gin Rummy is a card game for two players. A turn is a draw, from the stock or the discard pile, and a
    discard. Players form sets and runs, and may knock once at most 10 points remain outside of them. The
    agent is player 0, and the environment plays the opponent's turns inside `step`. The rules are those of
    the EAAI 2021 Gin Rummy challenge.

    Action Space
    ------------
    ``Discrete(107)``. A step is one decision:

    - 0-51: discard the card with this id
    - 52-103: knock, discarding the card with id ``action - 52``
    - 104: draw from the stock
    - 105: draw the upcard
    - 106: pass, in the opening offer only

    A card's id is ``suit * 13 + rank`` with suits ``CHSD`` and ranks ``A23456789TJQK``. Few actions are legal
    at a time, so sample with the mask.

    Observation Space
    -----------------
    ``Dict`` of ``"observation"``, float32 (OBSERVATION_SIZE,) within [-1, 1], and ``"action_mask"``, int8
    (107,) with 1 for each legal action; the info holds the same mask. `gin_env.observation.LAYOUT` names the
    parts of the vector. With ``candidates=True`` there are three more entries, the `ENTRIES` of
    `gin_env.candidates`. With ``flat=True`` the observation is the vector alone, ``Box``.

    No observation depends on a card that the agent cannot see. The kernels write directly into the returned
    arrays; an array is never overwritten while you hold a reference to it.

    Rewards
    -------
    - ``reward="points"``: the points of a hand / 100 at its end, negative if the opponent scores them
    - ``reward="win"``: +1 or -1 at the end of the episode, 0 for a void hand

    Starting State
    --------------
    Ten random cards for each player, one card turned up, and 31 in the stock. The first dealer is random.
    `reset` returns when the agent is to move. ``options={"deck": ..., "dealer": ...}`` fixes the deal.

    Episode End
    -----------
    With ``episode="hand"``, an episode terminates when a player knocks, or when two cards are left in the
    stock (a void hand). With ``episode="game"``, it terminates when a player has 100 points. The last info
    describes the end of the hand: ``outcome``, ``won``, ``points`` and ``turns``. The environment itself
    never truncates.

    Arguments
    ---------
    opponent : a bot's name, the path of a trained policy, a bot object, or a list of these, from which one is
        chosen at random for each hand.
    rules : default `Rules()`.
    episode : ``"hand"`` (default) or ``"game"`` (to the target score).
    reward : ``"points"`` (default) or ``"win"``.
    illegal_action : ``"raise"`` (default): IllegalActionError, nothing changes; ``"lose"``: the episode ends
        with reward -1.
    estimator : the estimator that fills the observation's ``estimate`` plane: a name from
        `gin_env.estimators`, with or without parameters, or an object.
    candidates : whether observations contain features of each possible action.
    flat : whether observations are the vector alone; `action_masks` returns the mask.
    render_mode : None, ``"ansi"``, ``"human"`` or ``"rgb_array"``. Pictures show both hands.

    Version History
    ---------------
    - v0: first version
    """

    metadata = {"render_modes": ["human", "ansi", "rgb_array"], "render_fps": 2}  # noqa: RUF012

    def __init__(
        self,
        opponent: Opponents = "simple",
        rules: Rules | None = None,
        episode: Episode = "hand",
        reward: Reward = "points",
        illegal_action: IllegalAction = "raise",
        estimator: str | Estimator = "uniform",
        render_mode: str | None = None,
        candidates: bool = False,
        flat: bool = False,
    ) -> None:
        check_render_mode(render_mode, self.metadata["render_modes"])
        self._with_candidates, self._flat = check_contents(candidates, flat)
        self.seat = LearnerSeat(1, opponent, rules, episode, reward, illegal_action, estimator)
        self.render_mode = render_mode
        self.observation_space = observation_space(self._with_candidates, self._flat)
        self.action_space = action_space()
        self._screen = Screen(render_mode, self.metadata["render_fps"])

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Observation, dict[str, Any]]:
        """Begin an episode: number 0 of `seed`, or without a seed the episode after the last one.

        ``options={"deck": 52 card ids, "dealer": 0 or 1}`` fixes the deal as in `gin_rummy_v0.raw_env.reset`;
        the agent is player 0. Anyone who knows the seed can reconstruct every deck. Raises TypeError or
        ValueError for an invalid seed, deck or dealer, and if the opponent always ends the hand before the
        agent's first turn; the environment is then unchanged.
        """
        games = self.seat.games
        decks, dealer = check_deal_options(options, games.rules, games.whole_game)
        seeds = [None if seed is None else check_seed(seed)]
        self.seat.reset(games.everyone, seeds, decks, dealer)
        super().reset(seed=seeds[0])
        return self._observe()

    def step(self, action: int) -> tuple[Observation, float, bool, bool, dict[str, Any]]:
        """Play one action. Raises RuntimeError if the episode is over or has not begun."""
        if self.seat.done[0]:
            raise RuntimeError("the episode is over or has not begun; call reset() before step()")
        self.seat.step(np.array([check_action(action)], np.int64))
        observation, info = self._observe()
        over = bool(self.seat.done[0])
        if over:
            info |= {name: values[0].item() for name, values in hand_results(self.seat.games.results).items()}
        return observation, float(self.seat.rewards[0]), over, False, info

    def action_masks(self) -> np.ndarray:
        """Return the action mask, int8 (107,), under the name that sb3-contrib calls."""
        return self.seat.masks()[0]

    def get_state(self) -> EnvironmentState:
        """Return the state of the game, hidden cards included; see `gin_env.envs.snapshots`.

        Call it on ``env.unwrapped``. Wrappers keep states of their own, such as the steps that ``TimeLimit``
        counts.
        """
        return self.seat.get_state()

    def set_state(self, state: EnvironmentState) -> None:
        """Continue from a state. Raises TypeError or ValueError for one that does not fit."""
        self.seat.set_state(state)

    def describe_training(self) -> dict[str, Any]:
        """Return what a Stable-Baselines3 model trained here must store.

        Set ``model.gin_env = env.unwrapped.describe_training()`` before you save the model.
        """
        games = self.seat.games
        episode: Episode = "game" if games.whole_game else "hand"
        return describe_training(games.rules, episode, self.seat.estimator, self._with_candidates)

    def render(self) -> Any:
        """Return text or an image (uint8 (height, width, 3)), or None after drawing in a window."""
        if self.render_mode is None:
            gymnasium.logger.warn("render() was called without a render_mode; pass it to gymnasium.make()")
            return None
        return self._screen.render(self.seat.games.state[0])

    def close(self) -> None:
        """Close the window, if one was opened."""
        self._screen.close()

    def _observe(self) -> tuple[Observation, dict[str, Any]]:
        mask = self.action_masks()
        vector = self.seat.observations()[0]
        if self._flat:
            return vector, {"action_mask": mask}
        observation = {"observation": vector, "action_mask": mask}
        if self._with_candidates:
            observation |= {name: entry[0] for name, entry in self.seat.candidates().items()}
        return observation, {"action_mask": mask}


class GinRummyVectorEnv(gymnasium.vector.VectorEnv[Observation, np.ndarray, np.ndarray]):
    """A batch of games: ``gymnasium.make_vec("gin_env/GinRummy-v0", num_envs=1024)``.

    Description, spaces, rewards and arguments are those of `GinRummyEnv`. Game i of ``reset(seed=s)`` equals
    the single environment with seed s + i. Infos contain ``"action_mask"``, int8 (num_envs, 107).

    Arguments
    ---------
    num_envs : number of games.
    autoreset_mode : what happens after the end of an episode, as Gymnasium's `AutoresetMode` or its value.
        ``"SameStep"`` (default): the returned observation is the first of the next episode, so no mask is all
        zeros; the last one is in ``infos["final_obs"]``, and ``infos["final_info"]`` describes the end of the
        hand. ``"NextStep"``: the last observation is returned, with a mask of zeros, and the next step starts
        the next episode of that game, whatever its action. ``"Disabled"``: only `reset` with
        ``options={"reset_mask": ...}`` starts the next one.
    max_episode_steps : truncate an episode after that many decisions of the agent; None: never.
    """

    metadata = {  # noqa: RUF012
        "autoreset_mode": AutoresetMode.SAME_STEP,
        "render_modes": ["rgb_array", "ansi"],
        "render_fps": 2,
    }

    def __init__(
        self,
        num_envs: int = 1,
        opponent: Opponents = "simple",
        rules: Rules | None = None,
        episode: Episode = "hand",
        reward: Reward = "points",
        illegal_action: IllegalAction = "raise",
        estimator: str | Estimator = "uniform",
        render_mode: str | None = None,
        candidates: bool = False,
        flat: bool = False,
        autoreset_mode: AutoresetMode | str = "SameStep",
        max_episode_steps: int | None = None,
    ) -> None:
        warn_if_threads_compete()
        check_render_mode(render_mode, self.metadata["render_modes"])
        self._with_candidates, self._flat = check_contents(candidates, flat)
        self.autoreset_mode = check_autoreset_mode(autoreset_mode)
        self.metadata = self.metadata | {"autoreset_mode": self.autoreset_mode}
        self.seat = LearnerSeat(num_envs, opponent, rules, episode, reward, illegal_action, estimator)
        self.num_envs = num_envs
        self.render_mode = render_mode
        self.single_observation_space = observation_space(self._with_candidates, self._flat)
        self.single_action_space = action_space()
        self.observation_space = batch_space(self.single_observation_space, num_envs)
        self.action_space = batch_space(self.single_action_space, num_envs)
        self._begun = False
        self._over = np.zeros(num_envs, np.bool_)
        """Games that wait for their next episode."""
        self._max_steps = int(np.iinfo(np.int64).max)
        if max_episode_steps is not None:
            self._max_steps = check_integer("max_episode_steps", max_episode_steps, 1, self._max_steps)
        self._steps = np.zeros(num_envs, np.int64)

    def reset(
        self,
        *,
        seed: int | Sequence[int | None] | None = None,
        options: dict[str, Any] | None = None,
    ) -> tuple[Observation, dict[str, Any]]:
        """Begin an episode in every game, or in those of ``options["reset_mask"]`` (bool (num_envs,)).

        ``options`` may also fix the deal of all these games (``"deck"``, ``"dealer"``). Errors are those of
        `GinRummyEnv.reset` and change nothing.
        """
        options = dict(options or {})
        games = self._games_to_reset(options.pop("reset_mask", None))
        decks, dealer = check_deal_options(options, self.seat.games.rules, self.seat.games.whole_game)
        self.seat.reset(games, check_seeds(seed, self.num_envs), decks, dealer)
        if isinstance(seed, int):
            super().reset(seed=seed)
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
        if self.autoreset_mode == AutoresetMode.SAME_STEP:
            return self._step_and_begin(actions)
        if self.autoreset_mode == AutoresetMode.DISABLED and self._over.any():
            raise RuntimeError(
                f"{self._over.sum()} games are over; call reset(options={{'reset_mask': ...}}) for them"
            )
        self.seat.step(actions, np.flatnonzero(~self._over))
        ended = np.flatnonzero(self.seat.done & ~self._over)
        self._begin(np.flatnonzero(self._over))
        terminated = self.seat.done.copy()
        truncated = self._out_of_steps(~self._over) & ~terminated
        self._over = terminated | truncated
        observation, infos = self._observe()
        if len(ended):
            infos |= self._results_of(ended)
        return observation, self.seat.rewards, terminated, truncated, infos

    def _step_and_begin(
        self, actions: np.ndarray
    ) -> tuple[Observation, np.ndarray, np.ndarray, np.ndarray, dict[str, Any]]:
        self.seat.step(actions)
        terminated = self.seat.done.copy()
        truncated = self._out_of_steps(np.ones(self.num_envs, np.bool_)) & ~terminated
        over = terminated | truncated
        ended = np.flatnonzero(over)
        if not len(ended):
            observation, infos = self._observe()
        else:
            final = self._final_infos(ended, over)
            self._begin(ended)
            observation, infos = self._observe()
            infos |= final
        return observation, self.seat.rewards, terminated, truncated, infos

    def _begin(self, games: np.ndarray) -> None:
        """Begin the next episode of these games."""
        self.seat.begin(games)
        self._steps[games] = 0

    def _out_of_steps(self, stepped: np.ndarray) -> np.ndarray:
        """Return which of the games that have just stepped reached the limit: bool (num_envs,)."""
        self._steps += stepped
        return stepped & (self._steps >= self._max_steps)

    def action_masks(self) -> np.ndarray:
        """Return the action masks: int8 (num_envs, 107)."""
        return self.seat.masks()

    def get_state(self) -> EnvironmentState:
        """Return the state of all games, hidden cards included; see `gin_env.envs.snapshots`."""
        values = copy_attributes(self, _CHANGING) | {"seat": self.seat.get_state()}
        return EnvironmentState(self._setting(), values)

    def set_state(self, state: EnvironmentState) -> None:
        """Continue from a state. Raises TypeError or ValueError for one that does not fit."""
        values = check_state(state, self._setting())
        self.seat.set_state(values["seat"])
        restore_attributes(self, {name: values[name] for name in _CHANGING})

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
        return (value,) * self.num_envs

    def set_opponents(self, opponent: Opponents, weights: Sequence[float] | None = None) -> None:
        """Change the opponents, starting with the next hand of each game; see `LearnerSeat.set_opponents`."""
        self.seat.set_opponents(opponent, weights)

    def render(self) -> tuple[Any, ...] | None:
        """Return one image or text for each game, according to ``render_mode``."""
        if self.render_mode is None:
            gymnasium.logger.warn("render() was called without a render_mode; pass it to make_vec()")
            return None
        screen = Screen(self.render_mode)
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
        everyone = np.ones(self.num_envs, np.bool_)
        infos = {"action_mask": masks, "_action_mask": everyone}
        if self._flat:
            return self.seat.observations(), infos
        observation = {"observation": self.seat.observations(), "action_mask": masks}
        if self._with_candidates:
            observation |= self.seat.candidates()
        return observation, infos

    def _final_infos(self, ended: np.ndarray, over: np.ndarray) -> dict[str, Any]:
        """Return the final observations and infos of the games that ended, in Gymnasium's format."""
        observations, masks = self.seat.observations(ended), self.seat.masks()[ended]
        final_obs = np.full(self.num_envs, None, object)
        for row, game in enumerate(ended):
            final_obs[game] = (
                observations[row]
                if self._flat
                else {"observation": observations[row], "action_mask": masks[row].copy()}
            )
        if self._with_candidates:
            entries = self.seat.candidates(ended)
            for row, game in enumerate(ended):
                final_obs[game] |= {name: entry[row] for name, entry in entries.items()}
        final_info = self._results_of(ended[self.seat.done[ended]])
        return {"final_obs": final_obs, "_final_obs": over, "final_info": final_info, "_final_info": over}

    def _results_of(self, ended: np.ndarray) -> dict[str, Any]:
        """Return `hand_results` of these games in Gymnasium's format, with a bool mask for each entry."""
        present = np.zeros(self.num_envs, np.bool_)
        present[ended] = True
        infos: dict[str, Any] = {}
        for name, values in hand_results(self.seat.games.results[ended]).items():
            infos[name] = np.zeros(self.num_envs, values.dtype)
            infos[name][ended] = values
            infos[f"_{name}"] = present
        return infos


def check_autoreset_mode(mode: AutoresetMode | str) -> AutoresetMode:
    """Return the mode. Raises ValueError for an unknown mode."""
    try:
        return AutoresetMode(mode)
    except ValueError:
        choices = ", ".join(repr(each.value) for each in AutoresetMode)
        raise ValueError(f"unknown autoreset_mode {mode!r}; choose from {choices}") from None


def hand_results(results: np.ndarray) -> dict[str, np.ndarray]:
    """Return the outcomes of hands (`HAND_RESULT` records (k,)) for the learner, as info entries (k,).

    ``outcome`` is one of `OUTCOME_NAMES`, or ``"illegal"`` if an illegal action ended the episode.
    """
    outcomes = np.array([*OUTCOME_NAMES, "illegal"])
    return {
        "outcome": outcomes[np.where(results["ended"], results["outcome"], len(OUTCOME_NAMES))],
        "won": results["ended"] & (results["winner"] == LEARNER),
        "points": np.where(results["ended"], results["points"], 0),
        "turns": np.where(results["ended"], results["turns"], 0),
    }
