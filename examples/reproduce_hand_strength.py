"""Paper 002's Table 1 and Figures 2 and 4 to 7: hand-strength networks trained and played here.

    python examples/reproduce_hand_strength.py                  # 200,000 observations, five networks each
    python examples/reproduce_hand_strength.py --observations 50000 --candidates 1    # a first look
    python examples/reproduce_hand_strength.py --observations 1000000 --schedule paper --candidates 1
    python examples/reproduce_hand_strength.py --only dual-inception-random-16,mlp-simple

Data sets and networks are kept in their folders and used again if they are there, so an interrupted run can
be continued. Tables (beside the paper's) are printed and written as Markdown, all figures as JSON, the
pictures as PNG. Needs `pip install "gin-env[train]"`.

002: the data-driven hand-strength evaluation with convolutional networks (EAAI 2021 Gin Rummy challenge).
"""

from __future__ import annotations

import time
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer
from scipy import stats
from tqdm import tqdm

from gin_env import cards, estimators
from gin_env.actions import DRAW_STOCK, PASS
from gin_env.agents import Agent
from gin_env.agents.hand_strength.bots import DEFAULT_NETWORK, BalancedBot, DefensiveBot, OffensiveBot
from gin_env.agents.hand_strength.weights import load_network, save_network
from gin_env.batch import Games
from gin_env.estimators.risk import discard_risks
from gin_env.play.matches import MatchResult, play_match
from gin_env.support.atomic import check_folder, save_figure, write_json, write_text
from gin_env.support.exits import one_line_errors
from gin_env.support.plots import import_matplotlib
from gin_env.training.hand_strength import recipes
from gin_env.training.hand_strength.data_sets import DataSet
from gin_env.training.hand_strength.selection import train_best
from gin_env.training.hand_strength.trainer import Settings, Trainer, find_schedule, predict
from gin_env.views import PlayerView

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

FIGURE_6_HAND = "3C 6C QC 6H 7H AS 5S 7D TD JD"
FIGURE_6_DRAWN = "TH"
FIGURE_6 = {
    "simple": "TD",
    "dual-inception-simple": "TD",
    "dual-inception-simple-all-stages": "3C",
    "dual-inception-random-16": "QC",
    "dual-inception-random-256": "QC",
}
"""What each player discards in Figure 6 (the Simple player: one of the four tens and faces at random)."""

FIGURE_7_ESTIMATE = """
.10 .09   0 .18 .29   1 .55 .61 .49 .33 .44   0 .39
.10 .08 .10 .12 .13   0   0 .33   0   0 .43   0 .48
  0   0 .07 .09   0 .33 .23 .24 .32   0 .33 .30   0
.10 .08 .09 .11   0 .40   0 .31 .46   0   0 .14   0
"""
"""Figure 7a: the opponent's cards; T is 1, F is 0. Rows are clubs, hearts, spades, diamonds."""
FIGURE_7_HAND = "3C 6H 7H 9H TH AS 5S TS 5D 7D TD"
"""Figure 7b; the caption says that it is the opponent's hand, but the scored cards are these."""
FIGURE_7 = {
    "5S": (0.16, -29.9), "AS": (0.01, -32.4), "6H": (0.90, -29.2), "5D": (0.09, -29.4),
    "7H": (0.13, -29.0), "3C": (0.10, -29.4), "7D": (0.40, -29.0), "9H": (0.53, -29.7),
}  # fmt: skip
"""Figure 7c and 7d: defensive and offensive score of each unmelded card."""


def play(bot: Agent, games: int, seed: int) -> dict[str, Any]:
    """Result of a match against the Simple player, with its cost in processor time."""
    play_match(bot, "simple", 2, seed)  # compile first
    with tqdm(total=games, unit="game", desc=bot.name[:40], smoothing=0.1, leave=False) as progress:
        begun = time.process_time()
        result = play_match(bot, "simple", games, seed, progress=progress.update)
        seconds = time.process_time() - begun
    return describe_match(result) | {"milliseconds_per_game": 1000 * seconds / games}


