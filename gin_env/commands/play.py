"""The command by which a person plays against a bot."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import Annotated

import typer

from gin_env.commands.options import BOT_HELP, RulesOption, is_terminal

app = typer.Typer()


@app.command(
    epilog="Examples:  \n`gin-rummy play`  \n`gin-rummy play --opponent simple --seed 7`  \n"
    "`gin-rummy play --resume`  \n`gin-rummy play --save evening.json --record games.jsonl`  \n"
    "`gin-rummy play --web`"
)
def play(
    opponent: Annotated[
        str | None, typer.Option(help=f"Who plays against you; default: tonic. {BOT_HELP}")
    ] = None,
    seed: Annotated[
        int | None, typer.Option(help="Random seed: the same deals again; default: fresh deals.")
    ] = None,
    rules: RulesOption = None,
    save: Annotated[
        Path | None,
        typer.Option(help="Where the game is kept until it is over; default: a file of your own."),
    ] = None,
    resume: Annotated[bool, typer.Option("--resume", help="Go on with the game that was kept.")] = False,
    record: Annotated[
        Path | None, typer.Option(help="Add each finished game to this file (JSON Lines).")
    ] = None,
    hint_bot: Annotated[str, typer.Option(help="Whose hints the key h shows.")] = "tonic",
    estimator: Annotated[
        str, typer.Option(help="Whose belief about the other hand the key b shows.")
    ] = "bayes",
    bot_delay: Annotated[
        float, typer.Option(min=0, max=60, help="Seconds before each action of the bot.")
    ] = 0.6,
    letters: Annotated[
        bool, typer.Option("--letters", help="Write suits as C, H, S, D, for fonts without their symbols.")
    ] = False,
    web: Annotated[bool, typer.Option("--web", help="Serve the game to a browser instead.")] = False,
    host: Annotated[
        str, typer.Option(help="With --web: the address to serve at; the default is this computer alone.")
    ] = "127.0.0.1",
    port: Annotated[int, typer.Option(min=1, max=65535, help="With --web.")] = 8000,
) -> None:
    """Play Gin Rummy against a bot, in the terminal or in the browser: games to 100 points.

    Press ? for the keys. The game is kept after each of your actions; --resume goes on with it.
    """
    from gin_env import agents
    from gin_env.records import Recorder
    from gin_env.support.atomic import check_targets

    agents.make(hint_bot, programs=True)
    if web:
        if resume:
            raise ValueError("each browser window resumes its own game: leave --resume out")
        _serve(opponent, seed, save, record, hint_bot, estimator, bot_delay, host, port)
        return
    from gin_env.ui.human_game import HumanGame
    from gin_env.ui.play_app import PlayApp  # first: it says what to install
    from gin_env.ui.table_app import make_estimator

    make_estimator(estimator)
    go_on = "gin-rummy play --resume" + ("" if save is None else f" --save {shlex.quote(str(save))}")
    if save is None:
        save = Path(typer.get_app_dir("gin-rummy")) / "game.json"
        save.parent.mkdir(parents=True, exist_ok=True)
    check_targets(save)
    if not is_terminal():
        raise ValueError("gin-rummy play needs a terminal to draw on and read keys from; or use --web")
    if resume:
        if seed is not None:
            raise ValueError("--resume goes on with the deals of the kept game: leave --seed out")
        if rules is not None:
            raise ValueError("--resume continues the game with its own rules: leave --rules out")
        if not save.exists():
            raise FileNotFoundError(f"there is no game to go on with at {save}")
        game = HumanGame.load(save, opponent)
    else:
        game = HumanGame(opponent or "tonic", seed, rules)
    recorder = Recorder(record) if record is not None else None

    def finished(done: HumanGame) -> None:
        if recorder is not None:
            recorder.add(done.record())

    screen = PlayApp(game, save, hint_bot, estimator, bot_delay, letters, finished)
    try:
        screen.run()
    finally:
        if recorder is not None:
            recorder.close()
    if screen.failure is not None:
        raise screen.failure
    if screen.is_kept or (resume and save.exists()):
        typer.echo(f"The game is kept in {save}; `{go_on}` goes on with it.")


def _serve(
    opponent: str | None,
    seed: int | None,
    save: Path | None,
    record: Path | None,
    hint_bot: str,
    estimator: str,
    bot_delay: float,
    host: str,
    port: int,
) -> None:
    """Serve a table to browsers: each window plays a game of its own."""
    from gin_env import agents
    from gin_env.records import Recorder
    from gin_env.ui.web.security import LOOPBACK
    from gin_env.ui.web.server import serve
    from gin_env.ui.web.table_api import TableApi

    agents.make(opponent or "tonic", programs=True)
    folder = save or Path(typer.get_app_dir("gin-rummy")) / "windows"
    if folder.exists() and not folder.is_dir():
        raise ValueError(f"with --web, --save must be a folder, and {folder} is a file")
    folder.mkdir(parents=True, exist_ok=True)
    recorder = Recorder(record) if record is not None else None
    if host not in LOOPBACK:
        typer.echo(
            f"serving at {host}: anyone who can reach this address can play, without a password", err=True
        )
    api = TableApi(
        opponent=opponent or "tonic",
        seed=seed,
        hint_bot=hint_bot,
        estimator=estimator,
        bot_delay=bot_delay,
        save_folder=folder,
        finished=None if recorder is None else lambda game: recorder.add(game.record()),
    )
    try:
        serve(api, host, port)
    finally:
        if recorder is not None:
            recorder.close()
