"""The generational loop as a program: its options, a line for each generation and a picture."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from tqdm import tqdm

from gin_env.support.plots import new_figure, origin_line, save_figure
from gin_env.support.workers import Workers
from gin_env.training.generations.loop import PREVIOUS, Generation, LoopSettings, champion, read_history, run


@dataclass
class Options:
    """Climb from the Simple player, one generation after the other."""

    folder: Path = Path("runs/generations")
    """Folder of the run. A folder with a run is resumed, with its settings."""
    generations: int = 8
    """Total number of generations."""
    workers: int | Literal["all"] = "all"
    """Number of processes that play; "all": one per core. The result does not depend on it."""
    ray: str | None = None
    """Play on the Ray cluster at this address, "auto": the one of this machine."""
    settings: LoopSettings = field(default_factory=LoopSettings)
    """Settings of a new run."""


def climb(options: Options) -> None:
    """Run the loop, print each generation and draw their win rates."""
    fresh = not (options.folder / "settings.json").is_file()
    if not fresh and options.settings != LoopSettings():
        raise ValueError(
            f"{options.folder} holds a run already; give another --folder, or resume it without --settings"
        )
    print("generation  kept  seconds  win rate, 95 % interval", flush=True)
    for generation in read_history(options.folder):
        print(line_of(generation), flush=True)
    with (
        Workers(options.workers, ray=options.ray or False) as workers,
        tqdm(unit="step", smoothing=0.1, leave=False) as bar,
    ):

        def show(what: str, done: int, total: int) -> None:
            if bar.desc != f"{what}: " or bar.total != total:
                bar.reset(total)
                bar.set_description(what)
            bar.update(done - bar.n)

        settings = options.settings if fresh else None
        for generation in run(options.folder, options.generations, settings, workers, show):
            tqdm.write(line_of(generation))
            played = json.loads((options.folder / "settings.json").read_text())
            origin = origin_line(f"{played['games']:,} games a match", played["seed"])
            draw(read_history(options.folder), options.folder / "win_rates.png", origin)
    print(f"picture: {options.folder / 'win_rates.png'}")
    history = read_history(options.folder)
    if any(each.kept for each in history if each.number > 0):
        print(f"champion: {champion(options.folder)}")
    else:
        print(f"champion: generation 0; none of the {len(history) - 1} after it has passed the gate")


def line_of(generation: Generation) -> str:
    """Return a line of the table."""
    rates = [
        f"{bot} {100 * rate:.1f} "
        f"({100 * generation.intervals[bot][0]:.1f}-{100 * generation.intervals[bot][1]:.1f})"
        for bot, rate in generation.win_rates.items()
    ]
    kept = "yes" if generation.kept else "no"
    return f"{generation.number:10}  {kept:4}  {generation.seconds:7.0f}  {', '.join(rates)}"


def draw(history: list[Generation], path: Path, origin: str) -> None:
    """Win rates by generation, with their intervals; hollow points were not kept; `origin` at the foot."""
    figure, [[axes]] = new_figure(8, 5)
    for bot in history[-1].win_rates:
        measured = [each for each in history if bot in each.win_rates]
        numbers = [each.number for each in measured]
        rates = [100 * each.win_rates[bot] for each in measured]
        lows = [100 * (each.win_rates[bot] - each.intervals[bot][0]) for each in measured]
        highs = [100 * (each.intervals[bot][1] - each.win_rates[bot]) for each in measured]
        label = "the champion before" if bot == PREVIOUS else bot
        bars = axes.errorbar(numbers, rates, yerr=[lows, highs], marker="o", capsize=3, label=label)
        hollow = [(each.number, 100 * each.win_rates[bot]) for each in measured if not each.kept]
        if hollow:
            axes.plot(*zip(*hollow, strict=True), "o", mfc="white", color=bars[0].get_color(), zorder=3)
    axes.axhline(50, color="grey", linewidth=0.8)
    axes.set(xlabel="generation", ylabel="games won, %", title="Generational retraining (95 % intervals)")
    axes.xaxis.get_major_locator().set_params(integer=True)
    axes.legend()
    save_figure(figure, path, dpi=120, origin=origin)
