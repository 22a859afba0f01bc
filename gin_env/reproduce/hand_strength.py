"""Paper 002's Table 1: hand-strength networks trained and played here; other players, length of training.

002: the data-driven hand-strength evaluation with convolutional networks (EAAI 2021 Gin Rummy challenge).
Data sets and networks are kept in the run's folder and used again if it is stopped.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from gin_env.agents.hand_strength.bots import OffensiveBot
from gin_env.agents.hand_strength.weights import load_network, save_network
from gin_env.reproduce.experiments import Experiment, Row, Run, by, interval, markdown, match_row, percent
from gin_env.support.atomic import save_figure
from gin_env.support.plots import BLUE, GREEN, ORANGE, new_figure, sign_figure
from gin_env.training.hand_strength import recipes
from gin_env.training.hand_strength.data_sets import DataSet

CONFIDENCE = 0.9
"""The paper's."""
TABLE = {
    "mlp-simple": (87.4, 87.7, 42.9, 0.8),
    "mlp-i-simple": (90.8, 91.4, 43.6, 0.8),
    "dual-inception-simple": (79.1, 79.8, 45.8, 0.8),
    "mlp-random-16": (159.0, 159.4, 44.0, 0.8),
    "mlp-i-random-16": (149.2, 150.0, 42.3, 0.8),
    "dual-inception-random-16": (83.0, 83.0, 50.1, 0.8),
    "mlp-random-256": (106.1, 107.4, 48.1, 0.8),
    "mlp-i-random-256": (106.4, 107.8, 45.8, 0.7),
    "dual-inception-random-256": (74.8, 75.7, 55.4, 0.8),
    "mlp-simple-all-stages": (153.7, 154.5, 34.3, 0.7),
    "mlp-i-simple-all-stages": (153.5, 155.7, 29.3, 0.6),
    "dual-inception-simple-all-stages": (144.1, 146.5, 19.7, 0.6),
    "dual-inception-random-16-augmented": (181.7, 181.4, 42.8, 0.8),
    "dual-inception-16-random-16-augmented": (132.6, 132.0, 51.2, 0.8),
}
"""Table 1: training loss, validation loss, games won in per cent against Simple, half its interval."""
CANDIDATES = 5
"""Networks of each kind."""


# --- Table 1 --------------------------------------------------------------------------------------------


def data_set(run: Run, name: str, stages: str = "last", observations: int = recipes.OBSERVATIONS) -> DataSet:
    """The data set of a name, generated once in the run's folder; in a quick run 500 observations."""
    observations = run.size(observations, 500)
    run.say(f"data {name}, {observations:,} states")
    run.used(*(("random-discard", "simple") if name.startswith("random") else ("simple",)))
    run.estimators += [recipes.ESTIMATOR] * (recipes.ESTIMATOR not in run.estimators)
    return recipes.load_or_generate(
        run.folder / "data", name, stages, observations=observations, seed=run.seed
    )


def measure_table_1(run: Run) -> list[Row]:
    """Every network of Table 1 and ours: `CANDIDATES` trained, the best by validation games played."""
    import torch

    from gin_env.training.hand_strength.selection import VALIDATION_GAMES, train_best
    from gin_env.training.hand_strength.trainer import Settings, find_schedule

    torch.set_num_threads(1)
    epochs = 1 if run.quick else None
    rows = []
    for name in run.some(list(recipes.TABLE_1), 1):
        recipe = recipes.find_recipe(name)
        states = data_set(run, recipe.data_set, recipe.stages)
        path = run.folder / f"{name}.safetensors"
        if not path.exists():
            run.say(f"training {name}")
            settings = Settings(
                recipe.architecture,
                find_schedule("fast", epochs),
                recipe.augmented,
                run.seed,
                recipe.independently,
            )
            trainer, compared = train_best(
                states, settings, run.size(CANDIDATES, 2), run.size(VALIDATION_GAMES, 20)
            )
            described = recipes.provenance(name, trainer, "fast", epochs, compared)
            save_network(path, trainer.network, described)
        bot = OffensiveBot(str(path))
        bot.name = f"offensive with {name}"
        match = run.match(bot, "simple", 10_000)
        low, high = match.confidence_interval(CONFIDENCE)
        rows.append(
            match_row(match)
            | {"network": name, "low": percent(low), "high": percent(high)}
            | describe_network(path)
        )
    return rows


def describe_network(path: Path) -> Row:
    """What the file of a network says about its training."""
    network, training = load_network(path)
    return {
        "parameters": network.parameter_count,
        "states": training["data"]["observations"],
        "train_losses": [round(loss, 3) for loss in training["train_losses"]],
        "validation_losses": [round(loss, 3) for loss in training["validation_losses"]],
        "candidates_won": [percent(candidate["win_rate"]) for candidate in training["candidates"]],
    }