def describe_match(result: MatchResult) -> dict[str, Any]:
    """Win rate and interval in per cent."""
    low, high = result.confidence_interval(CONFIDENCE)
    return {"games": result.games, "win_rate": 100 * result.win_rate, "interval": [100 * low, 100 * high]}


def play_others(network: str, estimator: str, games: int, seed: int) -> dict[str, dict[str, Any]]:
    """Past the paper's tables: defence alone, both scores together, the network without names of suits."""
    bots: dict[str, Agent] = {"defensive": DefensiveBot(estimator)}
    for weight in (2, 5, 10, 20):
        bots[f"balanced, risk_weight={weight}"] = BalancedBot(network, risk_weight=weight)
    rows = {label: play(bot, games, seed) for label, bot in bots.items()}
    fewer = max(games // 20 * 2, 2)  # each decision is taken 24 times
    rows["offensive, average_suits=true"] = play(OffensiveBot(network, average_suits=True), fewer, seed)
    return rows


def prepare(
    name: str,
    networks: Path,
    data: Path,
    settings: dict[str, Any],
    schedule: str,
    epochs: int | None,
    seed: int,
    candidates: int,
) -> tuple[Path, DataSet]:
    """Train networks of this name and keep the best, unless its file exists; return it and its data set."""
    recipe = recipes.find_recipe(name)
    with tqdm(total=settings["observations"], unit="state", desc=f"data for {name}", leave=False) as progress:
        states = recipes.load_or_generate(
            data, recipe.data_set, recipe.stages, progress=progress.update, **settings
        )
    path = networks / f"{name}.safetensors"
    if not path.exists():
        plan = find_schedule(schedule, epochs)
        begun = time.process_time()
        with tqdm(unit="state", desc=f"training {name}", leave=False) as progress:
            trainer, compared = train_best(
                states,
                Settings(recipe.architecture, plan, recipe.augmented, seed),
                candidates,
                progress=progress.update,
            )
        provenance = recipes.provenance(name, trainer, schedule, epochs, compared)
        save_network(path, trainer.network, provenance | {"seconds": round(time.process_time() - begun, 1)})
    return path, states


# --- Tables -------------------------------------------------------------------------------------------


def table_1(rows: dict[str, dict[str, Any]]) -> str:
    """Table 1, paper and ours side by side."""
    lines = [
        "| network and data | train loss | paper | validation loss | paper | "
        "networks trained: won %, median (lowest to highest) | "
        "best of them: games won % (90 % interval) | paper |",
        "|---|---|---|---|---|---|---|---|",
    ]
    for name, row in rows.items():
        paper = TABLE.get(name)
        theirs = (f"{paper[0]}", f"{paper[1]}", f"{paper[2]} ± {paper[3]}") if paper else ("", "", "")
        low, high = row["interval"]
        rates = row["validation_win_rates"]
        cells = (
            f"`{name}`",
            f"{row['train_loss']:.1f}",
            theirs[0],
            f"{row['validation_loss']:.1f}",
            theirs[1],
            f"{np.median(rates):.1f} ({min(rates):.1f} to {max(rates):.1f})",
            f"{row['win_rate']:.1f} ({low:.1f} to {high:.1f})",
            theirs[2],
        )
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines) + "\n"


def figure_6_view() -> PlayerView:
    """The position of Figure 6 in the first turn: ten cards, both passed, one drawn from the stock."""
    own = cards.parse(FIGURE_6_HAND)
    drawn = cards.card_id(FIGURE_6_DRAWN)
    others = [card for card in range(cards.NUM_CARDS) if not own >> card & 1 and card != drawn]
    opponent, upcard = others[::4][:10], others[1]
    dealt = [card for pair in zip(cards.cards_of(own), opponent, strict=True) for card in pair]
    stock = [card for card in others if card not in opponent and card != upcard]
    games = Games(1)
    table = games.everyone
    games.start(table, np.zeros(1, np.uint64), np.zeros(1, np.uint64))
    games.set_deck(0, [*dealt, upcard, drawn, *stock], dealer=1)
    for action in (PASS, PASS, DRAW_STOCK):
        games.play(table, np.array([action]))
    return games.views(table)


