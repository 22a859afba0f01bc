"""Gin Rummy as a PettingZoo AEC environment: ``gin_rummy_v0.env(**kwargs)`` and ``.raw_env(**kwargs)``.

>>> env = gin_rummy_v0.env()
>>> env.reset(seed=1)
>>> for agent in env.agent_iter():
...     observation, reward, termination, truncation, info = env.last()
...     env.step(None if termination else env.action_space(agent).sample(observation["action_mask"]))

``raw_env`` is several times faster than ``env`` and raises `IllegalActionError` for an illegal action,
leaving the game as it was. ``env`` adds PettingZoo's usual wrappers: there an illegal action ends the
episode and pays -1 to the offender and 0 to the other player, the one case where rewards are not zero-sum.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any, Unpack

import numpy as np
from gymnasium import spaces
from gymnasium.error import ResetNeeded
from pettingzoo import AECEnv
from pettingzoo.utils import wrappers

from gin_env.batch import Episode, Games, Reward
from gin_env.envs.encoder import Encoder, Observation, Options
from gin_env.envs.snapshots import EnvironmentState, Restorable
from gin_env.estimators.base import Estimator
from gin_env.game.actions import NUM_ACTIONS, check_action, unwrap
from gin_env.game.cards import NUM_CARDS, cards_of
from gin_env.game.deals import check_deal_options
from gin_env.game.rules import RulesLike
from gin_env.game.streams import check_seed, fresh_seed
from gin_env.observations.views import PlayerView
from gin_env.ui.screen import RENDER_MODES, Screen, check_render_mode

PLAYERS = ("player_0", "player_1")
REGISTERED_ID = "gin_env/gin_rummy-v0"


if TYPE_CHECKING:

    class AECGame(AECEnv[str, Observation, int]):
        """What a type checker can rely on: PettingZoo has no types for those who install it."""

        possible_agents: list[str]
        agents: list[str]
        agent_selection: str
        rewards: dict[str, float]
        terminations: dict[str, bool]
        truncations: dict[str, bool]
        infos: dict[str, dict[str, Any]]

        def reset(self, seed: int | None = None, options: Any = None) -> None: ...
        def step(self, action: int | None) -> None: ...
        def observe(self, agent: str) -> Any: ...
        def last(self, observe: bool = True) -> tuple[Any, float, bool, bool, dict[str, Any]]: ...
        def agent_iter(self, max_iter: int = 2**63) -> Iterable[str]: ...
        def state(self) -> np.ndarray: ...
        def action_space(self, agent: str) -> spaces.Discrete: ...
        def get_state(self) -> EnvironmentState: ...
        def set_state(self, state: EnvironmentState) -> None: ...
else:
    AECGame = AECEnv


def env(render_mode: str | None = None, rules: RulesLike = None, **options: Unpack[Options]) -> AECGame:
    """Return `raw_env` in PettingZoo's usual wrappers; takes the same keywords."""
    return usual_wrappers(raw_env(render_mode, rules, **options))


def usual_wrappers(raw: AECEnv) -> AECGame:
    """Return an environment in PettingZoo's usual wrappers, where an illegal action ends the episode."""
    wrapped: Any = _TerminateIllegalWrapper(raw, illegal_reward=-1)
    wrapped = wrappers.AssertOutOfBoundsWrapper(wrapped)
    return _OrderEnforcingWrapper(wrapped)


class _OrderEnforcingWrapper(wrappers.OrderEnforcingWrapper):
    """Accepts tensors, and plays on from a state without a reset."""

    def step(self, action: Any) -> None:
        super().step(unwrap(action))

    def set_state(self, state: EnvironmentState) -> None:
        self.unwrapped.set_state(state)
        self._has_reset = True

    def __str__(self) -> str:
        return str(self.env)


class _TerminateIllegalWrapper(wrappers.TerminateIllegalWrapper):
    """Checks actions against the environment's own mask, which nobody can change."""

    def step(self, action: Any) -> None:
        self._prev_obs = {"action_mask": self.unwrapped._mask}
        super().step(action)


