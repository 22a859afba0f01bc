"""The command that steps through a recorded game: replay."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from gin_env.commands.options import flag, is_terminal, refuse_options

if TYPE_CHECKING:
    from gin_env.records import GameRecord

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
    estimator: Annotated[str, typer.Option(help="Estimator of the opponent's hand (key b)")] = "bayes",
    letters: Annotated[bool, flag("--letters", "Write suits as C, H, S, D on the screen")] = False,
    web: Annotated[bool, flag("--web", "Show the replay in a browser instead")] = False,
    host: Annotated[
        str, typer.Option(help="With --web: address to serve at; the default is this computer only")
    ] = "127.0.0.1",
    port: Annotated[int, typer.Option(min=1, max=65535, help="With --web: port to serve at")] = 8000,
) -> None:
    """Step through a recorded game: both hands, each move, what cards and choices were worth.

    Uses the full screen if there is a terminal and Textual is installed; press ? for the keys.
    """
    from gin_env import records

    if web:
        from gin_env.ui.web.server import serve
        from gin_env.ui.web.table_api import TableApi

        refuse_options(
            context,
            "the page of --web has no such choice",
            *("plain", "worst", "estimator", "letters"),
        )
        _check_judge(judge)
        serve(TableApi(recorded=records.read_one(file, game), hint_bot=judge), host, port)
        return
    _check_judge(judge)
    recorded = records.read_one(file, game)
    if not plain and _screen_is_possible():
        from gin_env.ui.adviser import estimator_of_hand
        from gin_env.ui.replay_app import ReplayApp

        estimator_of_hand(estimator)
        bot = None if judge == NO_JUDGE else judge
        ReplayApp(recorded, bot, _players(recorded), worst, estimator, letters).run()
    else:
        _replay_in_text(recorded, judge, worst)


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


def _check_judge(name: str | None) -> None:
    """Raise as `gin_env.agents.make` does for a bot that cannot be made."""
    from gin_env import agents

    if name not in (None, NO_JUDGE):
        agents.make(str(name), programs=True)


def _players(game: GameRecord) -> tuple[int, ...]:
    """Return the players whose choices are reviewed: the person, or both."""
    from gin_env.ui.human_game import PERSON_PLAYER

    return (0,) if game.players[0] == PERSON_PLAYER else (0, 1)


def _replay_in_text(game: GameRecord, judge: str | None, worst: int) -> None:
    from gin_env.ui.adviser import Adviser
    from gin_env.ui.replay_text import position_text, title
    from gin_env.ui.review import review_hand
    from gin_env.ui.review_text import review_text

    typer.echo(f"{title(game)}\n")
    positions, texts, number = game.positions(), [], 0
    for position in positions:
        number += position.is_decision
        texts.append(position_text(game, position, number))
    typer.echo("\n\n".join(texts))
    if judge == NO_JUDGE:
        return
    adviser = Adviser(judge)
    for player in _players(game):
        hands = range(len(game.hands))
        reviews = [review_hand(game, positions, hand, player, adviser) for hand in hands]
        typer.echo(f"\n{review_text(game, positions, reviews, adviser.label, worst)}")
