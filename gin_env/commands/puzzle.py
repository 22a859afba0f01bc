"""The command that asks for the best move in a position: puzzle."""

from __future__ import annotations

import json
from datetime import date
from importlib.resources import files
from typing import Annotated, Any

import typer

from gin_env.commands.options import flag
from gin_env.game.actions import describe, parse

app = typer.Typer()


@app.command(
    rich_help_panel="Play",
    epilog="Examples:  \n`gin-rummy puzzle`  \n`gin-rummy puzzle --number 12`  \n"
    "`gin-rummy puzzle --number 12 --answer`",
)
def puzzle(
    number: Annotated[
        int | None, typer.Option(min=1, help="Number of the puzzle; default: that of today")
    ] = None,
    answer: Annotated[bool, flag("--answer", "Show the answer without asking")] = False,
) -> None:
    """Find the best move in a position where good players differ; the answer compares moves.

    In the browser, `gin-rummy play --web` has the same puzzles.
    """
    puzzles = load_puzzles()
    if number is not None and number > len(puzzles):
        raise ValueError(f"--number must be at most {len(puzzles)}, not {number}")
    chosen = date.today().toordinal() % len(puzzles) + 1 if number is None else number
    one = puzzles[chosen - 1]
    typer.echo(
        f"Puzzle {chosen} of {len(puzzles)}: {len(one['missed'])} of {len(one['bots'])} bots miss it.\n"
    )
    typer.echo(one["position"])
    played = None if answer else _ask(one)
    typer.echo(f"\n{answer_text(one, played)}")


def load_puzzles() -> list[dict[str, Any]]:
    """Return the packaged puzzles; `research.recipes.puzzles` describes one."""
    file = files("gin_env.ui.web") / "static" / "puzzles.json"
    return json.loads(file.read_text(encoding="utf-8"))["puzzles"]


def _ask(one: dict[str, Any]) -> int:
    while True:
        said = typer.prompt("\nYour move").strip()
        for text in (said, f"discard {said}"):
            try:
                action = parse(text)
            except ValueError:
                continue
            if str(action) in one["moves"]:
                return action
        typer.echo(f"Not a move here: {said!r}. Write a card such as KS, or a move after 'You may'.")


def answer_text(one: dict[str, Any], played: int | None) -> str:
    """Return the best move, the comparison, and what the bots play."""
    from gin_env.support.tables import table
    from gin_env.ui.adviser import HEADER, Line

    best = one["answers"][str(one["best"])]
    shown = one["answers"].get(str(played), best)
    verdict = "" if played is None else "Right! " if played == one["best"] else "There is a better move. "
    columns = Line._fields[2:]
    rows = [
        [("* " if line["action"] == played else "") + line["move"], *(line[column] for column in columns)]
        for line in shown["moves"]
    ]
    by_move: dict[str, list[str]] = {}
    for bot, text in one["bots"].items():
        by_move.setdefault(text, []).append(bot)
    lines = [
        f"{verdict}{best['text'].capitalize()} ({describe(one['best'])}).",
        "",
        table(HEADER[1:], rows, left=(0,)),
        "",
        shown["why"],
        "",
        *(f"{text}: {', '.join(bots)}" for text, bots in by_move.items()),
    ]
    return "\n".join(lines)
