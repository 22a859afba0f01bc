"""The commands that show a game again: replay steps through a record, gif writes a hand as a picture."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from gin_env.commands.options import BOT_HELP, RulesOption, Seed, flag, is_terminal, refuse_options
from gin_env.support.atomic import check_targets

if TYPE_CHECKING:
    from gin_env.agents import Agent
    from gin_env.records import GameRecord, Position

app = typer.Typer()

NO_JUDGE = "none"


@app.command(
    rich_help_panel="Play",
    epilog="Examples:  \n`gin-rummy replay games.jsonl`  \n"
    "`gin-rummy replay games.jsonl --game 3 --bot simple --bot policy`  \n"
    "`gin-rummy replay games.jsonl --plain --judge none`  \n"
    "`gin-rummy explain --record games.jsonl --game 3 --step 17`",
)
def replay(
    context: typer.Context,
    file: Annotated[Path, typer.Argument(help="File of recorded games, or a log of the reference engine")],
    game: Annotated[int, typer.Option(min=1, help="Number of the game in the file, from 1")] = 1,
    bot: Annotated[
        list[str] | None,
        typer.Option(
            help="Bot whose moves are compared; can be given several times. Default: every bot after a "
            "key press; none in plain text"
        ),
    ] = None,
    plain: Annotated[
        bool, flag("--plain", "Print the whole game as plain text instead of the full screen")
    ] = False,
    judge: Annotated[
        str,
        typer.Option(help="Bot whose values judge the moves; `none`: no table of mistakes"),
    ] = "generation",
    worst: Annotated[int, typer.Option(min=1, help="Maximum number of lines in the table of mistakes")] = 10,
    estimator: Annotated[str, typer.Option(help="Estimator of the opponent's hand (key b)")] = "bayes",
    letters: Annotated[bool, flag("--letters", "Write suits as C, H, S, D on the screen")] = False,
    web: Annotated[bool, flag("--web", "Show the replay in a browser instead")] = False,
    host: Annotated[
        str, typer.Option(help="With --web: address to serve at; the default is this computer only")
    ] = "127.0.0.1",
    port: Annotated[int, typer.Option(min=1, max=65535, help="With --web: port to serve at")] = 8000,
) -> None:
    """Step through a recorded game: both hands, each move, what bots would have played, worst mistakes.

    Uses the full screen if there is a terminal and Textual is installed; press ? for the keys.
    """
    from gin_env import records

    if web:
        from gin_env.ui.web.server import serve
        from gin_env.ui.web.table_api import TableApi

        refuse_options(
            context,
            "the page of --web has no such choice",
            *("plain", "judge", "worst", "estimator", "letters"),
        )
        _bots(bot or [])
        serve(TableApi(recorded=records.read_one(file, game), bots=list(bot or [])), host, port)
        return
    judging = None if judge == NO_JUDGE else _judge(judge)
    bots = _bots(bot or [])
    recorded = records.read_one(file, game)
    if not plain and _screen_is_possible():
        from gin_env.ui.hints import make_estimator
        from gin_env.ui.replay_app import ReplayApp

        make_estimator(estimator)
        ReplayApp(recorded, list(bots), judging, worst, estimator, letters).run()
    else:
        _replay_in_text(recorded, bots, judging, worst)


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


def _judge(name: str) -> Agent | None:
    """Return the judging bot, or None with a line on standard error if it needs torch and torch is missing.

    Raises ValueError if the bot has no values.
    """
    from gin_env import agents
    from gin_env.agents.base import HasActionValues
    from gin_env.ui.opinions import STRONGEST_WITH_VALUES

    try:
        bot = agents.make(name, programs=True)
    except ImportError as error:
        typer.echo(f"mistakes are not counted: {error}", err=True)
        return None
    if not isinstance(bot, HasActionValues):
        raise ValueError(f"bot {name!r} has no values of actions: choose --judge {STRONGEST_WITH_VALUES}")
    return bot


def _bots(names: Sequence[str]) -> dict[str, Agent]:
    from gin_env import agents

    return {name: agents.make(name, programs=True) for name in names}


def _opinions(bots: dict[str, Agent], steps: list[Position]) -> dict[str, list[int]]:
    """Return each bot's action at each step."""
    from gin_env.records import views_of
    from gin_env.ui.opinions import chosen_actions

    if not steps:
        return {}
    return {name: chosen_actions(bot, views_of(steps)).tolist() for name, bot in bots.items()}


def _replay_in_text(game: GameRecord, bots: dict[str, Agent], judging: Agent | None, worst: int) -> None:
    from gin_env.ui.opinions import decisions, judge
    from gin_env.ui.replay_text import blunders_text, position_text, title

    steps = decisions(game)
    opinions = _opinions(bots, steps)
    typer.echo(f"{title(game)}\n")
    texts, number = [], 0
    for position in game.positions():
        number += position.is_decision
        texts.append(position_text(game, position, number, opinions))
    typer.echo("\n\n".join(texts))
    if judging is not None:
        typer.echo(f"\n{blunders_text(game, judge(steps, judging), judging.name, worst)}")


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