def figure_6(networks: dict[str, Path]) -> dict[str, dict[str, str]]:
    """What each network of Figure 6 discards, beside the paper's."""
    view = figure_6_view()
    rows = {}
    for name, theirs in FIGURE_6.items():
        if name in networks:
            action = int(OffensiveBot(str(networks[name])).act(view)[0])
            rows[name] = {"paper": theirs, "ours": cards.card_text(action % cards.NUM_CARDS)}
    return rows


def figure_7_estimate() -> np.ndarray:
    """float32 (1, 52): Figure 7a."""
    return np.array(FIGURE_7_ESTIMATE.split(), np.float32)[None]


def figure_7(network: Path) -> dict[str, dict[str, float]]:
    """Defensive and offensive scores of the position of Figure 7, beside the paper's."""
    estimate = figure_7_estimate()
    hand = cards.parse(FIGURE_7_HAND)
    ids = np.array([cards.card_id(text) for text in FIGURE_7])
    left = np.array([hand & ~(1 << int(card)) for card in ids], np.uint64)
    values = OffensiveBot(str(network)).hand_values(estimate, np.zeros(len(ids), np.int64), left)
    risks = discard_risks(estimate)[0, ids]
    return {
        text: {"paper_risk": paper[0], "risk": float(risk), "paper_value": paper[1], "value": float(value)}
        for (text, paper), risk, value in zip(FIGURE_7.items(), risks, values, strict=True)
    }


def markdown_of(rows: dict[str, dict[str, Any]], first: str) -> str:
    """A table of rows that have the same keys."""
    columns = list(next(iter(rows.values())))
    lines = [
        f"| {first} | " + " | ".join(column.replace("_", " ") for column in columns) + " |",
        "|---" * (len(columns) + 1) + "|",
    ]
    for name, row in rows.items():
        cells = [text_of(row[key]) for key in columns]
        lines.append(f"| {name} | {' | '.join(cells)} |")
    return "\n".join(lines) + "\n"


def text_of(value: object) -> str:
    """A number, an interval or a word as it stands in a table."""
    if isinstance(value, float):
        return f"{value:.2f}"
    return " to ".join(map(text_of, value)) if isinstance(value, list) else str(value)


# --- Pictures -----------------------------------------------------------------------------------------

DATA_TITLES = {"simple": "Simple", "random-16": "Random-16", "random-256": "Random-256"}
COLOURS = {"mlp": "tab:blue", "mlp-i": "tab:orange", "dual-inception": "tab:green"}


def new_figure(columns: int) -> tuple[Any, Any]:
    """A figure with `columns` panels side by side."""
    figure = import_matplotlib()[0](figsize=(4 * columns, 3.4), layout="constrained")
    return figure, figure.subplots(1, columns, squeeze=False)[0]


def draw_scores(data: dict[str, DataSet], path: Path) -> None:
    """Figure 2: distribution of scores in the data sets."""
    figure, axes = new_figure(1)
    for name, states in data.items():
        label = f"{DATA_TITLES[name]}: {states.scores.mean():.1f} ± {states.scores.std():.1f}"
        axes[0].hist(states.scores, bins=np.arange(-90, 100, 4), density=True, histtype="step", label=label)
    axes[0].set(xlabel="score", ylabel="density", title="Scores (002, Figure 2)")
    axes[0].legend(fontsize=8)
    save_figure(figure, path, dpi=150)


