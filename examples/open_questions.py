"""Paper 000's open questions about its bot V4 (``fitness-cfr``), answered by matches.

    python examples/open_questions.py training           # strength against CFR iterations, 15 minutes
    python examples/open_questions.py training --quick   # the same in seconds: tries the command only
    python examples/open_questions.py early-knock        # strength against the threshold of an early knock
    python examples/open_questions.py stages             # mappings between early, middle and late positions

Each prints a Markdown table and writes its points as CSV, the first two also draw a picture, by default into
`examples/figures`. Needs `pip install "gin-env[plots]"`. The paper also asks what each factor of V4 is worth:
`shapley_fitness.py` answers that.

000: Gallucci et al., "Estimating Card Fitness for Discard in Gin Rummy" (2021).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import astuple, dataclass, fields
from pathlib import Path
from typing import Annotated

import numpy as np
import typer
from tqdm import tqdm

from gin_env import PlayerView
from gin_env.agents import Agent, resolve
from gin_env.agents.cfr.abstractions import KINDS, decision_slices
from gin_env.agents.cfr.bot import CfrBot, CfrPlusBot
from gin_env.agents.cfr.stages import MAPPINGS
from gin_env.agents.cfr.table import StrategyTable, packaged_table
from gin_env.agents.fitness import FitnessCfrBot
from gin_env.play.matches import play_match
from gin_env.support.atomic import check_folder, save_figure, write_csv
from gin_env.support.exits import one_line_errors
from gin_env.support.plots import import_matplotlib
from gin_env.training.cfr.trainer import Settings, Trainer

FIGURES = Path(__file__).parent / "figures"
Folder = Annotated[Path, typer.Option(help="Folder for the CSV file and the picture.")]
GamesOption = Annotated[int, typer.Option(help="Games in each match, even.")]
SeedOption = Annotated[int, typer.Option(help="Random seed.")]

app = typer.Typer(no_args_is_help=True, add_completion=False, help=__doc__.split("\n")[0])


@dataclass(frozen=True)
class Point:
    """A match as a point of a curve: per cent of games won, with its 95 % Wilson interval."""

    curve: str
    x: float
    win_rate: float
    low: float
    high: float
    bot: str
    opponent: str
    games: int
    seed: int

    def __str__(self) -> str:
        return f"{self.win_rate:.2f} ({self.low:.2f} to {self.high:.2f})"


def measure(
    curve: str,
    x: float,
    bot: str | Agent,
    opponent: str | Agent,
    games: int,
    seed: int,
    progress: Callable[[int], object],
) -> Point:
    """Play the match of a point."""
    match = play_match(bot, opponent, games, seed, progress=progress)
    low, high = match.interval
    return Point(curve, x, 100 * match.win_rate, 100 * low, 100 * high, *match.bots, games, seed)


def report(points: list[Point], x_name: str, path: Path) -> None:
    """Print the points as a Markdown table, a line for each x, a column for each curve; write them as CSV."""
    curves = list(dict.fromkeys(point.curve for point in points))
    typer.echo(f"| {x_name} | {' | '.join(curves)} |\n|---:|{'---|' * len(curves)}")
    for x in sorted({point.x for point in points}):
        cells = {point.curve: str(point) for point in points if point.x == x}
        typer.echo(f"| {x:,g} | {' | '.join(cells.get(curve, '') for curve in curves)} |")
    save_points(points, path)


def save_points(points: list[Point], path: Path) -> None:
    """A line of CSV for each point."""
    rows = [
        [round(value, 3) if isinstance(value, float) else value for value in astuple(point)]
        for point in points
    ]
    write_csv(path, [field.name for field in fields(Point)], rows)
    typer.echo(f"written to {path}")


def draw(points: list[Point], title: str, x_label: str, path: Path, logarithmic: bool = False) -> None:
    """A line with intervals for each curve."""
    figure = import_matplotlib()[0](figsize=(8, 5), layout="constrained")
    axes = figure.subplots()
    for curve in dict.fromkeys(point.curve for point in points):
        chosen = [point for point in points if point.curve == curve]
        rates = np.array([(point.win_rate, point.low, point.high) for point in chosen]).T
        errors = np.abs(rates[1:] - rates[0])
        axes.errorbar(
            [point.x for point in chosen], rates[0], yerr=errors, marker=".", capsize=2, label=curve
        )
    axes.axhline(50, color="black", linewidth=0.8)
    if logarithmic:
        axes.set_xscale("log")
    axes.set(xlabel=x_label, ylabel="games won (%)")
    axes.set_title(title, fontsize=10)
    axes.grid(alpha=0.3)
    figure.legend(loc="outside lower center", ncols=2, fontsize=8)
    save_figure(figure, path, dpi=150)
    typer.echo(f"drawn in {path}")


def prepare(folder: Path) -> None:
    """Before minutes of play: make the folder, and fail now if matplotlib is missing."""
    import_matplotlib()
    folder.mkdir(parents=True, exist_ok=True)
    check_folder(folder)


# --- Strength against training ------------------------------------------------------------------------

BOTS = {"paper": CfrBot, "plus": CfrPlusBot, "dealt": CfrBot}
ITERATIONS = {"paper": 1_000_000, "plus": 220_000}
"""Those of the packaged tables."""
QUICK = {"paper": 100, "plus": 30}


def growing(most: int) -> list[int]:
    """1, 3, 10, 30, ... below `most`, from a thousandth of it on, and `most`."""
    steps = [factor * 10**power for power in range(9) for factor in (1, 3)]
    return [step for step in steps if most / 1000 <= step < most] + [most]


@app.command()
def training(
    abstraction: Annotated[
        list[str] | None, typer.Option(help="Abstraction to train; default: paper and plus.")
    ] = None,
    iterations: Annotated[
        int | None, typer.Option(help="Hands to learn from; default: as many as the packaged table.")
    ] = None,
    opponent: Annotated[
        list[str] | None, typer.Option(help="Opponent; default: simple and fitness-cfr.")
    ] = None,
    games: GamesOption = 10_000,
    seed: SeedOption = 0,
    training_seed: Annotated[int, typer.Option(help="Random seed of the training.")] = 1,
    quick: Annotated[bool, typer.Option("--quick", help="Hardly any training, 20 games a match.")] = False,
    folder: Folder = FIGURES,
) -> None:
    """Strength of the CFR strategies against the iterations of their training."""
    prepare(folder)
    kinds = abstraction or list(ITERATIONS)
    opponents = opponent or ["simple", "fitness-cfr"]
    most = {kind: iterations or (QUICK if quick else ITERATIONS).get(kind, 100_000) for kind in kinds}
    if quick:
        games = min(games, 20)
    points = []
    for kind in kinds:
        trainer = Trainer(Settings(kind, seed=training_seed))
        for checkpoint in growing(most[kind]):
            with tqdm(
                total=checkpoint - trainer.iterations, unit="hand", desc=f"{kind} to {checkpoint:,}"
            ) as bar:
                trainer.run(checkpoint - trainer.iterations, bar.update)
            bot = BOTS[kind](table=trainer.table())
            for other in opponents:
                with tqdm(total=games, unit="game", desc=f"{bot.name} - {other}") as bar:
                    curve = f"{bot.name} ({kind}) against {other}"
                    points.append(measure(curve, checkpoint, bot, other, games, seed, bar.update))
    report(points, "iterations", folder / "cfr_training.csv")
    title = f"Strategies of Monte Carlo CFR+ after so much training, {games:,} games a point"
    draw(points, title, "iterations (hands)", folder / "cfr_training.png", logarithmic=True)


# --- An early knock -----------------------------------------------------------------------------------


def without_knocks(table: StrategyTable) -> StrategyTable:
    """A table that never knocks (but with gin, which V4 does without asking)."""
    strategy = table.strategy.copy()
    strategy[decision_slices(KINDS[table.metadata["abstraction"]])[2]] = 0
    return StrategyTable(strategy, table.metadata | {"knocks": "none"})


@app.command("early-knock")
def early_knock(
    thresholds: Annotated[str, typer.Option(help="Deadwood at which a bot knocks at once.")] = "0,2,4,6,8,10",
    games: GamesOption = 20_000,
    seed: SeedOption = 0,
    folder: Folder = FIGURES,
) -> None:
    """Strength of V4 against a knock threshold: its own, in two readings, and its opponent's.

    The paper "did attempt to add another heuristic to our bot that would cause it to knock immediately when a
    certain point threshold was reached, but the bot's ELO decreased as the threshold got lower, and never
    ended up performing better than the bot without this approach in it".
    """
    prepare(folder)
    limits = [int(limit) for limit in thresholds.split(",")]
    silent = without_knocks(packaged_table("paper"))
    points = []
    with tqdm(total=5 * len(limits) * games, unit="game", smoothing=0.05) as bar:
        for limit in limits:
            added = f"fitness-cfr:early_knock={limit}"
            alone = FitnessCfrBot(early_knock=limit, table=silent)
            alone.name = f"fitness-cfr(knocks at {limit} only)"
            for curve, bot, other in (
                ("V4 that also knocks at once, against V4", added, "fitness-cfr"),
                ("V4 that also knocks at once, against simple", added, "simple"),
                ("V4 that knocks by the threshold alone, against V4", alone, "fitness-cfr"),
                ("V4 that knocks by the threshold alone, against simple", alone, "simple"),
                ("V4 as it is, against simple with the threshold", "fitness-cfr", f"simple:knock_at={limit}"),
            ):
                points.append(measure(curve, limit, bot, other, games, seed, bar.update))
    report(points, "threshold", folder / "early_knock.csv")
    title = f"V4 of paper 000 and an early knock, {games:,} games a point"
    draw(points, title, "knocks at once with at most so much deadwood", folder / "early_knock.png")


# --- Between the stages -------------------------------------------------------------------------------


class Compared:
    """A bot, and how often another one would have decided otherwise."""

    def __init__(self, bot: str | Agent, other: str | Agent) -> None:
        self.bot, self.other = resolve(bot), resolve(other)
        self.name = self.bot.name
        self.decisions = self.different = 0

    def act(self, view: PlayerView) -> np.ndarray:
        actions = self.bot.act(view)
        self.decisions += len(view)
        self.different += int((actions != self.other.act(view)).sum())
        return actions


def with_stages(bot: str, mapping: str) -> str:
    """The bot's name with this mapping."""
    return f"{bot}{',' if ':' in bot else ':'}stages={mapping}"


