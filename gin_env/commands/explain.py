"""The command that explains the moves of bots: explain."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from gin_env.commands.options import BOT_HELP, RulesOption, flag, refuse_options

app = typer.Typer()


@app.command(
    rich_help_panel="Play",
    epilog="Examples:  \n"
    '`gin-rummy explain --hand "4C 5C 6C 9H 9S TD QD QH KS 2D" --upcard 9D`  \n'
    '`gin-rummy explain --hand "4C 5C 6C 9H 9S TD QD QH KS 2D 9D" --upcard 9D --bot tonic`  \n'
    '`gin-rummy explain --hand "4C 5C 6C 9H 9S TD QD QH KS 2D" --upcard 8S '
    '--history "pass; pass; draw from the stock; discard KS; draw the upcard; discard 7H" --drew 9D`  \n'
    "`gin-rummy explain --record games.jsonl --game 3 --step 17 --estimator bayes`",
)
def explain(
    context: typer.Context,
    hand: Annotated[
        str | None,
        typer.Option(
            help='The ten cards dealt to you, as in "4C 5C 6C ...": rank, then suit. If you give eleven, you '
            "have just drawn the last one and must discard."
        ),
    ] = None,
    upcard: Annotated[str | None, typer.Option(help="Card turned up at the deal")] = None,
    history: Annotated[
        str | None,
        typer.Option(help="Actions of both players since the deal, in words, separated by semicolons"),
    ] = None,
    drew: Annotated[str, typer.Option(help="The cards that you drew from the stock, in order")] = "",
    you_deal: Annotated[bool, flag("--you-deal", "You dealt, so your opponent acts first")] = False,
    scores: Annotated[str, typer.Option(help="Your score and your opponent's before this hand")] = "0 0",
    rules: RulesOption = None,
    record: Annotated[
        Path | None, typer.Option(help="File of records to take the position from, instead of --hand")
    ] = None,
    game: Annotated[int, typer.Option(min=1, help="Number of the game in the file, from 1")] = 1,
    step: Annotated[
        int, typer.Option(min=1, help="Number of the step in the game, as `gin-rummy replay` counts")
    ] = 1,
    bot: Annotated[
        list[str] | None,
        typer.Option(help=f"{BOT_HELP} Can be given several times; default: every bot that can be loaded"),
    ] = None,
    estimator: Annotated[
        str | None, typer.Option(help="Estimator of the opponent's hand, to add the risk of each discard")
    ] = None,
) -> None:
    """Show what bots would do in a position, and why: deadwood, outs, danger and values of each action."""
    from gin_env import agents, records
    from gin_env.agents.base import HasActionChances, HasActionValues
    from gin_env.ui import opinions
    from gin_env.ui.explanations import bots_text, choices, explanation, legend

    if (record is None) == (hand is None):
        raise ValueError("specify a position with --hand and --upcard, or with --record, --game and --step")
    if record is not None:
        refuse_options(
            context,
            "a record has its own position and rules",
            *("upcard", "history", "drew", "you_deal", "scores", "rules"),
        )
        steps = opinions.decisions(records.read_one(record, game))
        if step > len(steps):
            raise ValueError(f"game {game} of {record} has {len(steps)} steps: step {step} does not exist")
        view = steps[step - 1].view()
    else:
        refuse_options(context, "only games of --record have numbers and steps", "game", "step")
        view = opinions.position_in_text(str(hand), upcard, history or "", drew, you_deal, scores, rules)
    ranked = choices(view, estimator)
    bots: dict[str, agents.Agent] = {}
    played: dict[str, int] = {}
    silent = []
    for name in bot or agents.names():
        try:
            one = agents.make(name, programs=True)
            played[name] = int(opinions.chosen_actions(one, view)[0])
            bots[name] = one
        except (ImportError, ValueError) as error:
            if bot:
                raise  # the user has named it
            silent.append(f"{name} cannot be used: {error}")
    values = {
        name: one.action_values(view)[0] for name, one in bots.items() if isinstance(one, HasActionValues)
    }
    chances = {
        name: one.action_chances(view)[0] for name, one in bots.items() if isinstance(one, HasActionChances)
    }
    typer.echo(f"{view}\n\n{bots_text(played)}\n")
    typer.echo(explanation(ranked, values, chances))
    typer.echo(f"\n{legend(estimator is not None, values, chances)}")
    for line in silent:
        typer.echo(line)
