"""The commands that train: exploit finds an approximate best response to one bot, train a strong policy."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import Annotated, Literal

import typer

from gin_env.commands.options import (
    BOT_HELP,
    Json,
    RulesOption,
    Seed,
    flag,
    given_options,
    progress_bar,
    refuse_options,
    say,
    write_outputs,
)
from gin_env.support.atomic import check_folder, check_targets

app = typer.Typer()

MAX_VOID_HANDS = 20
"""Hands of a game that take an acceptable time even if all are void."""


@app.command(
    rich_help_panel="Compare",
    epilog="Examples:  \n`gin-rummy exploit simple`  \n"
    "`gin-rummy exploit tonic --minutes 60 --json tonic.json`  \n"
    "`gin-rummy exploit tonic --minutes 120 --json tonic.json --resume` (an hour more)  \n"
    "`gin-rummy exploit simple:knock_at=4 --decisions 3000000 --seed 2 --run runs/four`  \n"
    "`gin-rummy exploit policy --start policy` (begin with the weights of the bot's first network)  \n"
    "`gin-rummy exploit policy --by search --samples 64` (no training)  \n"
    "`gin-rummy match runs/exploit/simple/policy.safetensors tonic` (the exploiter is a bot)",
)
def exploit(
    context: typer.Context,
    bot: Annotated[str, typer.Argument(help=BOT_HELP)],
    by: Annotated[
        Literal["ppo", "search"], typer.Option(help="Method: train an opponent by PPO, or look ahead")
    ] = "ppo",
    samples: Annotated[int, typer.Option(min=2, help="Number of worlds for a decision of the search")] = 64,
    minutes: Annotated[float, typer.Option(help="Minutes of training; with --resume, the total")] = 6.0,
    decisions: Annotated[
        int | None, typer.Option(min=1, help="Number of decisions to train on, instead of minutes")
    ] = None,
    start: Annotated[
        str | None,
        typer.Option(
            help="Candidate policy whose weights the training starts from, instead of random ones: "
            "a .safetensors file, or a bundled one: `policy`, `policy-1` or `policy-memory`"
        ),
    ] = None,
    rules: RulesOption = None,
    seed: Seed = 1,
    games: Annotated[
        int | None,
        typer.Option(help="Number of games in the match, even", show_default="10,000; search: 2,000"),
    ] = None,
    run: Annotated[
        Path | None, typer.Option(help="Folder for the training, new or empty; default: runs/exploit/BOT")
    ] = None,
    workers: Annotated[int, typer.Option(min=1, help="Number of processes that train or search")] = 2,
    resume: Annotated[
        bool, flag("--resume", "Continue the training in the folder, with its settings")
    ] = False,
    json: Json = None,
) -> None:
    """Find an opponent that beats one frozen bot; its win rate is a lower bound on the bot's exploitability.

    By PPO, a learner trains against this bot alone, as in `gin-rummy train`, then plays a match on new
    decks. Longer training may win more. After Ctrl-C, continue with --resume. By search, nothing is trained:
    the bot `search` looks ahead and knows what this bot would do.

    Under rules by which weak players hardly ever win a hand, such as straight gin, a game lasts up to 1,000
    hands, and matches take hours: shorten games with `--rules straight,max_hands=20`.
    """
    check_targets(json)
    from gin_env import agents
    from gin_env.matches.matches import check_games
    from gin_env.training import exploiter, ppo

    games = check_games((2000 if by == "search" else 10_000) if games is None else games)
    if by == "search":
        refuse_options(
            context, "--by search trains nothing", "minutes", "decisions", "start", "run", "resume"
        )
        with progress_bar(games, "game") as progress:
            bound = exploiter.play_search(bot, games, samples, seed, workers, rules, progress.update)
        say(f"search with {samples} worlds, seed {seed}: {bound}", json)
        write_outputs((json, bound.save))
        return
    refuse_options(context, "--by ppo samples no worlds", "samples")
    folder = exploiter.folder_of(bot) if run is None else run
    check_folder(folder)
    if bot.startswith("process:"):
        typer.echo("a program decides one position at a time, so this will be slow", err=True)
    agents.make(bot, programs=True)  # raises before the folder is made
    if rules is not None and rules.max_hands > MAX_VOID_HANDS and exploiter.are_hands_void(bot, rules):
        typer.echo(
            f"most hands of {bot} against itself are void: as long as the exploiter wins none, a game lasts "
            f"{rules.max_hands:,} hands and a match may take hours; "
            f"--rules {rules.text},max_hands={MAX_VOID_HANDS} shortens games",
            err=True,
        )
    wanted = {"minutes": minutes, "decisions": decisions, "start": start, "seed": seed, "rules": rules}
    others = {name: wanted[name] for name in given_options(context, *wanted)}
    if "decisions" in others or "minutes" in others:
        others["total_timesteps"] = others.pop("decisions", 0)
    if rules is not None:
        others["rules"] = (rules.text,)
    settings = exploiter.settings_against(bot, folder, workers=workers, resume=resume, **others)
    again = f"gin-rummy exploit {shlex.quote(bot)} --run {shlex.quote(str(folder))} --resume"
    again += f" --workers {workers} --games {games}"
    again += "" if json is None else f" --json {shlex.quote(str(json))}"
    result = exploiter.play_exploiter(ppo.train(settings, again), games, progress=True)
    spent = "{minutes:g} minutes, {decisions:,} decisions, seed {seed}".format(**result.method)
    say(f"{spent}: {result}", json)
    say(f"the exploiter is in {result.method['policy']}", json)
    write_outputs((json, result.save))


@app.command(
    rich_help_panel="Train",
    add_help_option=False,
    context_settings={"ignore_unknown_options": True},
    epilog="Examples:  \n`gin-rummy train --minutes 6 --run runs/first`  \n"
    "`gin-rummy train --run runs/first --resume --minutes 60`  \n"
    "`gin-rummy train generations --folder runs/quick --generations 2`  \n"
    "`gin-rummy train --help` (all settings)",
)
def train(
    arguments: Annotated[
        list[str] | None,
        typer.Argument(help="Settings of the training, or `generations` and settings of the loop"),
    ] = None,
) -> None:
    """Train a policy by masked PPO and self-play, or by the generational loop (`train generations`).

    The policy in `RUN/policy.safetensors` is a bot by its path. You can stop a run at any time and continue
    it with `--resume`.
    """
    import os

    os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")  # waiting threads sleep; read when torch is imported
    try:
        from gin_env.training import ppo, runs
        from gin_env.training.generations import loop as generations
    except ImportError as error:
        raise ImportError('training needs PyTorch: pip install "gin-env[train]"') from error
    words = arguments or []
    if words[:1] == ["generations"]:
        about = generations.Options.__doc__
        generations.climb(generations.read_command("gin-rummy train generations", about, words[1:]))
    else:
        ppo.train(runs.read_command("gin-rummy train", ppo.PPOSettings.__doc__, words)).announce()
