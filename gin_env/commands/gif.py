"""The command that writes a hand as an animated GIF: gif."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from gin_env.commands.options import BOT_HELP, RulesOption, Seed
from gin_env.support.atomic import check_targets

app = typer.Typer()


@app.command(
    rich_help_panel="Play",
    epilog="Examples:  \n`gin-rummy gif tonic simple hand.gif --seed 13`  \n"
    "`gin-rummy gif runs/ppo/policy.safetensors simple mine.gif --width 480 --seconds 0.6`",
)
def gif(
    a: Annotated[str, typer.Argument(help=f"{BOT_HELP} Shown below.")],
    b: Annotated[str, typer.Argument(help="Its opponent, shown above")],
    file: Annotated[Path, typer.Argument(help="File to write (.gif)")],
    seed: Seed = 0,
    rules: RulesOption = None,
    width: Annotated[int, typer.Option(help="Width in pixels; the height is two thirds of it")] = 720,
    seconds: Annotated[
        float, typer.Option(help="Seconds per picture; the last one is shown for at least 5")
    ] = 1.0,
) -> None:
    """Play one hand between two bots and write it as a GIF, with both hands face up."""
    check_targets(file)
    from gin_env.ui.animation import check_gif, hand_pictures, write_gif

    check_gif(file, seconds)
    pictures = list(hand_pictures(a, b, seed, rules, width))
    write_gif(pictures, file, seconds)
    typer.echo(f"{len(pictures) - 1} actions, {file.stat().st_size / 1e6:.2f} MB, written to {file}")
