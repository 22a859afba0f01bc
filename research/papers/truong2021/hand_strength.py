"""Paper 002's data sets, its defensive and balanced players, and results by length of training.

002: the data-driven hand-strength evaluation with convolutional networks (EAAI 2021 Gin Rummy challenge).
Data sets and networks are stored in the run's folder and reused when the run is resumed.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from gin_env.support.plots import BLUE, GREEN, ORANGE, new_figure, save_figure
from research.recipes.hand_strength import recipes
from research.recipes.hand_strength.data_sets import DataSet
from research.reproduce.experiment import Experiment, Row, Run, interval, markdown, match_row, widest

DATA_TITLES = {"simple": "Simple", "random-16": "Random-16", "random-256": "Random-256"}


def data_set(
    run: Run,
    name: str,
    stages: str = "last",
    observations: int = recipes.OBSERVATIONS,
    estimator: str = recipes.ESTIMATOR,
) -> DataSet:
    """Return a data set by name, generated once in the run's folder; 500 observations in a quick run."""
    observations = run.size(observations, 500)
    run.say(f"data {name}, {observations:,} states")
    run.used(*(("random-discard", "simple") if name.startswith("random") else ("simple",)))
    run.estimators += [estimator] * (estimator not in run.estimators)
    return recipes.load_or_generate(
        run.folder / "data", name, stages, estimator=estimator, observations=observations, seed=run.seed
    )


# --- Players, training length -------------------------------------------------------------------------

PLAYERS = {
    "defensive-paper": 10_000,
    **{f"balanced:network=dual-inception-random-256,risk_weight={w}": 10_000 for w in (2, 5, 10, 20)},
    "offensive-paper:average_suits=true": 1000,
    "offensive-paper": 20_000,
}
"""Bot -> games against Simple. Averaging over suits evaluates each decision 24 times."""


def measure_players(run: Run) -> list[Row]:
    """Measure defence alone, both scores together, and the network averaged over the orders of suits."""
    return [match_row(run.match(bot, "simple", games)) for bot, games in PLAYERS.items()]


def players_table(rows: Sequence[Row]) -> str:
    """Return a Markdown table with a row for each player."""
    lines = [(f"`{row['bot']}`", f"{row['games']:,}", interval(row)) for row in rows]
    return markdown(["bot", "games", "won against `simple` (95 % interval)"], lines, "lr")


LONGEST = 3_200_000


def measure_training_length(run: Run) -> list[Row]:
    """Measure error and win rate of Dual Inception during training at a constant learning rate.

    The number of states seen grows by a factor of about 1.5 between measurements.
    """
    from research.recipes.hand_strength.selection import validation_match
    from research.recipes.hand_strength.trainer import HandStrengthSettings, HandStrengthTrainer, Schedule

    constant = Schedule(epochs=1000, batch_size=64, learning_rate=1e-3, decay=1.0, decay_every=1000)
    rows: list[Row] = []
    for name in run.some(["random-16", "random-256"], 1):
        states = data_set(run, name)
        for seed in range(run.size(2, 1)):
            trainer = HandStrengthTrainer(states, HandStrengthSettings("dual-inception", constant, seed=seed))
            epochs: list[int] = []
            seen, following = 0, 0.0
            longest = run.size(LONGEST, 1000)
            while seen < longest:
                trainer.run_epoch(epochs.append)
                seen = sum(epochs)
                if seen >= min(following, longest):
                    following = 1.5 * seen
                    run.say(f"{name}, seed {seed}: {seen:,} states")
                    rows.append(
                        match_row(
                            validation_match(trainer, run.size(2000, 20)),
                            data_set=name,
                            seed=seed,
                            states_seen=seen,
                            validation_loss=round(trainer.validation_losses[-1], 2),
                        )
                    )
    return rows


def training_length_table(rows: Sequence[Row]) -> str:
    """Return a Markdown table with the validation error and games won of each network in a column."""
    columns = list(dict.fromkeys((row["data_set"], row["seed"]) for row in rows))
    found = {(row["data_set"], row["seed"], row["states_seen"]): row for row in rows}
    lines = []
    for seen in sorted({row["states_seen"] for row in rows}):
        cells = [found.get((*column, seen)) for column in columns]
        texts = [f"{row['validation_loss']:.1f}; {row['won']:.1f} %" if row else "" for row in cells]
        lines.append([f"{seen:,}", *texts])
    header = [f"{name}, network {seed + 1}: error; games won" for name, seed in columns]
    return f"{markdown(['states seen', *header], lines, 'r')}\n\n{widest(rows)}".rstrip()


def draw_training_length(rows: Sequence[Row], path: Path, origin: str) -> None:
    """Draw the error and the games won by states seen, with a line for each network."""
    figure, [panels] = new_figure(9, 3.6, columns=2)
    names = sorted({row["data_set"] for row in rows})
    for name, (colour, dash) in zip(names, ((BLUE, "-"), (ORANGE, "--"), (GREEN, "-.")), strict=False):
        for seed in sorted({row["seed"] for row in rows}):
            mine = [row for row in rows if (row["data_set"], row["seed"]) == (name, seed)]
            seen = [row["states_seen"] for row in mine]
            for panel, key in zip(panels, ("validation_loss", "won"), strict=True):
                label = name if seed == 0 else None
                values = [row[key] for row in mine]
                panel.plot(seen, values, color=colour, linestyle=dash, marker=".", label=label)
    panels[0].set(xscale="log", xlabel="states seen", ylabel="mean squared error of validation")
    panels[1].set(xscale="log", xlabel="states seen", ylabel="games won against simple, %")
    panels[1].axhline(50, color="grey", linewidth=0.8)
    for panel in panels:
        panel.tick_params(axis="x", which="minor", labelbottom=False)
    panels[0].legend()
    save_figure(figure, path, dpi=120, origin=origin)


EXPERIMENTS = [
    Experiment(
        "002/players",
        "Defensive, balanced and offensive players",
        measure_players,
        players_table,
        games=10_000,
    ),
    Experiment(
        "002/training-length",
        "Error and games won by length of training",
        measure_training_length,
        training_length_table,
        games=2000,
        time="five minutes",
        pictures={"hand_strength/training_length.png": draw_training_length},
    ),
]
