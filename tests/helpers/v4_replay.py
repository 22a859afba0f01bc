"""Replay games of `v4_games.py` on `gin_env.envs.gin_rummy_v4` and compare every step.

python tests/helpers/v4_replay.py games.npz      # a table of docs/migration.md
"""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from v4_games import GIN_REWARD, KINDS, KNOCK_REWARD

from gin_env.envs import gin_rummy_v4
from gin_env.envs.gin_rummy_v4 import CALL_GIN, KNOCK

FORGOTTEN_REWARDS = 0.2, 1.0
"""RLCard's own, which the old release pays after a `reset(seed=...)`."""


@dataclass
class Replay:
    """The result of replaying one game."""

    kind: str
    end: str
    steps: int
    differences: set[str] = field(default_factory=set)
    """Of ``"player"``, ``"mask"``, ``"planes"``, ``"planes while scoring"``, ``"end"``, ``"rewards"``."""


def replays(path: Path) -> Iterator[Replay]:
    """Replay every game of the file in order, each up to the first difference in players or masks."""
    with np.load(path) as file:
        data: dict[str, Any] = dict(file)
    planes = np.unpackbits(data["planes"], axis=1)[:, : 5 * 52].reshape(-1, 5, 52)
    masks = np.unpackbits(data["masks"], axis=1)[:, : gin_rummy_v4.NUM_ACTIONS]
    starts = np.concatenate([[0], np.cumsum(data["lengths"])])
    paid = {True: (KNOCK_REWARD, GIN_REWARD), False: FORGOTTEN_REWARDS}
    tables = {
        keywords: gin_rummy_v4.raw_env(*rewards, opponents_hand_visible=True)
        for keywords, rewards in paid.items()
    }
    for number, seed in enumerate(data["seeds"].tolist()):
        steps = slice(starts[number], starts[number + 1])
        actions = data["actions"][steps].tolist()
        end = "gin" if CALL_GIN in actions else "knock" if max(actions) >= KNOCK else "dead hand"
        replay = Replay(KINDS[data["kinds"][number]], end, len(actions))
        env = tables[bool(data["keywords"][number])]
        env.reset(seed=None if data["followers"][number] else seed)
        for action, player, seen, mask in zip(
            actions, data["players"][steps], planes[steps], masks[steps], strict=True
        ):
            observation = env.observe(env.agent_selection)
            if env.agent_selection != f"player_{player}":
                replay.differences.add("player")
            elif not np.array_equal(observation["action_mask"], mask):
                replay.differences.add("mask")
            if replay.differences & {"player", "mask"}:
                break
            if not np.array_equal(observation["observation"], seen):
                replay.differences.add("planes while scoring" if action in (0, 1) else "planes")
            env.step(action)
        else:
            if not all(env.terminations.values()):
                replay.differences.add("end")
            if [env.rewards[agent] for agent in env.possible_agents] != data["rewards"][number].tolist():
                replay.differences.add("rewards")
        yield replay


def main() -> None:
    """Print the number of equal games for each ending, and the differences of the others."""
    games = list(replays(Path(sys.argv[1])))
    print(f"{len(games)} games, {sum(game.steps for game in games)} steps")
    for end, count in Counter(game.end for game in games).items():
        found = Counter(what for game in games if game.end == end for what in game.differences)
        same = sum(not game.differences for game in games if game.end == end)
        print(f"{end}: {same} of {count} the same to the end; otherwise {dict(found)}")


if __name__ == "__main__":
    main()