def register() -> None:
    """Make ``pettingzoo.make("aec", "gin_env/gin_rummy-v0")`` work in PettingZoo 1.27 and newer."""
    try:
        from pettingzoo import aec_registry
        from pettingzoo import register as register_with_pettingzoo
    except ImportError:
        return
    if REGISTERED_ID not in aec_registry:
        register_with_pettingzoo("aec", REGISTERED_ID, entry_point="gin_env.envs.gin_rummy_v0:env")


class TwoPlayers(Restorable, AECGame):
    """The common part of the two-player environments."""

    _begun = False
    _last_hand: np.void | None = None
    """`HAND_RESULT` of the hand before this one, for `render`."""
    _CHANGING: tuple[str, ...] = (
        "agents", "agent_selection", "rewards", "terminations", "truncations", "infos", "_cumulative_rewards",
        "_mask", "_begun", "games",
    )  # fmt: skip
    """Names of the attributes that change in play."""

    def __init__(
        self, render_mode: str | None, games: Games, observation_space: spaces.Space[Any], num_actions: int
    ) -> None:
        check_render_mode(render_mode)
        self.render_mode = render_mode
        self.games = games
        self.possible_agents = list(PLAYERS)
        self.agents: list[str] = []
        self.observation_spaces = dict.fromkeys(PLAYERS, observation_space)
        self.action_spaces = {agent: spaces.Discrete(num_actions) for agent in PLAYERS}
        self._index = games.everyone  # the one game of the batch
        self._screen = Screen(render_mode, self.metadata["render_fps"])

    def observation_space(self, agent: str) -> spaces.Space[Any]:
        """Return the same space object at each call."""
        return self.observation_spaces[agent]

    def action_space(self, agent: str) -> spaces.Discrete:
        """Return the same space object at each call."""
        return self.action_spaces[agent]

    def step(self, action: int | None) -> None:
        """Play an action of the agent to move; None once that agent is terminated.

        Raises IllegalActionError (a ValueError) with the reason for an illegal action, and TypeError for
        anything but an integer; neither changes the game. Raises ValueError for an action after the end, and
        `gymnasium.error.ResetNeeded` before the first reset.
        """
        if not self.agents:
            self._check_reset()
            raise ValueError("the episode is over; call reset()")
        agent = self.agent_selection
        if self.terminations[agent] or self.truncations[agent]:
            self._was_dead_step(action)
            return
        self._play(action)
        if self.render_mode == "human":
            self.render()

    def _play(self, action: Any) -> None:
        """Play an action, if it is legal, and select the next agent."""
        raise NotImplementedError

    def _begin_episode(self) -> None:
        self._begun = True
        self.agents = list(PLAYERS)
        self.rewards = {"player_0": 0.0, "player_1": 0.0}
        self._cumulative_rewards = {"player_0": 0.0, "player_1": 0.0}
        self.terminations = {"player_0": False, "player_1": False}
        self.truncations = {"player_0": False, "player_1": False}

    def render(self) -> str | np.ndarray | None:
        """Return text or an image, or None after drawing the window; see ``render_mode``."""
        if self.render_mode is not None:
            self._check_reset()
        return self._screen.render(self.games.state[0], self._last_hand)

    def close(self) -> None:
        """Close the window, if there is one."""
        self._screen.close()

    def get_state(self) -> EnvironmentState:
        """Return the state of the game, hidden cards included; see `gin_env.envs.snapshots`.

        Raises `gymnasium.error.ResetNeeded` before the first reset.
        """
        self._check_reset()
        return super().get_state()

    def _setting(self) -> tuple[Any, ...]:
        return (self.metadata["name"],)

    def _check_reset(self) -> None:
        if not self._begun:
            raise ResetNeeded("call reset() first")

    def _player_index(self, agent: str) -> int:
        if not self._begun or agent not in PLAYERS:
            self._check_reset()
            raise ValueError(f"unknown agent {agent!r}; the agents are {', '.join(PLAYERS)}")
        return 0 if agent == "player_0" else 1


