"""Checks of the environments with a learner's seat against the reference rules: Gymnasium, vector and SB3.

See environment_checks.py. The opponents are `Chooser` bots, whose decisions the reference can reproduce.
"""

from __future__ import annotations

import copy
from typing import Any
from unittest import mock

import numpy as np
from environment_checks import (
    Face,
    compare_observation,
    compare_table,
    compare_text,
    deal_options,
    memory_of,
    same,
    same_array,
)
from hands_in_words import action
from learner_reference import MAX_SKIPPED, Chooser, DealRefusedError, Pool, Table
from reference_rules import NUM_ACTIONS, Game

from gin_env.envs import learner_seat
from gin_env.envs.gymnasium_env import GinRummyEnv
from gin_env.envs.vector_env import GinRummyVectorEnv
from gin_env.wrappers.sb3 import GinRummyVecEnv


class LearnerFace(Face):
    """The checks shared by the three environments."""

    refusals = (TypeError, ValueError, RuntimeError)

    def __init__(self, **options: Any) -> None:
        super().__init__(**options)
        self.count = options.get("num_envs", 1)
        self.loses = options.get("illegal_action") == "lose"
        pool = options.get("opponent", ["keen"])
        self.pool = Pool(pool)
        self.env = self.make(options | {"opponent": [Chooser(name) for name in pool]})
        self.tables = [
            Table(self.rules, self.whole_game, self.pays_wins, self.outcomes) for _ in range(self.count)
        ]

    def make(self, options: dict[str, Any]) -> Any:
        raise NotImplementedError

    def call(self, *call: Any) -> None:
        with mock.patch.object(learner_seat, "MAX_SKIPPED", MAX_SKIPPED):
            super().call(*call)

    @property
    def begun(self) -> bool:
        return self.tables[0].game is not None

    @property
    def over(self) -> bool:
        return all(table.over for table in self.tables)

    def legal(self) -> list[list[int]]:
        return [table.legal() for table in self.tables]

    def games(self) -> list[Game]:
        return [table.game for table in self.tables if table.game is not None]

    def remembered(self) -> bytes:
        seat = self.env.seat
        scratch = ("games", "_estimates", "_screen", "seat", "_actions")
        return memory_of(self.env, seat, seat.games, scratch=scratch)

    def begin(
        self,
        tables: list[Table],
        seeds: list[int | None],
        decks: list[list[int]],
        dealer: int | None,
    ) -> None:
        """Begin the episodes; raises DealRefusedError, changing nothing, if a table cannot begin."""
        begun = [copy.copy(table) for table in tables]
        for table, seed in zip(begun, seeds, strict=True):
            table.game = None
            if seed is not None:
                table.seed, table.episode = seed, 0
            table.begin(self.pool, decks, dealer)
        for table, new in zip(tables, begun, strict=True):
            table.__dict__.update(new.__dict__)

    def set_opponents(self, names: list[str], weights: list[float] | None) -> None:
        """Change the opponents from the next hand of each game."""
        self.env.set_opponents([Chooser(name) for name in names], weights)
        self.pool = Pool(names, weights)

    def bad_opponents(self, names: list[str], weights: Any) -> None:
        set_opponents = getattr(self.env, "set_opponents", None) or self.env.seat.set_opponents
        self.refused(set_opponents, [Chooser(name) for name in names], weights)

    def numbers(self, texts: tuple[str | int, ...]) -> list[int]:
        return [action(text) if isinstance(text, str) else text for text in texts]

    def step(self, value: Any) -> None:
        """Step with neither an action nor a batch of actions."""
        self.refused(self.env.step, value)

    def look(self) -> None:
        """Request masks and pictures, which is valid at any time, and write into the masks."""
        before = self.remembered()
        masks = np.atleast_2d(self.env.action_masks())
        if self.begun:
            same_array("masks", masks, [table.mask() for table in self.tables], np.int8)
            self.compare_pictures()
        masks[:] = 1
        same("what looking changed", self.remembered() == before, True)

    def compare_pictures(self) -> None:
        for text, table in zip(self.texts(), self.tables, strict=True):
            assert table.game is not None
            compare_text(text, table.game)

    def texts(self) -> tuple[str, ...]:
        return self.env.render()

    def compare_tables(self) -> None:
        for record, table in zip(self.env.seat.games.state, self.tables, strict=True):
            assert table.game is not None
            compare_table(record, table.game)

    def compare_batch(self, vectors: np.ndarray, masks: np.ndarray) -> None:
        same_array("masks", masks, [table.mask() for table in self.tables], np.int8)
        same("number of observations", len(vectors), self.count)
        for vector, table in zip(vectors, self.tables, strict=True):
            assert table.game is not None
            compare_observation(vector, table.game, 0)


