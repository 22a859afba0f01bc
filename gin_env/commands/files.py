"""The commands for files: compile fills the cache, convert reads SB3's archives, serve-bot answers lines."""

from __future__ import annotations

import io
import sys
from pathlib import Path
from typing import Annotated

import typer
from tqdm import tqdm

from gin_env.commands.options import BOT_HELP, flag
from gin_env.support.atomic import check_targets
from gin_env.support.tensor_files import check_ending

app = typer.Typer()


@app.command(
    rich_help_panel="Files",
    epilog="Examples:  \n`gin-rummy compile`  \n"
    "`GIN_ENV_CACHE=/opt/gin-env gin-rummy compile --for-everyone` (when a container is built)",
)
def compile(
    for_everyone: Annotated[
        bool, flag("--for-everyone", "Let all users of this machine read the cache")
    ] = False,
) -> None:
    """Compile the environments, bots and estimators now, in about a minute: later runs start immediately.

    The cache is in ~/.cache/gin-env, or in the folder GIN_ENV_CACHE. Installations of the same release on
    machines with the same kind of processor can share it.
    """
    from gin_env.support.kernel_cache import cache_folder, open_to_readers
    from gin_env.support.workers import Workers

    folder = cache_folder()
    if folder is None:
        raise OSError("the folder of the cache is not writable; set GIN_ENV_CACHE to one that is")
    first, *others = parts()
    use(first)  # what all others need
    with Workers("all") as workers:
        done = workers.map(use, reversed(others))  # search, the slowest, early
        list(tqdm(done, total=len(others), unit="part"))
    if for_everyone:
        open_to_readers(folder)
    typer.echo(f"compiled; cached in {folder}")


def parts() -> list[str]:
    """Return the names of the environments, bots and estimators."""
    from gin_env import agents, estimators

    known = [name for name in estimators.names() if name != "omniscient"]  # no kernels; it needs both hands
    return ["environments", *agents.names(), *agents.paper_names(), *known]


def use(name: str) -> None:
    """Use a part for a moment. Does nothing if it needs torch and torch is not installed."""
    from gin_env import agents
    from gin_env.matches.matches import play_match

    try:
        if name == "environments":
            _environments()
        elif name in (*agents.names(), *agents.paper_names()):
            play_match(name, "simple", 2, episode="hand")
        else:
            _estimate(name)
    except ImportError as error:
        if "torch" not in str(error):
            raise


def _environments() -> None:
    from gin_env.envs.gin_rummy_v0 import raw_env
    from gin_env.envs.vector_env import GinRummyVectorEnv

    env = raw_env(candidates=True)
    env.reset(seed=1)
    for _ in range(40):
        if env.terminations[env.agent_selection]:
            break
        env.step(int(env.observe(env.agent_selection)["action_mask"].argmax()))
    vector = GinRummyVectorEnv(2, candidates=True)
    observations, _ = vector.reset(seed=1)
    for _ in range(20):
        observations, *_ = vector.step(observations["action_mask"].argmax(axis=1))


def _estimate(name: str) -> None:
    from gin_env import estimators
    from gin_env.batch import Games

    games = Games(2)
    games.start(seed=0)
    estimator = estimators.resolve(name)
    for _ in range(6):
        views = games.views(games.everyone)
        estimator.estimate(views)
        games.play(games.everyone, views.masks().argmax(axis=1))


@app.command(
    rich_help_panel="Files",
    epilog="Examples:  \n`gin-rummy convert policy.zip policy.safetensors`  \n"
    "`gin-rummy match policy.safetensors simple`",
)
def convert(
    archive: Annotated[Path, typer.Argument(help="File written by `MaskablePPO.save` (.zip)")],
    output: Annotated[
        Path, typer.Argument(help="File to write (.safetensors); its path is the name of a bot")
    ],
    trust: Annotated[
        bool,
        flag(
            "--trust",
            "Load the archive as Stable-Baselines3 does, which runs any code in it: "
            "only for archives that you would run as a program",
        ),
    ] = False,
) -> None:
    """Write the policy of a Stable-Baselines3 archive to a file that holds no code.

    The archive is read without running anything in it, if its policy is `SB3CandidatePolicy`, `CardPolicy` or
    SB3's `MlpPolicy`. A class of your own that decides like one of the last two needs `--trust`.
    """
    check_ending(output, "a policy")
    check_targets(output)
    from gin_env.agents.policies.sb3_archives import ArchiveError, convert_archive

    if trust:
        from sb3_contrib import MaskablePPO

        from gin_env.wrappers.sb3 import save_policy

        typer.echo(f"--trust: loading {archive} runs any code in it", err=True)
        try:
            model = MaskablePPO.load(archive, device="cpu")
        except Exception as error:  # code in the archive may raise anything
            raise ArchiveError(f"{archive} cannot be loaded as a MaskablePPO model: {error}") from error
        save_policy(model, output)
    else:
        convert_archive(archive, output)
    typer.echo(f"written to {output}")
    typer.echo(f"next: gin-rummy match {output} simple")


@app.command(
    rich_help_panel="Files",
    name="serve-bot",
    epilog="Examples:  \n`gin-rummy serve-bot tonic`  \n"
    '`gin-rummy match simple "process:gin-rummy serve-bot tonic" --games 100`',
)
def serve_bot(bot: Annotated[str, typer.Argument(help=BOT_HELP)]) -> None:
    """Answer for a bot on standard input and output, one JSON object per line, until the input ends.

    An invalid line is answered with an error and changes nothing.
    """
    from gin_env import agents
    from gin_env.agents.protocol import serve

    if isinstance(sys.stdin, io.TextIOWrapper):
        sys.stdin.reconfigure(encoding="utf-8", errors="replace")
    serve(agents.make(bot, programs=True), sys.stdin, sys.stdout)