def draw_losses(networks: dict[str, Path], path: Path) -> None:
    """Figure 4: training and validation loss by epoch."""
    figure, axes = new_figure(len(DATA_TITLES))
    for panel, (data_set, title) in zip(axes, DATA_TITLES.items(), strict=True):
        for architecture, colour in COLOURS.items():
            name = f"{architecture}-{data_set}"
            if name not in networks:
                continue
            _, training = load_network(networks[name])
            epochs = np.arange(1, len(training["train_losses"]) + 1)
            panel.plot(epochs, training["train_losses"], color=colour, label=architecture)
            panel.plot(epochs, training["validation_losses"], color=colour, linestyle="--")
            schedule = training["schedule"]
            for epoch in range(schedule["decay_every"], schedule["epochs"], schedule["decay_every"]):
                panel.axvline(epoch + 0.5, color="grey", linestyle=":", linewidth=1)
        panel.set(xlabel="epoch", ylabel="mean squared error", title=f"{title} (002, Figure 4)")
        if panel.has_data():
            panel.legend(fontsize=8)
    save_figure(figure, path, dpi=150)


def residual_diagnostics(network: Path, states: DataSet, path: Path) -> dict[str, float]:
    """Figure 5 for the validation states: density, residuals, Q-Q plot. Returns what they show as numbers."""
    model, training = load_network(network)
    schedule = find_schedule("fast", 1)
    settings = Settings(training["architecture"], schedule, training["augmented"], training["seed"])
    rows = Trainer(states, settings).validation[:50_000]
    predicted = predict(model, states, rows)
    residuals = (states.scores[rows] - predicted).astype(np.float64)
    normal = (residuals - residuals.mean()) / residuals.std()
    figure, axes = new_figure(3)
    grid = np.linspace(-5, 5, 201)
    axes[0].plot(grid, stats.gaussian_kde(normal[:10_000])(grid), label="residuals (Scott's rule)")
    axes[0].plot(grid, stats.norm.pdf(grid), linestyle="--", label="Gaussian")
    axes[0].set(xlabel="normalised residual", ylabel="density", title="Density (002, Figure 5a)")
    axes[0].legend(fontsize=8)
    axes[1].scatter(predicted[:5_000], normal[:5_000], s=2, alpha=0.3)
    axes[1].axhline(0, color="black", linewidth=1)
    axes[1].set(xlabel="predicted score", ylabel="normalised residual", title="Residuals (5b)")
    theory, sample = stats.probplot(normal[:20_000], fit=False)
    axes[2].plot(theory, sample, ".", markersize=2)
    axes[2].plot(theory, theory, color="black", linewidth=1)
    axes[2].set(xlabel="normal quantile", ylabel="residual quantile", title="Quantiles (5c)")
    save_figure(figure, path, dpi=150)
    low = predicted < np.quantile(predicted, 0.05)
    return {
        "residual_mean": float(residuals.mean()),
        "residual_deviation": float(residuals.std()),
        "skewness": float(stats.skew(residuals)),
        "excess_kurtosis": float(stats.kurtosis(residuals)),
        "mean_residual_of_lowest_predictions": float(residuals[low].mean()),
    }


# --- The command --------------------------------------------------------------------------------------


