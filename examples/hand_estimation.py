"""Estimate the opponent's hand: a data set with a task, ten million positions of five kinds of players.

    python examples/hand_estimation.py make hands --workers all
    python examples/hand_estimation.py score hands uniform bayes my_module:MyEstimator

>>> for _, positions in hand_estimation.positions("hands", "simple", "train"):
...     positions.view.observations(), positions.truth()  # what the player knows; the cards to estimate
>>> hand_estimation.log_loss(my_estimator, "hands", "simple")

Each player plays both seats. In a position, a player is to draw and the opponent has completed a turn, as in
Francis et al. 2021. The task is to predict how likely the opponent is to hold each card. The score is the log
loss of the unknown cards, in nats per card. The hands are split by their numbers: of each player's hands, the
first eight tenths are for training, the ninth for validation and the last for the test.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Annotated, Literal, get_args

import numpy as np
import typer

from gin_env import estimators
from gin_env.batch import Games
from gin_env.commands.options import Seed, WorkerCount, progress_bar, workers_of
from gin_env.estimators.base import Estimator
from gin_env.game.rules import Rules
from gin_env.matches.intervals import deviations
from gin_env.support.atomic import write_text
from gin_env.support.checks import check_choice, check_integer
from gin_env.support.exits import command_line
from gin_env.support.workers import Workers
from gin_env.training.estimators.metrics import METRICS, measure
from gin_env.training.estimators.positions import Positions, after_turns

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from examples import dataset

PLAYERS = ("simple", "tonic", "cfr-plus", "marjj", "policy")
BASELINES = (
    "uniform",
    "logistic",
    "bayes",
    "nn",
    "shankar-cnn",
    "suit-equivariant",
    "suit-equivariant:weights=policy",
)
"""Estimators of the card's table."""
FILES = 10
"""Number of files for each player."""
Split = Literal["train", "validation", "test"]
SPLITS: dict[Split, slice] = {"train": slice(0, 8), "validation": slice(8, 9), "test": slice(9, 10)}
"""The files of each part."""
app = typer.Typer(
    add_completion=False, help="Make the data set, or score estimators of the opponent's hand on it."
)


def make(
    folder: str | Path,
    hands: int = 150_000,
    seed: int = 0,
    workers: int | Literal["all"] | Workers = 1,
    progress: Callable[[int], object] | None = None,
) -> None:
    """Make the data set, or its missing files: for each player a folder, by `dataset.make`.

    Parameters
    ----------
    hands : number of hands of each player, a multiple of `FILES`; an error needs two hands in each file.
    seed : determines the deals and all random choices; the published scores have 0.
    workers, progress : as for `dataset.make`.
    """
    if check_integer("hands", hands, 2 * FILES, 1 << 40) % FILES:
        raise ValueError(f"hands must be a multiple of {FILES}, not {hands}")
    for player in PLAYERS:
        dataset.make(
            Path(folder) / player,
            hands,
            hands // FILES,
            seed,
            bot=player,
            estimator=None,
            workers=workers,
            progress=progress,
        )


def positions(
    folder: str | Path, player: str, split: Split = "test"
) -> Iterator[tuple[np.ndarray, Positions]]:
    """Replay the hands of a part, and yield the positions of many of them at a time.

    Yields
    ------
    numbers : int64 (n,), the number of each position's hand.
    positions : what the players know (`view`) and the hands to estimate.

    Raises ValueError for an unknown player or part, and otherwise as `dataset.load` does.
    """
    check_choice("player", player, PLAYERS)
    files = sorted((Path(folder) / player / "data").glob("hands-*.parquet"))
    if len(files) != FILES:
        raise FileNotFoundError(f"{folder} has {len(files)} files of {player}, not {FILES}: run make again")
    for path in files[SPLITS[check_choice("split", split, get_args(Split))]]:
        hands = dataset.load_file(path)
        games = Games(len(hands), Rules(**hands.description["rules"]))
        games.start(seed=hands.description["seed"], episodes=hands.numbers.astype(np.uint64))
        lengths = np.diff(hands.starts)
        for step in range(lengths.max()):
            playing = np.flatnonzero(lengths > step)
            decisions = hands.starts[playing] + step
            now = after_turns(games, playing)
            if now.any():
                index = playing[now]
                view = games.views(index)
                yield hands.numbers[index], Positions(view, hands.opponent_hands[decisions[now]])
            games.play(playing, hands.actions[decisions].astype(np.int64))


def sums_by_hand(
    estimator: str | Estimator, folder: str | Path, player: str, split: Split = "test"
) -> tuple[np.ndarray, np.ndarray]:
    """Return for each hand (sum of the log losses of its positions, number of positions), float64 (h,)."""
    member, column = estimators.resolve(estimator, programs=True), list(METRICS).index("log_loss")
    numbers, losses = [], []
    for hand, some in positions(folder, player, split):
        numbers.append(hand)
        losses.append(measure(member.estimate(some.view), some)[:, column])
    hands, index, counts = np.unique(np.concatenate(numbers), return_inverse=True, return_counts=True)
    return np.bincount(index, np.concatenate(losses), len(hands)), counts.astype(np.float64)


