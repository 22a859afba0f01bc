"""The commands that show a game again: replay steps through a record, gif writes a hand as a picture."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from gin_env.commands.options import (
    BOT_HELP,
    Estimator,
    Host,
    Port,
    RulesOption,
    Seed,
    flag,
    is_terminal,
    refuse_options,
)
from gin_env.support.atomic import check_targets

app = typer.Typer()

NO_JUDGE = "none"


@app.command(
    rich_help_panel="Play",
    epilog="Examples:  \n`gin-rummy replay games.jsonl`  \n"
    "`gin-rummy replay games.jsonl --game 3 --judge tonic`  \n"
    "`gin-rummy replay games.jsonl --plain --judge none`  \n"
    "`gin-rummy explain --record games.jsonl --game 3 --step 17`",
)
def replay(
    context: typer.Context,
    file: Annotated[Path, typer.Argument(help="File of recorded games, or a log of the reference engine")],
    game: Annotated[int, typer.Option(min=1, help="Number of the game in the file, from 1")] = 1,
    plain: Annotated[
        bool, flag("--plain", "Print the whole game as plain text instead of the full screen")
    ] = False,
    judge: Annotated[
        str | None,
        typer.Option(
            help="Bot that plays each move out, for the review; default: the strongest that can be loaded. "
            "`none`: no review in plain text"
        ),
    ] = None,
    worst: Annotated[int, typer.Option(min=1, help="Maximum number of lines in the table of mistakes")] = 10,
    estimator: Estimator = "bayes",
    letters: Annotated[bool, flag("--letters", "Write suits as C, H, S, D on the screen")] = False,
    web: Annotated[bool, flag("--web", "Show the replay in a browser instead")] = False,
    host: Host = "127.0.0.1",
    port: Port = 8000,
) -> None:
    """Step through a recorded game: both hands, each move, what cards and choices were worth.

    Uses the full screen if there is a terminal and Textual is installed; press ? for the keys.
    """
    from gin_env import agents, records
    from gin_env.ui.adviser import Adviser, estimator_of_hand
    from gin_env.ui.review import game_title, position_text, review_hand, review_text, reviewed_players

    bot = None if judge == NO_JUDGE else judge
    if bot is not None:
        agents.make(bot, programs=True)
    if web:
        from gin_env.ui.web.server import serve
        from gin_env.ui.web.table_api import TableApi

        absent = ("plain", "worst", "estimator", "letters")
        refuse_options(context, "the page of --web has no such choice", *absent)
        serve(TableApi(recorded=records.read_one(file, game), hint_bot=bot), host, port)
        return
    recorded = records.read_one(file, game)
    if not plain and _screen_is_possible():
        from gin_env.ui.replay_app import ReplayApp
        from gin_env.ui.replay_view import ReplayView

        estimator_of_hand(estimator)
        ReplayApp(ReplayView(recorded, bot, reviewed_players(recorded), estimator, letters), worst).run()
        return
    typer.echo(f"{game_title(recorded)}\n")
    positions, texts, number = recorded.positions(), [], 0
    for position in positions:
        number += position.is_decision
        texts.append(position_text(recorded, position, number))
    typer.echo("\n\n".join(texts))
    if judge == NO_JUDGE:
        return
    adviser = Adviser(judge)
    for player in reviewed_players(recorded):
        hands = range(len(recorded.hands))
        reviews = [review_hand(recorded, positions, index, player, adviser) for index in hands]
        typer.echo(f"\n{review_text(recorded, reviews, adviser.label, worst)}")


def _screen_is_possible() -> bool:
    """Return whether the screen can be shown; if not, print the reason to standard error."""
    try:
        import textual  # noqa: F401
    except ImportError:
        typer.echo('plain text: the screen needs Textual (pip install "gin-env[play]")', err=True)
        return False
    if not is_terminal():
        typer.echo("plain text: the screen needs a terminal for input and output", err=True)
        return False
    return True


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