def reproduce(
    observations: Annotated[int, typer.Option(help="States of each data set.")] = recipes.OBSERVATIONS,
    games: Annotated[int, typer.Option(help="Games of each match, even.")] = 10_000,
    schedule: Annotated[
        str, typer.Option(help="`fast`, or the `paper`'s (half an hour a model and more).")
    ] = "fast",
    epochs: Annotated[int | None, typer.Option(help="Another number of epochs.")] = None,
    estimator: Annotated[str, typer.Option(help="Opponent estimator.")] = recipes.ESTIMATOR,
    candidates: Annotated[
        int, typer.Option(help="Networks of each kind; the best in validation games counts.")
    ] = 5,
    seed: Annotated[int, typer.Option(help="Random seed.")] = 0,
    workers: Annotated[int, typer.Option(help="Threads that play the data sets.")] = 1,
    only: Annotated[str, typer.Option(help="These networks only, separated by commas.")] = "",
    data: Annotated[Path, typer.Option(help="Folder of data sets.")] = Path("runs/hand_strength"),
    networks: Annotated[Path, typer.Option(help="Folder of networks.")] = Path("runs/hand_strength"),
    figures: Annotated[Path, typer.Option(help="Folder for tables, JSON and pictures.")] = Path(
        "runs/hand_strength/figures"
    ),
) -> None:
    """Train every network of Table 1 and ours, play them against the Simple player, draw the figures."""
    import torch

    torch.set_num_threads(1)
    import_matplotlib()
    estimators.make(estimator)
    names = [name.strip() for name in only.split(",") if name.strip()] or list(recipes.RECIPES)
    for name in names:
        recipes.find_recipe(name)
    for folder in (data, networks, figures):
        folder.mkdir(parents=True, exist_ok=True)
        check_folder(folder)
    settings = {"observations": observations, "estimator": estimator, "seed": seed, "workers": workers}
    rows: dict[str, dict[str, Any]] = {}
    files: dict[str, Path] = {}
    sets: dict[str, DataSet] = {}
    last: dict[str, DataSet] = {}
    for name in tqdm(names, desc="networks", unit="network"):
        files[name], states = prepare(name, networks, data, settings, schedule, epochs, seed, candidates)
        recipe = recipes.find_recipe(name)
        if recipe.stages == "last" and recipe.data_set in DATA_TITLES:
            sets[recipe.data_set] = states
        last[name] = states
        rows[name] = describe_network(files[name]) | play(OffensiveBot(str(files[name])), games, seed)
        tqdm.write(table_1({name: rows[name]}).splitlines()[-1])
    sections = ["## Table 1\n\n" + table_1(rows)]
    figures_json: dict[str, Any] = {"table_1": rows}
    if DEFAULT_NETWORK in files:
        figures_json["players"] = play_others(str(files[DEFAULT_NETWORK]), estimator, games, seed)
        title = f"## Other players against simple, network {DEFAULT_NETWORK}\n\n"
        sections.append(title + markdown_of(figures_json["players"], "player"))
    if (name := "dual-inception-random-256") in files:
        figures_json["figure_5"] = residual_diagnostics(files[name], last[name], figures / "figure_5.png")
    if positions := figure_6(files):
        figures_json["figure_6"] = positions
        sections.append("## Figure 6: the discard\n\n" + markdown_of(positions, "network"))
    if "dual-inception-random-16" in files:
        figures_json["figure_7"] = figure_7(files["dual-inception-random-16"])
        sections.append(
            "## Figure 7: defensive and offensive scores\n\n" + markdown_of(figures_json["figure_7"], "card")
        )
    draw_losses(files, figures / "figure_4.png")
    if sets:
        draw_scores(sets, figures / "figure_2.png")
    figures_json["settings"] = settings | {
        "games": games,
        "schedule": schedule,
        "epochs": epochs,
        "candidates": candidates,
    }
    write_json(figures / "results.json", figures_json)
    write_text(figures / "results.md", "\n".join(sections))
    typer.echo("\n".join(sections) + f"\nwritten to {figures}")


def describe_network(path: Path) -> dict[str, Any]:
    """What the file of a network says about its training."""
    network, training = load_network(path)
    return {
        "parameters": network.parameter_count,
        "states": training["data"]["observations"],
        "epochs": len(training["train_losses"]),
        "training_seconds": training.get("seconds"),
        "train_loss": training["train_losses"][-1],
        "validation_loss": training["validation_losses"][-1],
        "validation_win_rates": [100 * candidate["win_rate"] for candidate in training["candidates"]],
        "simulated_actions": training["data"]["simulated_actions"],
    }


if __name__ == "__main__":
    with one_line_errors("reproduce_hand_strength.py"):
        typer.run(reproduce)
