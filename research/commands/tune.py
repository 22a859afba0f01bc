"""The commands that tune a bot's parameters: ``python -m research tune ...``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from gin_env.commands.options import Json, Resume, RulesOption, progress_bar, resumable, say, write_outputs
from gin_env.support.atomic import check_targets

app = typer.Typer(no_args_is_help=True, rich_markup_mode="markdown")


@app.command(
    "tonic",
    epilog="Examples:  \n"
    "`python -m research tune tonic --csv trials.csv --json tonic.json --plot trials.png --resume`  \n"
    "`python -m research tune tonic --opponent simple --trials 40 --seed 7`",
)
def tune_tonic(
    trials: Annotated[int, typer.Option(help="Number of combinations to try, including the start")] = 100,
    games: Annotated[
        int, typer.Option(help="Number of games per match, even; a trial plays one to nine matches")
    ] = 2000,
    final_games: Annotated[int, typer.Option(help="Number of games per match of the finalists")] = 20_000,
    finalists: Annotated[int, typer.Option(help="Number of best trials that play again on new decks")] = 5,
    seed: Annotated[int, typer.Option(help="Random seed of combinations and decks")] = 1,
    opponent: Annotated[
        list[str] | None,
        typer.Option(help="Opponent; can be repeated; default: the three of Larkin et al. 2021"),
    ] = None,
    start: Annotated[str, typer.Option(help="Bot to start from and to beat")] = "tonic-paper",
    rules: RulesOption = None,
    csv: Annotated[Path | None, typer.Option(help="CSV file of the trials, written during the run")] = None,
    json: Json = None,
    plot: Annotated[Path | None, typer.Option(help="Picture of the trials to write (.png)")] = None,
    resume: Resume = False,
) -> None:
    """Search the increments of Tonic's estimator and its knock thresholds by turn."""
    from gin_env.support.plots import check_picture, origin_line
    from research.recipes import tonic

    check_targets(csv, json, plot)
    if plot is not None:
        check_picture(plot)
    opponents = tuple(opponent or tonic.OPPONENTS)
    with resumable(resume, json, csv, plot) as log:
        with progress_bar(trials + finalists + 1, "trial") as progress:
            result = tonic.tune_tonic(
                trials,
                games,
                seed,
                opponents=opponents,
                start=start,
                finalists=finalists,
                final_games=final_games,
                rules=rules,
                trials_csv=csv,
                progress=progress.update,
                log=log,
            )
        for title, candidates in (
            ("Finalists", result.finalists),
            ("Verdict, on other decks", result.verdict),
        ):
            say(f"\n{title}: games won in per cent, {final_games:,} against each opponent\n", json)
            say("   mean " + " ".join(f"{one:>24}" for one in opponents), json)
            for candidate in candidates:
                rates = " ".join(f"{100 * candidate.win_rate(one):24.2f}" for one in opponents)
                say(f"{100 * candidate.mean_win_rate:7.2f} {rates}  {candidate.bot}", json)
        if result.head_to_head is not None:
            say(f"\n{result.head_to_head}", json)
        origin = origin_line(f"{games:,} games a match", seed)
        write_outputs(
            (csv, None),  # written during the search
            (json, result.save),
            (plot, lambda file: tonic.draw_trials(result.trials, games, file, origin)),
        )