class Single(LearnerFace):
    """`GinRummyEnv`."""

    kind = "gymnasium"

    def make(self, options: dict[str, Any]) -> Any:
        return GinRummyEnv(**options, render_mode="ansi")

    def texts(self) -> tuple[str, ...]:
        return (self.env.render(),)

    def set_opponents(self, names: list[str], weights: list[float] | None) -> None:
        self.env.seat.set_opponents([Chooser(name) for name in names], weights)
        self.pool = Pool(names, weights)

    def reset(self, arguments: dict[str, Any]) -> None:
        """``{"seed": 3, "deck": "AS TD ...", "dealer": 0}``, all or none of them; the first with a seed."""
        options, decks, dealer = deal_options(arguments)
        seed = arguments.get("seed")
        try:
            self.begin(self.tables, [seed], decks, dealer)
        except DealRefusedError:
            self.refused(self.env.reset, seed=seed, options=options)
            return
        observation, info = self.env.reset(seed=seed, options=options or None)
        self.compare(observation, info, {})

    def play(self, text: str | int) -> None:
        """An integer: a legal action, an illegal one, or an unknown one."""
        table, [number] = self.tables[0], self.numbers((text,))
        loses = self.loses and 0 <= number < NUM_ACTIONS
        if table.over or not (loses or number in table.legal()):
            self.refused(self.env.step, number)
            return
        observation, reward, over, truncated, info = self.env.step(number)
        same("reward", (type(reward), round(reward, 6)), (float, round(table.step(number, self.pool), 6)))
        same("end", (over, truncated), (table.over, False))
        self.compare(observation, info, table.result() if table.over else {})

    def compare(
        self, observation: dict[str, np.ndarray], info: dict[str, Any], ended: dict[str, Any]
    ) -> None:
        same("parts of the observation", list(observation), ["observation", "action_mask"])
        mask = info.pop("action_mask")
        same_array("mask in the observation", observation["action_mask"], self.tables[0].mask(), np.int8)
        self.compare_batch(observation["observation"][None], mask[None])
        same("info", info, ended)
        self.compare_tables()
        observation["observation"][:] = 0.5
        observation["action_mask"][:] = 1


class Batch(LearnerFace):
    """The checks shared by the vector and SB3 environments: one action per game, and autoreset."""

    def play(self, *texts: str | int) -> None:
        """An integer for each game."""
        numbers = self.numbers(texts)
        legal = all(number in table.legal() for number, table in zip(numbers, self.tables, strict=True))
        if not self.begun or not (legal or self.loses):
            self.refused(self.env.step, np.array(numbers))
            return
        rewards = [table.step(number, self.pool) for number, table in zip(numbers, self.tables, strict=True)]
        ended = {game: copy.copy(table) for game, table in enumerate(self.tables) if table.over}
        finals = {game: (table.vector(), table.result()) for game, table in ended.items()}
        self.begin([self.tables[game] for game in ended], [None] * len(ended), [], None)
        self.compare_step(self.env.step(np.array(numbers)), rewards, finals)
        self.compare_tables()

    def compare_step(
        self, told: Any, rewards: list[float], finals: dict[int, tuple[np.ndarray, dict[str, Any]]]
    ) -> None:
        """Compare what step() returned; `finals` holds final observations and results of finished games."""
        raise NotImplementedError

    def ends(self, finals: dict[int, Any]) -> list[bool]:
        return [game in finals for game in range(self.count)]