def table_1(rows: Sequence[Row]) -> str:
    """Table 1, paper and ours side by side."""
    lines = []
    for row in rows:
        paper = TABLE.get(row["network"])
        theirs = (f"{paper[0]}", f"{paper[1]}", f"{paper[2]} ± {paper[3]}") if paper else ("", "", "")
        rates = row["candidates_won"]
        lines.append(
            (
                f"`{row['network']}`",
                f"{row['train_losses'][-1]:.1f}",
                theirs[0],
                f"{row['validation_losses'][-1]:.1f}",
                theirs[1],
                f"{np.median(rates):.1f} ({min(rates):.1f} to {max(rates):.1f})",
                interval(row, 1),
                theirs[2],
            )
        )
    header = [
        "network and data", "train loss", "paper", "validation loss", "paper",
        "all five: games won, median (lowest to highest)",
        "the best, selected by games: games won (90 % interval)", "paper",
    ]  # fmt: skip
    return markdown(header, lines)


DATA_TITLES = {"simple": "Simple", "random-16": "Random-16", "random-256": "Random-256"}
COLOURS = {"mlp": BLUE, "mlp-i": ORANGE, "dual-inception": GREEN}


def draw_losses(rows: Sequence[Row], path: Path, origin: str) -> None:
    """Figure 4: training and validation loss by epoch."""
    figure, [axes] = new_figure(4 * len(DATA_TITLES), 3.4, columns=len(DATA_TITLES))
    found = by(rows, "network")
    for panel, (name, title) in zip(axes, DATA_TITLES.items(), strict=True):
        for architecture, colour in COLOURS.items():
            row = found.get(f"{architecture}-{name}")
            if row is not None:
                epochs = np.arange(1, len(row["train_losses"]) + 1)
                panel.plot(epochs, row["train_losses"], color=colour, linestyle="-", label=architecture)
                panel.plot(epochs, row["validation_losses"], color=colour, linestyle="--")
        panel.set(xlabel="epoch", ylabel="mean squared error", title=f"{title} (002, Figure 4)")
        if panel.has_data():
            panel.legend(fontsize=8, title="dashed: validation", title_fontsize=8)
    sign_figure(figure, origin)
    save_figure(figure, path, dpi=150)


# --- Players, training length, data -------------------------------------------------------------------------

PLAYERS = {
    "defensive-paper": 10_000,
    **{f"balanced:network=dual-inception-random-256,risk_weight={w}": 10_000 for w in (2, 5, 10, 20)},
    "offensive-paper:average_suits=true": 1000,
    "offensive-paper": 20_000,
}
"""Bot -> games against Simple; averaging takes each decision 24 times."""


def measure_players(run: Run) -> list[Row]:
    """Defence alone, both scores together, the network without names of suits."""
    return [match_row(run.match(bot, "simple", games)) for bot, games in PLAYERS.items()]


def players_table(rows: Sequence[Row]) -> str:
    """A row for each player."""
    lines = [(f"`{row['bot']}`", f"{row['games']:,}", interval(row)) for row in rows]
    return markdown(["bot", "games", "won against `simple` (95 % interval)"], lines, "lr")


LONGEST = 3_200_000


def measure_training_length(run: Run) -> list[Row]:
    """Dual Inception at a constant rate: error and play along the way, in steps of a factor of about 1.5."""
    import torch

    from gin_env.training.hand_strength.selection import validation_win_rate
    from gin_env.training.hand_strength.trainer import Schedule, Settings, Trainer

    torch.set_num_threads(1)
    constant = Schedule(epochs=1000, batch_size=64, learning_rate=1e-3, decay=1.0, decay_every=1000)
    rows: list[Row] = []
    for name in run.some(["random-16", "random-256"], 1):
        states = data_set(run, name)
        for seed in range(run.size(2, 1)):
            trainer = Trainer(states, Settings("dual-inception", constant, seed=seed))
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
                        {
                            "data_set": name,
                            "seed": seed,
                            "states_seen": seen,
                            "validation_loss": round(trainer.validation_losses[-1], 2),
                            "won": percent(validation_win_rate(trainer, run.size(2000, 20))),
                        }
                    )
    return rows


def training_length_table(rows: Sequence[Row]) -> str:
    """A column for each network: validation error, games won."""
    columns = list(dict.fromkeys((row["data_set"], row["seed"]) for row in rows))
    found = {(row["data_set"], row["seed"], row["states_seen"]): row for row in rows}
    lines = []
    for seen in sorted({row["states_seen"] for row in rows}):
        cells = [found.get((*column, seen)) for column in columns]
        texts = [f"{row['validation_loss']:.1f}; {row['won']:.1f} %" if row else "" for row in cells]
        lines.append([f"{seen:,}", *texts])
    header = [f"{name}, network {seed + 1}: error; games won" for name, seed in columns]
    return markdown(["states seen", *header], lines, "r")


def draw_training_length(rows: Sequence[Row], path: Path, origin: str) -> None:
    """Error and games won by states seen, a line for each network."""
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
    sign_figure(figure, origin)
    save_figure(figure, path, dpi=120)


EXPERIMENTS = [
    Experiment(
        "002/table-1",
        "Networks of paper 002's Table 1, and ours",
        measure_table_1,
        table_1,
        games=10_000,
        time="half an hour",
        pictures={"hand_strength/figure_4.png": draw_losses},
    ),
    Experiment(
        "002/players",
        "Defensive, balanced and offensive players",
        measure_players,
        players_table,
        games=10_000,
    ),
    Experiment(
        "002/training-length",
        "Error and play against the length of training",
        measure_training_length,
        training_length_table,
        games=2000,
        time="ten minutes",
        pictures={"hand_strength/training_length.png": draw_training_length},
    ),
]
