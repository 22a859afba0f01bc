"""The command for matches of language models: arena."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from gin_env.batch import Episode
from gin_env.commands.options import (
    Confidence,
    Hands,
    Json,
    Record,
    RulesOption,
    SecretSeed,
    progress_bar,
    say,
    say_written,
)
from gin_env.support.atomic import check_targets

if TYPE_CHECKING:
    from gin_env.matches.matches import MatchResult
    from gin_env.wrappers.chat import ChatBot

app = typer.Typer()

PLAYER_HELP = (
    "A language model as MODEL@URL, such as `qwen3@http://localhost:8000/v1` (any server with "
    "/chat/completions), or a bot as in `gin-rummy match`"
)
Price = Annotated[
    str | None, typer.Option(metavar="INPUT/OUTPUT", help="Prices per million tokens, such as `0.5/1.5`")
]

_COLUMNS = {
    "player": "player",
    "won": "won",
    "points_per_hand": "points a hand",
    "decisions": "decisions",
    "illegal_answers": "illegal answers",
    "replaced_actions": "played at random",
    "input_tokens": "tokens read",
    "output_tokens": "tokens written",
    "cost": "cost",
}
"""The columns of the table and their headings."""


@app.command(
    rich_help_panel="Compare",
    epilog="Examples:  \n`gin-rummy arena qwen3@http://localhost:8000/v1 simple --games 20 --hands`  \n"
    "`gin-rummy arena small@https://A/v1 large@https://B/v1 --games 10 --price-a 0.1/0.4 --price-b 2/8 "
    "--answers answers.jsonl --record games.jsonl --json table.json`  \n"
    "Keys are read from ARENA_KEY_A and ARENA_KEY_B; api.openai.com also takes OPENAI_API_KEY.",
)
def arena(
    a: Annotated[str, typer.Argument(help=PLAYER_HELP)],
    b: Annotated[str, typer.Argument(help="Its opponent")],
    games: Annotated[
        int, typer.Option(help="Number of games, even: each deal is played from both seats")
    ] = 20,
    seed: SecretSeed = None,
    hands: Hands = False,
    rules: RulesOption = None,
    attempts: Annotated[
        int,
        typer.Option(
            help="Number of answers per decision; if all are illegal, a random legal action is played"
        ),
    ] = 3,
    parallel: Annotated[int, typer.Option(help="Number of questions asked in parallel")] = 8,
    price_a: Price = None,
    price_b: Price = None,
    answers: Annotated[
        Path | None,
        typer.Option(
            help="Save every answer to this file; the same command continues without repeating questions"
        ),
    ] = None,
    confidence: Confidence = 0.95,
    json: Json = None,
    record: Record = None,
) -> None:
    """Play language models behind chat interfaces against each other or against bots, on duplicate deals.

    Counts illegal answers, tokens and costs.
    """
    from gin_env import agents
    from gin_env.game.streams import fresh_seed
    from gin_env.matches.matches import check_confidence, check_games, play_match
    from gin_env.support.files import write_json
    from gin_env.wrappers.chat import AnswerFile, ChatBot, without_password

    check_confidence(confidence)
    check_targets(json, record)
    check_games(games)
    for text in (a, b):
        if _split(text)[1] is None:
            agents.make(text, programs=True)
    prices = [_parse_price(price) for price in (price_a, price_b)]
    episode: Episode = "hand" if hands else "game"
    shown = [without_password(a), without_password(b)]
    setting: dict[str, Any] = {
        "players": shown,
        "games": games,
        "episode": episode,
        "attempts": attempts,
        "seed": seed,
    }
    if rules is not None:
        setting["rules"] = rules.text
    file = None
    if answers is not None:
        known = AnswerFile.setting_of(answers) or {}
        setting["seed"] = seed = known.get("seed", fresh_seed()) if seed is None else seed
        file = AnswerFile(answers, setting)
    names = _names(*shown)
    players: list[str | ChatBot] = []
    for text, name, letter in zip((a, b), names, "AB", strict=True):
        model, url = _split(text)
        if url is None:
            players.append(text)
            continue
        key = os.environ.get(f"ARENA_KEY_{letter}")
        players.append(
            ChatBot(model, url, attempts=attempts, parallel=parallel, answers=file, key=key, name=name)
        )
    with progress_bar(games, episode) as progress:
        result = play_match(
            players[0],
            players[1],
            games,
            seed,
            episode=episode,
            rules=rules,
            progress=progress.update,
            record=record,
        )
    rows = [
        _row(result, index, player if isinstance(player, ChatBot) else None, prices[index])
        for index, player in enumerate(players)
    ]
    say(result.summary(confidence), json)
    say(format_table(rows), json)
    if json is not None:
        write_json(json, {"players": rows, "match": result.as_dict(confidence, deals=True)})
        say_written(json)


def _split(text: str) -> tuple[str, str | None]:
    """Return (model, address) for a language model, (text, None) for a bot."""
    for scheme in ("@http://", "@https://"):
        if scheme in text:
            model, _, address = text.partition(scheme)
            return model, scheme[1:] + address
    return text, None


def _names(a: str, b: str) -> tuple[str, str]:
    """Return the models' names, with their addresses if both names are the same."""
    first, second = _split(a)[0], _split(b)[0]
    if first != second:
        return first, second
    return (a, b) if a != b else (f"{a} (A)", f"{b} (B)")


def _parse_price(text: str | None) -> tuple[float, float] | None:
    if text is None:
        return None
    try:
        input_price, output_price = map(float, text.split("/"))
    except ValueError:
        raise ValueError(
            f"a price must be INPUT/OUTPUT per million tokens, such as 0.5/1.5, not {text!r}"
        ) from None
    return input_price, output_price


def _row(
    result: MatchResult, index: int, bot: ChatBot | None, price: tuple[float, float] | None
) -> dict[str, Any]:
    """Return a player's row: its result, and for a model its tokens and costs."""
    from gin_env.wrappers.chat import without_password

    row: dict[str, Any] = {
        "player": result.bots[index],
        "won": result.wins[index],
        "points_per_hand": round(result.points_per_hand[index], 2),
    }
    if bot is None:
        return row
    row |= {"model": bot.model, "url": without_password(bot.url)} | bot.usage.counts()
    return row if price is None else row | {"cost": round(bot.usage.cost(*price), 6)}


def format_table(rows: list[dict[str, Any]]) -> str:
    """Return the rows as a Markdown table."""
    lines = [f"| {' | '.join(_COLUMNS.values())} |", "|---|" + "---:|" * (len(_COLUMNS) - 1)]
    for row in rows:
        cells = [row.get(name) for name in _COLUMNS]
        words = [
            "" if cell is None else f"{cell:,}" if isinstance(cell, int) else str(cell) for cell in cells
        ]
        lines.append(f"| {' | '.join(words)} |")
    return "\n".join(lines)