class Vector(Batch):
    """`GinRummyVectorEnv`."""

    kind = "vector"

    def make(self, options: dict[str, Any]) -> Any:
        return GinRummyVectorEnv(**options, render_mode="ansi")

    def reset(self, arguments: dict[str, Any]) -> None:
        """``{"seed": 3, "deck": "AS TD ...", "dealer": 0, "mask": [True, False, True]}``.

        The seed can be a list; the first reset needs a seed and no mask.
        """
        options, decks, dealer = deal_options(arguments)
        seed, mask = arguments.get("seed"), arguments.get("mask", [True] * self.count)
        seeds = [seed + game for game in range(self.count)] if isinstance(seed, int) else seed
        if "mask" in arguments:
            options["reset_mask"] = np.array(mask)
        if not any(mask) or not (self.begun or all(mask)):
            self.refused(self.env.reset, seed=seed, options=options)
            return
        chosen = [game for game in range(self.count) if mask[game]]
        try:
            self.begin(
                [self.tables[game] for game in chosen],
                [seeds[game] if seeds is not None else None for game in chosen],
                decks,
                dealer,
            )
        except DealRefusedError:
            self.refused(self.env.reset, seed=seed, options=options)
            return
        self.compare(*self.env.reset(seed=seed, options=options or None))
        self.compare_tables()

    def compare(self, observation: dict[str, np.ndarray], infos: dict[str, Any]) -> None:
        same("parts of the observation", list(observation), ["observation", "action_mask"])
        same("infos", sorted(infos), ["_action_mask", "action_mask"])
        same_array("_action_mask", infos["_action_mask"], [True] * self.count, np.bool_)
        masks = [table.mask() for table in self.tables]
        same_array("masks in the observation", observation["action_mask"], masks, np.int8)
        self.compare_batch(observation["observation"], infos["action_mask"])
        observation["observation"][:] = 0.5
        observation["action_mask"][:] = infos["action_mask"][:] = 1

    def compare_step(
        self, told: Any, rewards: list[float], finals: dict[int, tuple[np.ndarray, dict[str, Any]]]
    ) -> None:
        observation, paid, over, truncated, infos = told
        same_array("rewards", paid, rewards, np.float32)
        same_array("terminations", over, self.ends(finals), np.bool_)
        same_array("truncations", truncated, [False] * self.count, np.bool_)
        names = {"final_obs", "_final_obs", "final_info", "_final_info"} if finals else set()
        same("infos of finished games", set(infos) - {"action_mask", "_action_mask"}, names)
        told_of = {name: infos.pop(name) for name in names}
        self.compare(observation, infos)
        paid[:] = 0.5
        if not finals:
            return
        for name in ("_final_obs", "_final_info"):
            same_array(name, told_of[name], self.ends(finals), np.bool_)
        for game in range(self.count):
            last = told_of["final_obs"][game]
            same("game has a last observation", last is not None, game in finals)
            if last is not None:
                vector, result = finals[game]
                same_array("last observation", last["observation"], vector, np.float32)
                same_array("last mask", last["action_mask"], [0] * NUM_ACTIONS, np.int8)
                found = {name: told_of["final_info"][name][game].item() for name in result}
                same("final_info", found, result)
        for name in self.tables[0].result():
            same_array(
                f"final_info's _{name}", told_of["final_info"][f"_{name}"], self.ends(finals), np.bool_
            )


class Sb3(Batch):
    """`GinRummyVecEnv`, which takes no options at reset."""

    kind = "sb3"

    def make(self, options: dict[str, Any]) -> Any:
        self.next_seed: int | None = None
        self.returns, self.lengths = [0.0] * self.count, [0] * self.count
        return GinRummyVecEnv(**options)

    def compare_pictures(self) -> None:
        """SB3's environment has no pictures."""

    def reset(self, arguments: dict[str, Any]) -> None:
        """``{"seed": 3}``, or without a seed ``{}``."""
        if "seed" in arguments:
            self.env.seed(arguments["seed"])
            self.next_seed = arguments["seed"]
        seed = self.next_seed
        self.next_seed = None
        seeds = [None if seed is None else seed + game for game in range(self.count)]
        self.begin(self.tables, seeds, [], None)
        self.returns, self.lengths = [0.0] * self.count, [0] * self.count
        self.compare(self.env.reset())
        self.compare_tables()

    def bad_reset(self, arguments: dict[str, Any]) -> None:
        self.refused(self.env.seed, "options" if "options" in arguments else arguments["seed"])

    def compare(self, vectors: np.ndarray) -> None:
        masks = self.env.env_method("action_masks")
        self.compare_batch(vectors, np.stack(masks))
        vectors[:] = 0.5

    def compare_step(
        self, told: Any, rewards: list[float], finals: dict[int, tuple[np.ndarray, dict[str, Any]]]
    ) -> None:
        vectors, paid, over, infos = told
        same_array("rewards", paid, rewards, np.float32)
        same_array("ends", over, self.ends(finals), np.bool_)
        self.compare(vectors)
        for game, info in enumerate(infos):
            self.returns[game] += rewards[game]
            self.lengths[game] += 1
            if game not in finals:
                same("info of a game in progress", info, {})
                continue
            vector, result = finals[game]
            same_array("terminal_observation", info.pop("terminal_observation"), vector, np.float32)
            episode = info.pop("episode")
            opponent = info.pop("opponent", None)
            if result["outcome"] != "illegal":
                same("type of the opponent's name", type(opponent), str)
            same("info of a finished game", info, result)
            same("keys of the episode", sorted(episode), ["l", "r", "t"])
            same("length of the episode", episode["l"], self.lengths[game])
            same("return of the episode", round(episode["r"], 4), round(self.returns[game], 4))
            self.returns[game], self.lengths[game] = 0.0, 0
        paid[:] = 0.5
