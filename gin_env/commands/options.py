"""Options that several commands share, and the check of files to write."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

BOT_HELP = "A bot's name, with parameters as in `simple:knock_at=4`, or the path of a trained policy (.zip)."
Seed = Annotated[int, typer.Option(help="Random seed.")]
SecretSeed = Annotated[
    int | None,
    typer.Option(
        help="Random seed; by default a secret one, told with the result, so that no bot can guess the decks."
    ),
]
Hands = Annotated[bool, typer.Option("--hands", help="Play single hands, not games to 100 points.")]
Confidence = Annotated[float, typer.Option(help="Confidence of the Wilson intervals.")]
Json = Annotated[Path | None, typer.Option(help="Write the result to this file as JSON.")]


def check_outputs(*paths: Path | None) -> None:
    """Before hours of play: raise FileNotFoundError if the folder of a file to write does not exist."""
    for path in paths:
        if path is not None and not path.parent.is_dir():
            raise FileNotFoundError(f"cannot write {path}: there is no folder {path.parent}")
