"""The commands between our bots and other programs: convert reads an SB3 archive, serve-bot answers lines."""

from __future__ import annotations

import io
import sys
from pathlib import Path
from typing import Annotated

import typer

from gin_env.commands.options import BOT_HELP, flag
from gin_env.support.atomic import check_targets
from gin_env.support.tensor_files import check_ending

app = typer.Typer()


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
