"""The command that writes a hand as an animated GIF: gif."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from gin_env.commands.options import BOT_HELP, RulesOption, Seed, refuse_options
from gin_env.support.atomic import check_targets

app = typer.Typer()


@app.command(
    rich_help_panel="Play",
    epilog="Examples:  \n`gin-rummy gif tonic simple hand.gif --seed 13`  \n"
    "`gin-rummy gif runs/ppo/policy.safetensors simple mine.gif --width 480 --seconds 0.6`  \n"
    "`gin-rummy gif hand.gif --record games.jsonl --hand 3`",
)
def gif(
    context: typer.Context,
    bots_and_file: Annotated[
        list[str],
        typer.Argument(
            metavar="[A B] FILE",
            help=f"The file to write (.gif), and before it two bots, the first shown below. {BOT_HELP}",
        ),
    ],
    record: Annotated[
        Path | None, typer.Option(help="File of records to take the hand from, instead of two bots")
    ] = None,
    game: Annotated[int, typer.Option(min=1, help="With --record: number of the game in the file")] = 1,
    hand: Annotated[int, typer.Option(min=1, help="With --record: number of the hand in the game")] = 1,
    seed: Seed = 0,
    rules: RulesOption = None,
    width: Annotated[int, typer.Option(help="Width in pixels; the height is two thirds of it")] = 720,
    seconds: Annotated[
        float, typer.Option(help="Seconds per picture; the last one is shown for at least 5")
    ] = 1.0,
) -> None:
    """Write a hand as a GIF, with both hands face up: one between two bots, or one of a record."""
    *bots, name = bots_and_file
    if len(bots) != (0 if record is not None else 2):
        wanted = "--record needs FILE alone" if record is not None else "two bots and a file: A B FILE"
        raise ValueError(f"{wanted}, not {' '.join(bots_and_file)!r}")
    file = Path(name)
    check_targets(file)
    from gin_env.ui.animation import check_gif, hand_pictures, recorded_pictures, write_gif

    check_gif(file, seconds)
    if record is not None:
        from gin_env.records import read_one

        refuse_options(context, "a record has its own deals and rules", "seed", "rules")
        recorded = read_one(record, game)
        if hand > len(recorded.hands):
            raise ValueError(
                f"game {game} of {record} has {len(recorded.hands)} hands: hand {hand} does not exist"
            )
        pictures = list(recorded_pictures(recorded, hand - 1, width))
    else:
        refuse_options(context, "only games of --record have numbers", "game", "hand")
        pictures = list(hand_pictures(bots[0], bots[1], seed, rules, width))
    write_gif(pictures, file, seconds)
    typer.echo(f"{len(pictures) - 1} actions, {file.stat().st_size / 1e6:.2f} MB, written to {file}")