@app.command()
def stages(
    bots: Annotated[str, typer.Option(help="Bots to map, separated by spaces.")] = "cfr fitness-cfr",
    dealt_table: Annotated[
        Path | None,
        typer.Option(
            help="Also play a table of `gin-rummy train cfr --abstraction dealt`, which has no stages."
        ),
    ] = None,
    games: GamesOption = 20_000,
    seed: SeedOption = 0,
    folder: Folder = FIGURES,
) -> None:
    """Mappings for positions between the stages, against the hard stages and against `simple`."""
    folder.mkdir(parents=True, exist_ok=True)
    check_folder(folder)
    bases = bots.split()
    mapped: list[tuple[str, str, str | Agent]] = [
        (base, mapping, with_stages(base, mapping)) for base in bases for mapping in MAPPINGS
    ]
    if dealt_table is not None:
        table = StrategyTable.load(dealt_table)
        mapped.append(("cfr", "trained without stages", CfrBot(table)))
    points: list[Point] = []
    lines = [
        "| bot | stages | against hard stages | against `simple` | other decisions (%) |",
        "|---|---|---|---|---:|",
    ]
    with tqdm(total=(2 * len(mapped) - len(bases)) * games, unit="game", smoothing=0.05) as bar:
        for place, (base, mapping, bot) in enumerate(mapped):
            compared = Compared(bot, base)
            opponents = ["simple"] if mapping == "hard" else [base, "simple"]
            measured = {
                other: measure(f"{base}, {mapping}", place, compared, other, games, seed, bar.update)
                for other in opponents
            }
            points += measured.values()
            share = 100 * compared.different / compared.decisions
            lines.append(
                f"| `{base}` | {mapping} | {measured.get(base, '')} | {measured['simple']} | {share:.2f} |"
            )
    typer.echo("\n".join(lines))
    save_points(points, folder / "stages.csv")


if __name__ == "__main__":
    with one_line_errors("open_questions.py"):
        app()
