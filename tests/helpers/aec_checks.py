"""Checks of the PettingZoo environments against the reference rules, see environment_checks.py."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from environment_checks import (
    PLAYERS,
    Face,
    as_the_package_lays,
    compare_observation,
    compare_table,
    compare_text,
    compare_view,
    deal_options,
    dealer_of_seed,
    deck_of_seed,
    mask_of_actions,
    memory_of,
    same,
    same_array,
)
from gymnasium.error import ResetNeeded
from hands_in_words import action
from reference_rules import NUM_ACTIONS, Game

from gin_env import gin_rummy_v0
from gin_env.observations.views import PlayerView


class Aec(Face):
    """`gin_rummy_v0.raw_env`."""

    kind = "raw_env"
    refusals = (TypeError, ValueError, ResetNeeded)
    tried_reset = False
    lost = False
    """An illegal action ended the episode (only in `Wrapped`)."""

    def __init__(self, **options: Any) -> None:
        super().__init__(**options)
        self.env = getattr(gin_rummy_v0, self.kind)(render_mode="ansi", **options)
        self.raw = self.env.unwrapped
        self.game: Game | None = None
        self.seed: int | None = None
        self.episode = 0
        self.agents: list[str] = []

    def legal(self) -> list[list[int]]:
        return [self.game.legal() if self.game is not None and not self.lost else []]

    @property
    def over(self) -> bool:
        return self.game is None or self.game.over or self.lost

    def games(self) -> list[Game]:
        return [] if self.game is None else [self.game]

    def remembered(self) -> bytes:
        return memory_of(self.raw, self.raw.games, scratch=("games", "_action", "_estimates", "_screen"))

    def reset(self, arguments: dict[str, Any]) -> None:
        """``{"seed": 3, "deck": "AS TD ...", "dealer": 0}``, all or none of them; the first with a seed."""
        options, decks, dealer = deal_options(arguments)
        self.tried_reset = True
        self.env.reset(seed=arguments.get("seed"), options=options or None)
        if "seed" in arguments:
            self.seed, self.episode = arguments["seed"], 0
        else:
            self.episode += 1
        rules, seed, episode = self.rules, self.seed, self.episode
        assert seed is not None, "the first reset needs a seed, so that a failure can be repeated"

        def deck_of(hand: int) -> list[int]:
            return decks[hand] if hand < len(decks) else deck_of_seed(rules, seed, episode, hand)

        dealer = dealer_of_seed(seed, episode) if dealer is None else dealer
        self.game = Game(rules, deck_of, dealer, self.whole_game, self.pays_wins, as_the_package_lays)
        self.lost = False
        self.agents = list(PLAYERS)
        self.selected = PLAYERS[self.game.to_move]
        self.rewards = dict.fromkeys(PLAYERS, 0.0)
        self.cumulative = dict.fromkeys(PLAYERS, 0.0)
        self.compare()

    def play(self, text: str | int) -> None:
        """An integer: a legal action, an illegal one, or an unknown one."""
        number = action(text) if isinstance(text, str) else text
        if self.over or self.game is None or number not in self.game.legal():
            self.play_illegal(number)
            return
        player = self.selected
        self.env.step(number)
        self.game.play(number)
        self.outcomes.update([self.game.ended.outcome] if self.game.ended else [])
        self.pay(player, self.game.paid, -self.game.paid)
        self.selected = PLAYERS[1 - self.game.to_move if self.game.over else self.game.to_move]
        self.compare()

    def play_illegal(self, number: int) -> None:
        self.refused(self.env.step, number)

    def pay(self, mover: str, first: float, second: float) -> None:
        """Add the rewards of a move; the player who moved has already seen the earlier ones."""
        self.rewards = dict(zip(PLAYERS, (first, second), strict=True))
        self.cumulative[mover] = 0.0
        self.cumulative = {agent: self.cumulative[agent] + self.rewards[agent] for agent in self.agents}

    def step(self, value: Any) -> None:
        """Step with anything but an integer; None is valid for an agent whose episode is over."""
        if value is not None or not self.over or not self.agents:
            self.refused(self.env.step, value)
            return
        self.env.step(None)
        self.agents = [agent for agent in self.agents if agent != self.selected]
        self.rewards = dict.fromkeys(self.agents, 0.0)
        self.cumulative = {agent: self.cumulative[agent] for agent in self.agents}
        if self.agents:
            self.selected = self.agents[0]
        self.compare()

    def look(self) -> None:
        """Make every query that is valid at any time, and write into the returned arrays."""
        if self.game is None:
            self.refused(self.env.observe, "player_0")
            self.refused(self.env.render)
            return
        before = self.remembered()
        self.refused(self.raw.observe, "player_2")
        if self.agents:
            observation, reward, termination, truncation, info = self.env.last()
            same("reward of last()", reward, self.cumulative[self.selected])
            same("end in last()", (termination, truncation), (self.over, self.lost))
            same("infos of last()", list(info), ["action_mask"])
            self.compare_observed(observation, self.selected)
        for player, agent in enumerate(PLAYERS):
            self.compare_observed(self.env.observe(agent), agent)
            if not self.lost:
                compare_view(PlayerView.from_env(self.env, agent), self.game, player)
        compare_text(self.env.render(), self.game)
        same("what looking changed", self.remembered() == before, True)

    def compare_observed(self, observed: dict[str, np.ndarray], agent: str) -> None:
        assert self.game is not None
        same("parts of what is observed", list(observed), ["observation", "action_mask"])
        compare_observation(observed["observation"], self.game, PLAYERS.index(agent))
        same_array(f"mask of {agent}", observed["action_mask"], self.mask_of(agent), np.int8)
        observed["observation"][:] = 0.5
        observed["action_mask"][:] = 1

    def mask_of(self, agent: str) -> np.ndarray:
        return mask_of_actions(self.legal()[0] if agent == self.selected else [])

    def compare(self) -> None:
        """Compare everything that PettingZoo users read after each call."""
        assert self.game is not None
        env = self.env
        same("agents", env.agents, self.agents)
        same("rewards", env.rewards, self.rewards)
        same("types of the rewards", {type(reward) for reward in self.rewards.values()} - {float}, set())
        cumulative = {agent: round(value, 9) for agent, value in self.raw._cumulative_rewards.items()}
        same("cumulative rewards", cumulative, {a: round(v, 9) for a, v in self.cumulative.items()})
        same("terminations", env.terminations, dict.fromkeys(self.agents, self.over))
        same("truncations", env.truncations, dict.fromkeys(self.agents, self.lost))
        same("agents with infos", list(env.infos), self.agents)
        for agent in self.agents:
            same_array(
                f"mask in the info of {agent}", env.infos[agent]["action_mask"], self.mask_of(agent), np.int8
            )
        if self.agents:
            same("agent to move", env.agent_selection, self.selected)
        compare_table(self.raw.games.state[0], self.game)


class Wrapped(Aec):
    """`gin_rummy_v0.env`: PettingZoo's wrappers, where an illegal action ends the episode."""

    kind = "env"
    refusals = (TypeError, ValueError, AssertionError, ResetNeeded)

    def play_illegal(self, number: int) -> None:
        if self.over or self.game is None or not 0 <= number < NUM_ACTIONS:
            self.refused(self.env.step, number)
            return
        player = self.selected
        self.env.step(number)
        self.lost = True
        self.pay(player, -1.0 * (player == PLAYERS[0]), -1.0 * (player == PLAYERS[1]))
        self.selected = PLAYERS[0]
        self.compare()

    def refused(self, function: Callable[..., Any], *args: Any, **kwargs: Any) -> None:
        self.tried_reset |= function == self.env.reset
        if self.agents or not self.tried_reset or function != self.env.step:
            super().refused(function, *args, **kwargs)
            return
        # With no agents, PettingZoo's wrapper warns and does nothing; it does the same after a
        # refused first reset.
        before = self.remembered()
        function(*args, **kwargs)
        same("what a step after the end changed", self.remembered() == before, True)
