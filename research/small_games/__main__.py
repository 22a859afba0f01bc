"""Solve small games by counterfactual regret minimization, and draw exploitability against iterations.

    python -m research.small_games                              # all four games, five minutes
    python -m research.small_games kuhn leduc --iterations 10000
    python -m research.small_games small-gin --iterations 500 --json runs/small_gin.json

Kuhn poker, Leduc hold'em and two sizes of small-deck Gin Rummy (the real engine), each by CFR, CFR+ and
external-sampling Monte Carlo CFR. Exploitability is exact: what a best response wins, over both seats
(NashConv / 2). The level lines in the Gin Rummy panels are the exploitability of bots of this package.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Annotated, Any

import typer
from tqdm import tqdm

from gin_env import agents
from gin_env.support.atomic import check_targets
from gin_env.support.checks import check_choice
from gin_env.support.exits import one_line_errors
from gin_env.support.files import write_json
from gin_env.support.plots import origin_line
from research.reproduce.charts import Lines
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
                started, before = time.perf_counter(), solver.iterations
                solver.run(min(point - before, max(1, iterations // 100)))
                seconds += time.perf_counter() - started
                progress.update(solver.iterations - before)
            strategy = solver.average_strategy()
            about = {"solver": solver.name, "iterations": point, "nodes_touched": solver.nodes_touched}
            found = {
                "exploitability": exploitability(tree, strategy),
                "value": expected_value(tree, strategy),
            }
            rows.append(about | {"seconds": round(seconds, 3)} | found)
            progress.set_postfix_str(f"exploitability {rows[-1]['exploitability']:.2g}")
    return rows


def solve_game(name: str, iterations: int, sampled_iterations: int, seed: int) -> dict[str, Any]:
    """Run all solvers on one game and return a report for JSON."""
    started = time.perf_counter()
    game = GAMES[name]()
    tree: Any = GinTree(game.rules) if isinstance(game, SmallGin) else GameTree(game)
    about = {"game": game.name, "nodes": len(tree), "information_sets": len(tree.information_sets)}
    tqdm.write(
        f"{game.name}: {len(tree):,} nodes, {len(tree.information_sets):,} information sets, "
        f"unrolled in {time.perf_counter() - started:.1f} s"
    )
    bots, rows = {}, []
    for bot in BOTS * isinstance(game, SmallGin):
        # `random` is the uniform strategy; one fixed sample of its choices would be another strategy.
        strategy: Any = {} if bot == "random" else bot_vector(tree, agents.make(bot))
        bots[bot] = exploitability(tree, strategy)
        tqdm.write(f"  {'bot ' + bot:<24} exploitability {bots[bot]:.6f}")
    sampling = ExternalSamplingCFR(game, seed)
    for solver, number in (
        (CFR(tree), iterations),
        (CFRPlus(tree), iterations),
        (sampling, sampled_iterations),
    ):
        rows += solve(tree, solver, number)
        tqdm.write(
            "  {solver:<24} exploitability {exploitability:.6f}, value {value:+.5f} after {iterations:,} "
            "iterations, {nodes_touched:,} nodes, {seconds:.1f} s".format(**rows[-1])
        )
    return about | {"uniform": exploitability(tree, {}), "bots": bots, "rows": rows}


def draw(reports: list[dict[str, Any]], path: Path) -> None:
    """Draw a column for each game: exploitability against iterations, and against nodes touched."""
    points = [
        {"line": line, "at": at, "exploitability": max(value, 1e-12), "x": x.replace("_", " ")} | report
        for x in ("iterations", "nodes_touched")
        for report in reports
        for line, at, value in lines_of(report, x)
    ]
    axes = {"xscale": "log", "yscale": "log"}
    panel = "{game}\n{information_sets:,} information sets, by {x}"
    chart = Lines(
        series="{line}", panel=panel, x="at", measures={"exploitability": "exploitability"}, lines=2,
        size=(4.6, 4), axes=axes, legend={"ncols": 5},
    )  # fmt: skip
    chart.draw("", points, path, origin_line(""))


def lines_of(report: dict[str, Any], x: str) -> Iterator[tuple[str, int, float]]:
    """Yield the solvers' points at each `x`, and two points of each bot's line."""
    for row in report["rows"]:
        yield row["solver"], row[x], row["exploitability"]
    ends = min(row[x] for row in report["rows"]), max(row[x] for row in report["rows"])
    for bot, value in report["bots"].items():
        yield from ((f"bot {bot}", end, value) for end in ends)


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
    for name in names:
        check_choice("game", name, GAMES)
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
    with one_line_errors("python -m research.small_games"):
        typer.run(main)
