"""Options that several commands share, and the check of files to write."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

BOT_HELP = (
    "A bot's name, with parameters as in `simple:knock_at=4`, or a trained policy's path (.safetensors). "
    "A Stable-Baselines3 .zip is not loaded, since it may hold code: `gin-rummy convert` makes it a policy."
)
Seed = Annotated[int, typer.Option(help="Random seed.")]
SecretSeed = Annotated[
    int | None,
    typer.Option(
        help="Random seed; by default a secret one, told with the result: no bot can guess the decks."
    ),
]
Hands = Annotated[bool, typer.Option("--hands", help="Play single hands, not games to 100 points.")]
Confidence = Annotated[float, typer.Option(help="Confidence of the Wilson intervals.")]
Json = Annotated[Path | None, typer.Option(help="Write the result to this file as JSON.")]
DataEstimator = Annotated[str, typer.Option(help="What estimates the opponent's hand in the data.")]
DataWorkers = Annotated[int, typer.Option(min=1, help="Threads that play; the data do not depend on it.")]


def check_outputs(*paths: Path | None) -> None:
    """Before hours of play, raise FileNotFoundError if the folder of a file to write does not exist.

    Raises ValueError if two are the same file.
    """
    taken = set()
    for path in paths:
        if path is None:
            continue
        if not path.parent.is_dir():
            raise FileNotFoundError(f"cannot write {path}: there is no folder {path.parent}")
        if path.resolve() in taken:
            raise ValueError(f"two results cannot be written to the same file {path}: name another one")
        taken.add(path.resolve())
