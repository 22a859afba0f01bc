"""Export a data set of hands to Minari, the format of offline RL: each player's decisions are an episode.

    python examples/dataset.py hands --hands 20000
    pip install "minari[hdf5]" pillow
    python examples/minari_dataset.py hands gin-rummy/policy-v0

>>> minari.load_dataset("gin-rummy/policy-v0").sample_episodes(8)
>>> minari.load_dataset("gin-rummy/policy-v0").recover_environment()  # against the bot that played

Observations and rewards are those of ``gymnasium.make("gin_env/GinRummy-v0")`` with single hands.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Any

import gymnasium
import numpy as np
import typer

from gin_env.game.rules import Rules
from gin_env.records.games import views_of
from gin_env.support.exits import command_line

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from examples import dataset


def episodes(hands: dataset.Hands) -> Iterator[dict[str, Any]]:
    """Yield the episodes of both players of each hand, as keyword arguments of Minari's `EpisodeBuffer`.

    An episode with n decisions has n + 1 observations; the last one is of the end of the hand, and only the
    last reward is not 0. A player without a decision has no episode.
    """
    for index in range(len(hands)):
        *positions, end = hands.record(index).positions()
        for player in (0, 1):
            own = [position for position in positions if position.player == player]
            if not own:
                continue
            view = views_of([*own, end], player)
            masks = view.masks()
            masks[-1] = 0
            sign = {player: 1, 1 - player: -1, -1: 0}[int(hands.winners[index])]
            yield {
                "observations": {"action_mask": masks, "observation": view.observations()},
                "actions": np.array([position.action for position in own], np.int64),
                "rewards": np.array([0.0] * (len(own) - 1) + [sign * hands.points[index] / 100]),
                "terminations": np.array([False] * (len(own) - 1) + [True]),
                "truncations": np.zeros(len(own), np.bool_),
            }


def export(folder: str | Path, name: str) -> int:
    """Write the Minari data set `name` from a folder of `examples/dataset.py`; return the number of episodes.

    Raises ImportError without Minari, FileNotFoundError or ValueError for a folder without hands.
    """
    try:
        from minari import create_dataset_from_buffers
        from minari.data_collector import EpisodeBuffer
    except ImportError as error:
        raise ImportError('the export needs Minari: pip install "minari[hdf5]" pillow') from error
    written: Any = None
    total = 0
    for hands in dataset.load(folder):
        buffers = [EpisodeBuffer(**episode) for episode in episodes(hands)]
        total += len(buffers)
        if written is not None:
            written.update_dataset_from_buffer(buffers)
            continue
        bot, rules = hands.description["bot"], Rules(**hands.description["rules"])
        env = gymnasium.make("gin_env:gin_env/GinRummy-v0", opponent=bot, rules=rules.text)
        requirements = [f"gin-env=={hands.description['release']}"]
        written = create_dataset_from_buffers(
            name,
            buffers,
            env=env,
            algorithm_name=bot,
            description=f"Hands of the bot {bot} against itself, from both seats",
            requirements=requirements,
        )
    return total


def main(
    folder: Annotated[Path, typer.Argument(help="Folder written by examples/dataset.py")],
    name: Annotated[str, typer.Argument(help="Name of the Minari data set, such as gin-rummy/policy-v0")],
) -> None:
    """Write a data set of hands as a Minari data set."""
    typer.echo(f"{export(folder, name):,} episodes in the Minari data set {name}")


if __name__ == "__main__":
    command_line("minari_dataset.py", lambda: typer.run(main))
