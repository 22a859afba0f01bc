"""Solve small games by counterfactual regret minimization, and draw exploitability against iterations.

    python -m research.small_games                              # all four games, five minutes
    python -m research.small_games kuhn leduc --iterations 10000
    python -m research.small_games small-gin --iterations 500 --json runs/small_gin.json

Kuhn poker, Leduc hold'em and two sizes of small-deck Gin Rummy (the real engine), each by CFR, CFR+ and
external-sampling Monte Carlo CFR. Exploitability is exact: what a best response wins, over both seats
(NashConv / 2). The dashed lines in the Gin Rummy panels are the exploitability of bots of this package.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any

import typer
from tqdm import tqdm

from gin_env import agents
from gin_env.support.atomic import check_targets
from gin_env.support.exits import one_line_errors
from gin_env.support.files import write_json
from gin_env.support.plots import BLUE, GREEN, RED, new_figure, origin_line, save_figure
from research.small_games import (
    CFR,
    CFRPlus,
    ExternalSamplingCFR,
    Game,
    GameTree,
    expected_value,
    exploitability,
)
from research.small_games.gin_tree import GinTree, bot_vector
from research.small_games.kuhn import KuhnPoker
from research.small_games.leduc import LeducHoldem
from research.small_games.small_gin import DECKS, TINY, SmallGin

GAMES: dict[str, Callable[[], Game]] = {
    "kuhn": KuhnPoker,
    "leduc": LeducHoldem,
    "tiny-gin": lambda: SmallGin(TINY),
    "small-gin": lambda: SmallGin(DECKS[9]),
}
BOTS = ("random", "simple")
STYLES = {CFR.name: (BLUE, "-"), CFRPlus.name: (RED, "--"), ExternalSamplingCFR.name: (GREEN, "-.")}


def checkpoints(iterations: int) -> list[int]:
    """Return 1, 2, 5, 10, 20, 50, ... up to and including `iterations`."""
    points = {digit * 10**power for power in range(len(str(iterations))) for digit in (1, 2, 5)}
    return sorted({point for point in points if point < iterations} | {iterations})


def solve(tree: GameTree, solver: Any, iterations: int) -> list[dict[str, Any]]:
    """Run a solver; its exploitability at the checkpoints. Evaluations are not part of the seconds."""
    rows = []
    seconds = 0.0
    with tqdm(total=iterations, desc=f"{tree.game.name}: {solver.name}", leave=False) as progress:
        for point in checkpoints(iterations):
            while solver.iterations < point:
                started = time.perf_counter()
                before = solver.iterations
                solver.run(min(point - before, max(1, iterations // 100)))
                seconds += time.perf_counter() - started
                progress.update(solver.iterations - before)
            strategy = solver.average_strategy()
            rows.append(
                {
                    "solver": solver.name,
                    "iterations": point,
                    "nodes_touched": solver.nodes_touched,
                    "seconds": round(seconds, 3),
                    "exploitability": exploitability(tree, strategy),
                    "value": expected_value(tree, strategy),
                }
            )
            progress.set_postfix_str(f"exploitability {rows[-1]['exploitability']:.2g}")
    return rows


def solve_game(name: str, iterations: int, sampled_iterations: int, seed: int) -> dict[str, Any]:
    """Run all solvers on one game and return a report for JSON."""
    started = time.perf_counter()
    game = GAMES[name]()
    tree = GinTree(game.rules) if isinstance(game, SmallGin) else GameTree(game)
    report: dict[str, Any] = {
        "game": game.name,
        "nodes": len(tree),
        "information_sets": len(tree.information_sets),
        "uniform": exploitability(tree, {}),
        "bots": {},
        "rows": [],
    }
    tqdm.write(
        f"{game.name}: {len(tree):,} nodes, {len(tree.information_sets):,} information sets, "
        f"unrolled in {time.perf_counter() - started:.1f} s"
    )
    if isinstance(tree, GinTree):
        for bot in BOTS:
            # `random` is the uniform strategy; one fixed sample of its choices would be another strategy.
            strategy = {} if bot == "random" else bot_vector(tree, agents.make(bot))
            report["bots"][bot] = exploitability(tree, strategy)
            tqdm.write(f"  {'bot ' + bot:<24} exploitability {report['bots'][bot]:.6f}")
    solvers = (
        (CFR(tree), iterations),
        (CFRPlus(tree), iterations),
        (ExternalSamplingCFR(game, seed), sampled_iterations),
    )
    for solver, number in solvers:
        rows = solve(tree, solver, number)
        report["rows"] += rows
        last = rows[-1]
        tqdm.write(
            f"  {solver.name:<24} exploitability {last['exploitability']:.6f}, value {last['value']:+.5f} "
            f"after {number:,} iterations, {last['nodes_touched']:,} nodes, {last['seconds']:.1f} s"
        )
    return report


def draw(reports: list[dict[str, Any]], path: Path) -> None:
    """Log-log plots, a column for each game: against iterations, and against nodes touched."""
    figure, panels = new_figure(4.6 * len(reports), 8, 2, len(reports))
    for column, report in enumerate(reports):
        for axes, x in zip(panels[:, column], ("iterations", "nodes_touched"), strict=True):
            for solver, (colour, dash) in STYLES.items():
                rows = [row for row in report["rows"] if row["solver"] == solver]
                axes.loglog(
                    [row[x] for row in rows],
                    [max(row["exploitability"], 1e-12) for row in rows],
                    color=colour,
                    linestyle=dash,
                    marker="o",
                    markersize=3,
                    label=solver,
                )
            for bot, height in report["bots"].items():
                axes.axhline(height, color="black", linestyle="--", linewidth=0.8)
                axes.annotate(
                    f"bot {bot}",
                    (1, height),
                    (-3, 2),
                    axes.get_yaxis_transform(),
                    textcoords="offset points",
                    fontsize=8,
                    ha="right",
                )
            axes.set_xlabel(x.replace("_", " "))
        panels[0, column].set_title(f"{report['game']}\n{report['information_sets']:,} information sets")
    for axes in panels[:, 0]:
        axes.set_ylabel("exploitability")
    panels[0, 0].legend(loc="lower left", fontsize=8)
    save_figure(figure, path, dpi=120, origin=origin_line(""))


def main(
    games: Annotated[list[str] | None, typer.Argument(help=f"Of {', '.join(GAMES)}; default: all.")] = None,
    iterations: Annotated[int, typer.Option(min=1, help="Iterations of CFR and CFR+.")] = 300,
    sampled_iterations: Annotated[
        int, typer.Option(min=1, help="Iterations of external sampling; one visits a small part of the tree.")
    ] = 20_000,
    seed: Annotated[int, typer.Option(min=0, help="Seed of external sampling; the others draw nothing.")] = 1,
    plot: Annotated[Path, typer.Option(help="Where the picture goes.")] = Path("runs/small_games.png"),
    json_path: Annotated[Path | None, typer.Option("--json", help="Where the figures go.")] = None,
) -> None:
    """Solve small games by CFR, CFR+ and Monte Carlo CFR; draw their exploitability."""
    names = games or list(GAMES)
    unknown = [name for name in names if name not in GAMES]
    if unknown:
        raise typer.BadParameter(f"unknown game {unknown[0]!r}; choose from {', '.join(GAMES)}")
    for path in (plot, json_path):
        if path is not None:
            path.parent.mkdir(parents=True, exist_ok=True)
    check_targets(plot, json_path)
    reports = [solve_game(name, iterations, sampled_iterations, seed) for name in names]
    draw(reports, plot)
    print(f"the picture is in {plot}")
    if json_path is not None:
        settings = {"iterations": iterations, "sampled_iterations": sampled_iterations, "seed": seed}
        write_json(json_path, {"settings": settings, "games": reports})
        print(f"the figures are in {json_path}")


if __name__ == "__main__":
    with one_line_errors("solve_small_games.py"):
        typer.run(main)