def log_loss(
    estimator: str | Estimator, folder: str | Path, player: str, split: Split = "test"
) -> tuple[float, float]:
    """Return (mean log loss of the unknown cards in nats, its standard error over hands).

    `estimator` is a name, ``module:Class`` or an object with ``estimate(view)`` -> float (n, 52).
    """
    sums, counts = sums_by_hand(estimator, folder, player, split)
    error = deviations(sums, counts).std(ddof=1) / math.sqrt(len(sums))
    return sums.sum() / counts.sum(), float(error)


def table(members: Sequence[str], folder: str | Path, split: Split = "test") -> str:
    """Return a Markdown table of the log losses of estimators, with 95 % intervals, by player."""
    lines = ["| estimator | " + " | ".join(f"`{player}`" for player in PLAYERS) + " | mean |"]
    lines.append("|---|" + "---:|" * (len(PLAYERS) + 1))
    for member in members:
        losses = [log_loss(member, folder, player, split) for player in PLAYERS]
        cells = [f"{mean:.4f} ± {1.96 * error:.4f}" for mean, error in losses]
        cells.append(f"{sum(mean for mean, _ in losses) / len(losses):.4f}")
        lines.append(f"| `{member}` | " + " | ".join(cells) + " |")
    return "\n".join(lines)


@app.command("make")
def make_command(
    folder: Annotated[Path, typer.Argument(help="Folder of the data set")],
    hands: Annotated[int, typer.Option(help="Number of hands of each player")] = 150_000,
    seed: Seed = 0,
    workers: WorkerCount = None,
) -> None:
    """Make the data set, and its card with the scores of the baselines."""
    with workers_of(workers, None) as crew, progress_bar(hands * len(PLAYERS), "hand") as progress:
        make(folder, hands, seed, crew, progress.update)
    typer.echo(f"scoring {len(BASELINES)} estimators on the test hands", err=True)
    write_text(folder / "README.md", card(folder, hands, seed))
    typer.echo(f"the data card is {folder / 'README.md'}")


@app.command("score")
def score_command(
    folder: Annotated[Path, typer.Argument(help="Folder of the data set")],
    estimator: Annotated[list[str], typer.Argument(help="Estimators, by name or as module:Class")],
    split: Annotated[Split, typer.Option(help="Part of the hands")] = "test",
) -> None:
    """Print the log loss of estimators for each player; lower is better."""
    typer.echo(table(estimator, folder, split))


def card(folder: Path, hands: int, seed: int) -> str:
    """Return the README of the data set, with the scores of `BASELINES`."""
    size = sum(path.stat().st_size for path in folder.glob("*/data/*.parquet")) / 1e6
    configs = "\n".join(
        f"- config_name: {player}\n  data_files: {player}/data/*.parquet" for player in PLAYERS
    )
    return f"""\
---
license: mit
pretty_name: Gin Rummy hand estimation
task_categories: [tabular-classification]
tags: [gin-rummy, card-game, imperfect-information, opponent-modeling]
configs:
{configs}
---

# Gin Rummy hand estimation

{len(PLAYERS) * hands:,} hands of Gin Rummy, {hands:,} of each of {len(PLAYERS)} kinds of players against \
themselves, with both players' cards at every decision. {size:,.0f} MB. Each player's folder has a card that \
explains the columns.

- **Task**: predict how likely the opponent is to hold each card, for a player who is to draw and whose \
opponent has completed a turn. Use what that player has seen: their cards, the discard pile, the cards taken \
from it.
- **Score**: the log loss of the unknown cards, in nats per card, as a mean over the positions. Lower is \
better.
- **Split**: the first eight of a player's ten files are for training, the ninth for validation and the last \
for the test. Train on one player and test on another to see how much a model depends on the style.

| player | what it is |
|---|---|
| `simple` | the challenge's Simple player: the least deadwood, knocks as early as it may |
| `tonic` | heuristics tuned for the challenge (Larkin et al. 2021) |
| `cfr-plus` | counterfactual regret minimisation on an abstraction |
| `marjj` | the look-ahead of the winner of the challenge |
| `policy` | a network trained by self-play |

## Scores on the test hands

{table(BASELINES, folder)}

Estimators that learn from hands were trained on those of `simple`; `weights=policy` was trained on those of \
`policy-1`.

- **Made by** `python examples/hand_estimation.py make FOLDER --hands {hands} --seed {seed}`.
- **Not for** conclusions about how people play: all players are bots.
"""


if __name__ == "__main__":
    command_line("hand_estimation.py", app)
