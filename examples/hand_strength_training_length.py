"""How long should a hand-strength network train? The error keeps falling, the player does not get better.

    python examples/hand_strength_training_length.py                         # about ten minutes of one core
    python examples/hand_strength_training_length.py --seeds 1 --games 400 --longest 400000  # a first look

Dual Inception (paper 002) learns from last hands at a constant rate and is measured on the way: mean squared
error of validation, and games won against the Simple player. Written to the folder as ``training_length.csv``
and ``training_length.png``. Needs `pip install "gin-env[train]"`.
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer
from tqdm import tqdm

from gin_env.support.atomic import check_folder, save_figure, write_csv
from gin_env.support.exits import one_line_errors
from gin_env.support.plots import import_matplotlib
from gin_env.training.hand_strength import recipes
from gin_env.training.hand_strength.selection import validation_win_rate
from gin_env.training.hand_strength.trainer import Schedule, Settings, Trainer

CONSTANT_RATE = Schedule(epochs=1000, batch_size=64, learning_rate=1e-3, decay=1.0, decay_every=1000)


def measure(
    architecture: str, data_set: str, seed: int, longest: int, games: int, observations: int, data: Path
) -> list[dict[str, object]]:
    """A row after each epoch up to `longest` states seen, in steps of a factor of about 1.5."""
    states = recipes.load_or_generate(data, data_set, observations=observations)
    trainer = Trainer(states, Settings(architecture, CONSTANT_RATE, seed=seed))
    rows: list[dict[str, object]] = []
    following = 0.0
    with tqdm(
        total=longest, unit="state", desc=f"{architecture}, {data_set}, seed {seed}", leave=False
    ) as bar:
        while bar.n < longest:
            trainer.run_epoch(bar.update)
            if bar.n >= min(following, longest):
                following = 1.5 * bar.n
                rows.append(
                    {
                        "data_set": data_set,
                        "seed": seed,
                        "states_seen": bar.n,
                        "validation_loss": round(trainer.validation_losses[-1], 2),
                        "games_won": round(100 * validation_win_rate(trainer, games), 2),
                    }
                )
    return rows


def draw(rows: list[dict[str, object]], path: Path) -> None:
    """Error and games won by states seen, a line for each network."""
    figure = import_matplotlib()[0](figsize=(9, 3.6), layout="constrained")
    panels = figure.subplots(1, 2)
    names = sorted({str(row["data_set"]) for row in rows})
    for name, colour in zip(names, ("tab:blue", "tab:orange", "tab:green"), strict=False):
        for seed in sorted({int(str(row["seed"])) for row in rows}):
            mine = [row for row in rows if (row["data_set"], row["seed"]) == (name, seed)]
            seen = [row["states_seen"] for row in mine]
            label = name if seed == 0 else None
            panels[0].plot(
                seen, [row["validation_loss"] for row in mine], color=colour, marker=".", label=label
            )
            panels[1].plot(seen, [row["games_won"] for row in mine], color=colour, marker=".", label=label)
    panels[0].set(xscale="log", xlabel="states seen", ylabel="mean squared error of validation")
    panels[1].set(xscale="log", xlabel="states seen", ylabel="games won against simple, %")
    panels[1].axhline(50, color="grey", linewidth=0.8)
    for panel in panels:
        panel.tick_params(axis="x", which="minor", labelbottom=False)
    panels[0].legend()
    save_figure(figure, path, dpi=120)


def main(
    data_sets: Annotated[str, typer.Option(help="Data sets, separated by commas.")] = "random-16,random-256",
    architecture: Annotated[str, typer.Option(help="The network.")] = "dual-inception",
    seeds: Annotated[int, typer.Option(min=1, help="Networks of each kind.")] = 3,
    longest: Annotated[int, typer.Option(min=1, help="States that each sees at least.")] = 3_200_000,
    games: Annotated[int, typer.Option(min=2, help="Games of each measurement.")] = 2000,
    observations: Annotated[
        int, typer.Option(min=2, help="States of each data set; an epoch is four fifths of them.")
    ] = recipes.OBSERVATIONS,
    data: Annotated[Path, typer.Option(help="Folder of data sets.")] = Path("runs/hand_strength"),
    folder: Annotated[Path, typer.Option(help="Where table and picture go.")] = Path(
        "runs/hand_strength/figures"
    ),
) -> None:
    """Measure error and play during training."""
    import torch

    torch.set_num_threads(1)
    import_matplotlib()
    folder.mkdir(parents=True, exist_ok=True)
    check_folder(folder)
    rows: list[dict[str, object]] = []
    for data_set in data_sets.split(","):
        for seed in range(seeds):
            rows += measure(architecture, data_set, seed, longest, games, observations, data)
            typer.echo(
                f"{data_set}, seed {seed}: {rows[-1]['games_won']} % won "
                f"after {rows[-1]['states_seen']:,} states"
            )
    write_csv(folder / "training_length.csv", rows[0].keys(), [row.values() for row in rows])
    draw(rows, folder / "training_length.png")
    typer.echo(f"written to {folder}")


if __name__ == "__main__":
    with one_line_errors("hand_strength_training_length.py"):
        typer.run(main)
