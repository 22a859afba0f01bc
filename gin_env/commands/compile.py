"""The command that compiles all kernels: compile."""

from __future__ import annotations

from typing import Annotated

import typer
from tqdm import tqdm

from gin_env.commands.options import flag

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
    from gin_env.commands.warm_up import parts
    from gin_env.support.kernel_cache import cache_folder, open_to_readers

    with tqdm(list(parts()), unit="part", delay=0.5) as bar:  # after the message that kernels are compiled
        for name, use in bar:
            bar.set_description(f"{name:24}")
            use()
    folder = cache_folder()
    if folder is None:
        raise OSError("the folder of the cache is not writable; set GIN_ENV_CACHE to one that is")
    if for_everyone:
        open_to_readers(folder)
    typer.echo(f"compiled; cached in {folder}")
