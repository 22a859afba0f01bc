"""The command for playing against a bot: play."""

from __future__ import annotations

import shlex
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from gin_env.commands.options import (
    BOT_HELP,
    Estimator,
    Host,
    Port,
    RulesOption,
    flag,
    is_terminal,
    refuse_options,
)

if TYPE_CHECKING:
    from gin_env.ui.human_game import HumanGame

app = typer.Typer()


@app.command(
    rich_help_panel="Play",
    epilog="Examples:  \n`gin-rummy play`  \n`gin-rummy play --opponent simple --seed 7`  \n"
    "`gin-rummy play --resume`  \n`gin-rummy play --save evening.json --record games.jsonl`  \n"
    "`gin-rummy play --web`",
)
def play(
    context: typer.Context,
    opponent: Annotated[
        str | None,
        typer.Option(
            help=f"Opponent: Rosa, Emil, Nora, Theo, Vera, Ada, or a bot; default: Theo. {BOT_HELP}"
        ),
    ] = None,
    seed: Annotated[
        int | None, typer.Option(help="Random seed, to play the same deals again; default: random deals")
    ] = None,
    rules: RulesOption = None,
    save: Annotated[
        Path | None,
        typer.Option(
            help="Save file (with --web: a folder); default: game.json in your configuration folder"
        ),
    ] = None,
    resume: Annotated[bool, flag("--resume", "Resume the saved game")] = False,
    record: Annotated[
        Path | None, typer.Option(help="Append each finished game to this file (JSON Lines)")
    ] = None,
    hint_bot: Annotated[
        str | None,
        typer.Option(
            help="Bot that plays moves out for hints and reviews; default: the strongest that can be loaded"
        ),
    ] = None,
    estimator: Estimator = "bayes",
    bot_delay: Annotated[
        float, typer.Option(min=0, max=60, help="Seconds before each action of the bot")
    ] = 0.6,
    letters: Annotated[
        bool, flag("--letters", "Write suits as C, H, S, D, for fonts without their symbols")
    ] = False,
    web: Annotated[bool, flag("--web", "Play in a browser: serve the table as a page")] = False,
    host: Host = "127.0.0.1",
    port: Port = 8000,
) -> None:
    """Play Gin Rummy against a bot, in the terminal or in the browser: games to 100 points.

    Press ? for the keys. The game is saved after each of your actions; --resume continues it.
    """
    from gin_env import agents
    from gin_env.records import read_one
    from gin_env.support.atomic import check_targets

    if is_terminal() and not web:
        typer.echo("Setting up the table ...")
    from gin_env.ui.opponents import find_opponent

    if opponent is not None and (known := find_opponent(opponent)) is not None:
        opponent = known.bot
    if hint_bot is not None:
        agents.make(hint_bot, programs=True)
    if web:
        from gin_env.ui.web.server import serve
        from gin_env.ui.web.table_api import TableApi

        refuse_options(context, "each browser window resumes its own game", "resume")
        refuse_options(context, "the page of --web has no such choice", "letters")
        agents.make(opponent or "tonic", programs=True)
        folder = save or Path(typer.get_app_dir("gin-rummy")) / "windows"
        if folder.exists() and not folder.is_dir():
            raise ValueError(f"with --web, --save must be a folder, and {folder} is a file")
        folder.mkdir(parents=True, exist_ok=True)
        with _recording(record) as finished:
            api = TableApi(
                opponent=opponent or "tonic",
                seed=seed,
                rules=rules,
                hint_bot=hint_bot,
                estimator=estimator,
                bot_delay=bot_delay,
                save_folder=folder,
                finished=finished,
            )
            serve(api, host, port)
        return
    from gin_env.ui.adviser import estimator_of_hand
    from gin_env.ui.human_game import HumanGame
    from gin_env.ui.play_app import PlayApp
    from gin_env.ui.play_view import PlayView
    from gin_env.ui.statistics import FILE_NAME, Statistics

    estimator_of_hand(estimator)
    resume_command = "gin-rummy play --resume" + ("" if save is None else f" --save {shlex.quote(str(save))}")
    if save is None:
        save = Path(typer.get_app_dir("gin-rummy")) / "game.json"
        save.parent.mkdir(parents=True, exist_ok=True)
    check_targets(save, record, save.with_name(FILE_NAME))
    if not is_terminal():
        raise ValueError("this needs an interactive terminal; use --web to play in a browser")
    if resume:
        refuse_options(context, "--resume keeps the deals and rules of the saved game", "seed", "rules")
        if not save.exists():
            raise FileNotFoundError(f"there is no saved game at {save}")
        kept = read_one(save, 1).players[1]
        if opponent not in (None, kept.bot, kept.name):
            raise ValueError(
                f"the saved game is against {kept.bot or kept.name}, not {opponent}: "
                "leave --opponent out, or start a new game without --resume"
            )
        game = HumanGame.load(save, opponent)
    else:
        game = HumanGame(opponent or "tonic", seed, rules)
    statistics = Statistics(save.with_name(FILE_NAME))
    with _recording(record) as finished:
        table = PlayView(game, hint_bot, estimator, letters, statistics)
        screen = PlayApp(table, save, bot_delay, finished, resume)
        screen.run()
    if screen.failure is not None:
        raise screen.failure
    if screen.is_kept or (resume and save.exists()):
        typer.echo(f"The game is saved in {save}; `{resume_command}` continues it.")


@contextmanager
def _recording(record: Path | None) -> Iterator[Callable[[HumanGame], object]]:
    """Yield a function that records a finished game, if there is a file to record it in."""
    from gin_env.records import Recorder

    if record is None:
        yield lambda game: None
        return
    with Recorder(record) as recorder:
        yield lambda game: recorder.add(game.record())
