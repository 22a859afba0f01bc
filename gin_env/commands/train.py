"""The command that trains policies: train."""

from __future__ import annotations

from typing import Annotated

import typer

app = typer.Typer()


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
        import tyro

        from gin_env.training import ppo
        from gin_env.training.generations import program as generations
    except ImportError as error:
        raise ImportError('training needs PyTorch: pip install "gin-env[train]"') from error
    words = arguments or []
    if words[:1] == ["generations"]:
        about = generations.Options.__doc__
        options = tyro.cli(
            generations.Options, prog="gin-rummy train generations", args=words[1:], description=about
        )
        generations.climb(options)
        return
    about = ppo.PPOSettings.__doc__
    settings = tyro.cli(ppo.PPOSettings, prog="gin-rummy train", args=words, description=about)
    ppo.train(settings).announce()
