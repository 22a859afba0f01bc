"""The Gymnasium environment: one seat against fixed opponents. `gin_env.envs.vector_env` has many games.

It is a thin layer over `gin_env.envs.learner_seat.LearnerSeat`.
"""

from __future__ import annotations

from typing import Any, Unpack

import gymnasium
import numpy as np
from gymnasium import spaces

from gin_env.envs.encoder import Observation
from gin_env.envs.learner_seat import LEARNER, NO_RESULT, LearnerSeat, Opponents, Options, Seated
from gin_env.game.actions import NUM_ACTIONS, check_action
from gin_env.game.deals import check_deal_options
from gin_env.game.rules import RulesLike
from gin_env.game.streams import check_seed
from gin_env.ui.screen import Screen, check_render_mode


class GinRummyEnv(Seated, gymnasium.Env):
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
    arrays. An array is never overwritten while you hold a reference to it; once you drop it, its memory is
    reused.

    Rewards
    -------
    - ``reward="points"``: the points of a hand / 100 at its end, negative if the opponent scores them
    - ``reward="win"``: +1 or -1 at the end of the episode, 0 for a void hand
    - ``reward="score"``, for games: the final score minus the opponent's / 100, boxes and bonuses included

    Starting State
    --------------
    Ten random cards for each player, one card turned up, and 31 in the stock. The first dealer is random.
    `reset` returns when the agent is to move. ``options={"deck": ..., "dealer": ...}`` fixes the deal.

    Episode End
    -----------
    With ``episode="hand"``, an episode terminates when a player knocks, or when two cards are left in the
    stock (a void hand). With ``episode="game"``, it terminates when a player has 100 points. The environment
    itself never truncates. Every info names the ``opponent``; the last one describes the end of the hand
    (``outcome``, ``won``, ``points``, ``turns``), and before it these are ``"undecided"``, False, 0 and 0.

    Arguments
    ---------
    opponent : a bot's name, the path of a trained policy, a bot object, or a list of these, from which one is
        chosen at random for each hand.
    rules : default `Rules()`.
    episode : ``"hand"`` (default) or ``"game"`` (to the target score).
    reward : ``"points"`` (default), ``"win"`` or, for games, ``"score"``.
    illegal_action : ``"raise"`` (default): IllegalActionError, nothing changes; ``"lose"``: the episode ends
        with reward -1.
    estimator : the estimator that fills the observation's ``estimate`` plane: a name from
        `gin_env.estimators`, with or without parameters, or an object with the `Estimator` interface.
    candidates : whether observations contain features of each possible action.
    flat : whether observations are the vector alone, for libraries without support for dicts;
        `action_masks` returns the mask.
    memory : whether observations contain what the opponent has shown in the earlier hands of the game, for
        ``episode="game"``. Of several opponents, one is then drawn for each game, not for each hand.
    render_mode : None, ``"ansi"``, ``"human"`` or ``"rgb_array"``. Pictures show both hands.

    Version History
    ---------------
    - v0: first version
    """

    metadata = {"render_modes": ["human", "ansi", "rgb_array"], "render_fps": 2}  # noqa: RUF012

    _CHANGING = ("seat",)

    def __init__(
        self,
        opponent: Opponents = "simple",
        rules: RulesLike = None,
        *,
        render_mode: str | None = None,
        **options: Unpack[Options],
    ) -> None:
        check_render_mode(render_mode, self.metadata["render_modes"])
        self.seat = LearnerSeat(1, opponent, rules, **options)
        self.render_mode = render_mode
        self.observation_space = self.seat.space
        self.action_space = spaces.Discrete(NUM_ACTIONS)
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
        return observation, float(self.seat.rewards[0]), bool(self.seat.done[0]), False, info

    def action_masks(self) -> np.ndarray:
        """Return the action mask, int8 (107,), under the name that sb3-contrib calls."""
        return self.seat.masks()[0]

    def render(self) -> Any:
        """Return text or an image (uint8 (height, width, 3)), or None after drawing in a window."""
        return self._screen.render(self.seat.games.state[0])

    def close(self) -> None:
        """Close the window, if one was opened."""
        self._screen.close()

    def _observe(self) -> tuple[Observation, dict[str, Any]]:
        mask = self.seat.masks()[0]
        info = {"action_mask": mask, "opponent": self.seat.opponent_name(0), **NO_RESULT}
        if self.seat.done[0]:
            results = self.seat.hand_results(self.seat.games.everyone)
            info |= {name: values[0].item() for name, values in results.items()}
        return self.seat.encoder.observe_one(LEARNER, mask), info