class raw_env(TwoPlayers):
    """Gin Rummy for two agents, ``player_0`` and ``player_1``.

    Description
    -----------
    Two players draw and discard in turn, form sets and runs, and may knock once at most 10 points remain
    outside of them. The rules are those of the EAAI 2021 Gin Rummy challenge.

    Action Space
    ------------
    ``Discrete(107)`` for each agent: discard a card (0-51), knock with a card (52-103), draw from the stock
    (104), draw the upcard (105), pass (106). An illegal action raises `IllegalActionError` and changes
    nothing.

    Observation Space
    -----------------
    ``Dict`` of ``"observation"``, float32 (OBSERVATION_SIZE,) within [-1, 1], and ``"action_mask"``, int8
    (107,), which is all zeros for the agent that is not to move; ``infos[agent]`` holds the same mask. With
    ``flat=True`` it is the vector alone. With
    ``candidates=True`` there are also the three `ENTRIES` of `gin_env.candidates`. No observation depends on
    a card that its agent cannot see.

    Rewards
    -------
    Zero-sum.

    - ``reward="points"``: the points of each hand / 100 to its winner, and the negative to the loser, at the
      end of the hand, inside a game too
    - ``reward="win"``: 1 and -1 at the end of the episode, nothing if nobody won
    - ``reward="score"``, for games: the final score minus the opponent's / 100, boxes and bonuses included

    Starting State
    --------------
    Ten random cards for each player, one card turned up, and 31 in the stock. The first dealer is random.
    The non-dealer moves first.

    Episode End
    -----------
    With ``episode="hand"``, when a player knocks or two cards are left in the stock. With
    ``episode="game"``, when a player has 100 points. Both agents terminate together, and there is no
    truncation.

    Arguments
    ---------
    render_mode : None, ``"human"`` (a window), ``"ansi"`` (text) or ``"rgb_array"`` (uint8 (640, 960, 3)).
        All show both hands, so they are for spectators.
    rules : `Rules`, their text such as ``"oklahoma"``, or a mapping; default `Rules()`.
    episode : ``"hand"`` (default) or ``"game"``.
    reward : ``"points"`` (default), ``"win"`` or, for games, ``"score"``.
    estimator, candidates, flat, memory : see `gin_env.envs.encoder.Encoder`. With ``flat=True`` the mask is
        only in ``infos[agent]``.

    Version History
    ---------------
    - v0: first version
    """

    metadata: dict[str, Any] = {  # noqa: RUF012 -- PettingZoo reads it from the class
        "name": "gin_rummy_v0",
        "render_modes": list(RENDER_MODES),
        "is_parallelizable": False,
        "render_fps": 2,
    }
    _CHANGING = (*TwoPlayers._CHANGING, "_seed", "_episode_number", "_last_hand", "_encoder")

    def __init__(
        self,
        render_mode: str | None = None,
        rules: RulesLike = None,
        episode: Episode = "hand",
        reward: Reward = "points",
        estimator: str | Estimator = "uniform",
        candidates: bool = False,
        flat: bool = False,
        memory: bool = False,
    ) -> None:
        games = Games(1, rules, episode, reward)
        self._encoder = Encoder(games, estimator, candidates, flat, memory)
        super().__init__(render_mode, games, self._encoder.space(), NUM_ACTIONS)
        self.rules, self.estimator = games.rules, self._encoder.estimator
        self.state_space = spaces.Box(0, 1, (5 * NUM_CARDS + 4,), np.float32)
        self._seed: int | None = None
        self._episode_number = 0
        self._mask = np.zeros(NUM_ACTIONS, np.int8)  # of the agent to move
        self._action = np.zeros(1, np.int64)

    def reset(self, seed: int | None = None, options: Mapping[str, Any] | None = None) -> None:
        """Begin an episode.

        Parameters
        ----------
        seed : begins episode 0 of this seed. Without a seed, the next episode of the same seed begins (the
            first time, of a random seed). Anyone who knows the seed can reconstruct every deck.
        options : ``"deck"`` fixes the deal of the first hand: card ids in dealing order, that is two hands
            alternately, player_0 first, then the upcard, then the stock in drawing order (20, 1 and 31 cards
            with the full deck). With ``episode="game"`` it may be a list of such decks, one for each hand
            including void hands; later decks come from the seed. ``"dealer"`` (0 or 1) fixes the first
            dealer. Other options are ignored.

        Raises TypeError or ValueError for an invalid seed, deck or dealer, without changing anything.
        """
        games = self.games
        decks, dealer = check_deal_options(options, self.rules, games.whole_game)
        if seed is not None:
            self._seed, self._episode_number = check_seed(seed), 0
        elif self._seed is None:
            self._seed = fresh_seed()
        else:
            self._episode_number += 1
        self._encoder.forget(self._index)
        games.begin(
            self._index, np.array([self._seed], np.uint64), np.array([self._episode_number], np.uint64)
        )
        if decks or dealer is not None:
            games.fix_deals(0, decks, dealer)
        self._last_hand = None
        self._begin_episode()
        self._pass_turn(games.to_move()[0])
        if self.render_mode == "human":
            self.render()

    def _play(self, action: Any) -> None:
        games = self.games
        self._action[0] = check_action(action)
        games.play(self._index, self._action, checked=False)
        self._cumulative_rewards[self.agent_selection] = 0.0
        self.rewards = {"player_0": 0.0, "player_1": 0.0}
        if games.results["ended"][0]:
            self._end_hand()
        if games.done[0]:
            self.terminations = {"player_0": True, "player_1": True}
            self._pass_turn(1 - games.to_move()[0])  # the turn passes at the end too, as in classic games
        else:
            self._pass_turn(games.to_move()[0])

    def observe(self, agent: str) -> Observation:
        """Return the observation of `agent`, in new arrays; only the agent to move has candidates."""
        player = self._player_index(agent)
        moving = agent == self.agent_selection
        mask = self._mask.copy() if moving else np.zeros(NUM_ACTIONS, np.int8)
        return self._encoder.observe_one(player, mask)

    def player_view(self, agent: str) -> PlayerView:
        """Return the view of `agent`, from which bots decide; `PlayerView.from_env` calls this."""
        return self.games.views(self._index, self._player_index(agent))

    def state(self) -> np.ndarray:
        """Return everything, hidden cards included, for the critic of a training, never for a player.

        The array, float32 (264,) within [0, 1], holds five planes of the 52 cards: the hands of player_0 and
        player_1, the discard pile, its top card, and the stock, where the next card to be drawn is 1 and the
        last one nearly 0. Then 1 for the player to move, and both scores as shares of the target.
        """
        self._check_reset()
        state = self.games.state[0]
        public, stock_left = state["public"], int(state["public"]["stock_left"])
        planes = np.zeros((5, NUM_CARDS), np.float32)
        for plane, mask in zip(planes, (*state["private"]["hand"], public["pile"]), strict=False):
            plane[cards_of(int(mask))] = 1
        planes[3, public["upcard"] : public["upcard"] + 1] = 1  # none while the taken card is in the hand
        stock = state["hidden"]["deck"][self.rules.deck_size - stock_left : self.rules.deck_size]
        planes[4, stock] = np.arange(stock_left, 0, -1) / max(stock_left, 1)
        to_move = np.eye(2, dtype=np.float32)[public["to_move"]]
        scores = np.minimum(public["scores"] / self.rules.target_score, 1).astype(np.float32)
        return np.concatenate([planes.ravel(), to_move, scores])

    def _end_hand(self) -> None:
        """Pay the rewards of the hand."""
        games = self.games
        # The batch keeps float32; rewards are whole hundredths.
        reward = round(float(games.rewards[0]), 2)
        games.rewards[0] = 0
        self.rewards = {"player_0": reward, "player_1": -reward if reward else 0.0}
        self._accumulate_rewards()
        self._last_hand = games.results[0].copy()

    def _pass_turn(self, player: int) -> None:
        """Select a player and write both masks; those in the infos are new arrays, for callers."""
        self._mask = mask = self.games.masks(self._index)[0]
        no_mask = np.zeros(NUM_ACTIONS, np.int8)
        self.agent_selection = PLAYERS[player]
        first, second = (no_mask, mask.copy()) if player else (mask.copy(), no_mask)
        self.infos = {"player_0": {"action_mask": first}, "player_1": {"action_mask": second}}

    def _deads_step_first(self) -> str:
        """Clear the masks when TerminateIllegalWrapper, which calls this, has ended the episode."""
        self._mask = np.zeros(NUM_ACTIONS, np.int8)
        self.infos = {agent: {"action_mask": self._mask.copy()} for agent in self.agents}
        return super()._deads_step_first()
