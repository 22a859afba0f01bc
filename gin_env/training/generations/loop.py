"""The generational loop: gather, fit, evaluate, keep or reject; checkpointed after each generation.

Generation 0 is a bot by name (`simple`, as in Truong and Neller 2021) that makes some decisions at random.
Each generation plays against a pool of bots and of recently kept generations, tries several decisions in the
positions that it meets, and fits its successor's network to their returns. The successor then plays matches.

The *gate*: the successor replaces the champion only if it wins at least as many games as the champion did on
the same decks, over the pool and the champion, weighted by their shares. The champion's win rate against
itself counts as one half. A rejected successor is not used again; the next attempt gathers other hands.

The folder of a run holds ``settings.json``, ``generation-K.safetensors``, ``history.json`` with one
`Generation` for each, and ``experience-K.npz`` of the most recent generations. A resumed run gives the same
result as an uninterrupted one. `climb` is the loop as a program.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from time import monotonic
from typing import Any, Literal, get_args, get_origin, get_type_hints

import numpy as np
import torch
import tyro
from tqdm import tqdm

from gin_env import agents
from gin_env.agents.base import Agent
from gin_env.agents.generations.bot import GenerationBot, GenerationNetwork, load_network, save_network
from gin_env.matches.matches import MatchResult, play_match
from gin_env.matches.provenance import describe_bot
from gin_env.support.checks import check_integer, is_integer
from gin_env.support.files import check_regular_file, write_json
from gin_env.support.plots import new_figure, origin_line, save_figure
from gin_env.support.threads import torch_threads
from gin_env.support.workers import Workers, opened
from gin_env.training.checkpoints import check_same_settings
from gin_env.training.generations.fit import (
    Experience,
    fit,
    join_experiences,
    load_experiences,
    save_experiences,
)
from gin_env.training.generations.rollouts import Search, gather
from gin_env.training.settings import HAS_BFLOAT16

SETTINGS = "settings.json"
PREVIOUS = "previous"
"""Name of the previous champion in a generation's results."""


@dataclass(frozen=True)
class LoopSettings:
    """Settings of a run of the loop."""

    ancestor: str = "simple"
    """Generation 0: a bot by name, or the file of another run's generation, trained further."""
    pool: dict[str, float] = field(
        default_factory=lambda: {"simple": 8.0, "simple:knock_at=0": 1.0, "tonic": 2.0}
    )
    """Opponents of every generation, in training and in evaluation, with the share of each."""
    past: int = 2
    """Number of recently kept generations, including the current one, that are opponents too."""
    past_share: float = 0.5
    """Share of each of the `past` generations."""
    hands: int = 98_304
    """Number of hands per generation, in whole parts; each gives about two positions of four returns."""
    hands_per_part: int = 8192
    """Number of hands in one task of a worker."""
    memory: int = 3
    """Number of recent generations whose experience is used in the fit; older play is somewhat weaker."""
    epochs: int = 4
    """Number of passes over the joined experience."""
    knock: str = "value"
    """How to decide on knocks; ``"simple"`` always knocks like the Simple player (ablation)."""
    games: int = 10_000
    """Number of games in each evaluation match."""
    seed: int = 1
    """Random seed, at most 10**12."""
    search: Search = field(default_factory=Search)
    """How positions are found and decisions tried."""


@dataclass(frozen=True)
class Generation:
    """The result of one generation."""

    number: int
    kept: bool
    """Whether it became the champion."""
    win_rates: dict[str, float]
    """Win rates against each bot of the pool and against the previous champion (`PREVIOUS`)."""
    intervals: dict[str, tuple[float, float]]
    """95 % Wilson intervals of the win rates; the two games of a deal count as one observation."""
    losses: dict[str, float] = field(default_factory=dict)
    """Held-out losses of the fit (see `fit.fit`); none of generation 0, which is not trained."""
    positions: int = 0
    returns: int = 0
    seconds: float = 0.0


Progress = Callable[[str, int, int], object]
"""A callable that receives the name of the current step, the amount done and the total."""


def run(
    folder: str | Path,
    generations: int,
    settings: LoopSettings | None = None,
    workers: int | Literal["all"] | Workers = "all",
    progress: Progress = lambda *_: None,
) -> Iterator[Generation]:
    """Run the loop in `folder` up to generation number `generations`, and yield each generation as it ends.

    A run that is already in the folder is resumed; `settings` must then be None or equal to its settings. The
    `workers` (a number of processes, or `Workers`) play the hands and do not change the result. The network
    is fitted in this process. Workers on other machines must share `folder`, which holds the networks.

    Raises ValueError for settings that differ from those of the run in the folder, or for a broken history.
    """
    folder = Path(folder)
    if settings is not None:
        check_integer("seed", settings.seed, 0, 10**12)
    settings, history = open_run(folder, settings)
    for bot in (settings.ancestor, *settings.pool):
        agents.make(bot)  # raise for an unknown name before any work is done
    with opened(workers) as crew:
        while len(history) <= generations:
            history.append(_advance(folder, settings, history, crew, progress))
            write_json(folder / "history.json", [asdict(each) for each in history])
            yield history[-1]


def champion(folder: str | Path) -> Path:
    """Return the network file of the last kept generation. Raises FileNotFoundError if there is none yet."""
    kept = [each.number for each in read_history(folder) if each.kept and each.number > 0]
    if not kept:
        raise FileNotFoundError(f"no generation has been kept in {folder}")
    return Path(folder) / f"generation-{kept[-1]}.safetensors"


def read_history(folder: str | Path) -> list[Generation]:
    """Return the generations of a run so far. Raises ValueError for a broken file."""
    path = Path(folder) / "history.json"
    if not path.exists():
        return []
    with _valid(path, "is not a history of generations"):
        history = [_from_json(Generation, entry) for entry in json.loads(path.read_bytes())]
        complete = all(each.win_rates.keys() == each.intervals.keys() for each in history)
        if not (complete and history[0].kept and [each.number for each in history] == [*range(len(history))]):
            raise ValueError("expected each generation from number 0, with an interval for each win rate")
    return history


def open_run(folder: Path, settings: LoopSettings | None) -> tuple[LoopSettings, list[Generation]]:
    """Return the settings and the history of a run; a new run is begun with these settings.

    Raises ValueError if the folder holds a run with other settings, or a broken file.
    """
    path = folder / SETTINGS
    if not path.exists():
        settings = settings or LoopSettings()
        folder.mkdir(parents=True, exist_ok=True)
        write_json(path, asdict(settings))
        return settings, []
    with _valid(path, "does not contain the settings of this loop"):
        stored = json.loads(path.read_bytes())
        before = _from_json(LoopSettings, stored | {"search": _from_json(Search, stored["search"])})
    if settings is not None:
        check_same_settings(folder, vars(before), vars(settings))
    history = read_history(folder)
    if any(before.pool.keys() - each.win_rates.keys() for each in history):
        raise ValueError(f"{folder / 'history.json'} is not of this run: its matches are against other bots")
    return before, history


@contextmanager
def _valid(path: Path, problem: str) -> Iterator[None]:
    """Check that a file can be read, and raise ValueError, with its path, if the block finds it invalid."""
    check_regular_file(path)
    try:
        yield
    except (ValueError, TypeError, LookupError, RecursionError) as error:
        raise ValueError(f"{path} {problem}: {error}") from error


def _from_json(kind: type, values: Any) -> Any:
    """Return a dataclass with these values from JSON. Raises TypeError for other names or types."""
    made = kind(**values)
    for name, hint in get_type_hints(kind).items():
        if not _fits(getattr(made, name), hint):
            raise TypeError(f"invalid {name}: {getattr(made, name)!r}")
    return made


def _fits(value: Any, hint: Any) -> bool:
    """Return whether a value from JSON has an annotated type."""
    inner = get_args(hint)
    if get_origin(hint) is dict:
        return isinstance(value, dict) and all(_fits(each, inner[1]) for each in value.values())
    if get_origin(hint) is tuple:
        return isinstance(value, list) and len(value) == len(inner) and all(map(_fits, value, inner))
    return type(value) is hint or (hint is float and is_integer(value))


def _advance(
    folder: Path, settings: LoopSettings, history: Sequence[Generation], workers: Workers, progress: Progress
) -> Generation:
    """Train and evaluate the next generation, starting from the last kept one; 0 is only evaluated."""
    start, number = monotonic(), len(history)
    if not history:
        results = evaluate(settings.ancestor, {}, settings, workers, progress)
        return Generation(0, True, *_rates(results), seconds=monotonic() - start)
    kept = [each for each in history if each.kept]
    players = [_player_of(folder, settings, each.number) for each in kept]
    experiences = gather_experience(players, settings, number, workers, progress)
    positions = sum(map(len, experiences))
    returns = sum(int(np.isfinite(experience.returns).sum()) for experience in experiences)
    experiences = remember(folder, settings, number, experiences)
    torch.manual_seed(settings.seed)
    network = load_network(players[-1])[0] if players[-1].endswith(".safetensors") else GenerationNetwork()
    total, seen = settings.epochs * sum(map(len, experiences)), 0

    def count(positions: int) -> None:
        nonlocal seen
        seen += positions
        progress("fitting", seen, total)

    losses = fit(network, experiences, settings.epochs, seed=settings.seed + number, progress=count)
    provenance = {
        "command": "python examples/generational_retraining.py",
        "settings": asdict(settings),
        "players": [describe_bot(bot) for bot in settings.pool],
        "generation": number,
        "knock": settings.knock,
        "torch": torch.__version__,
    }
    path = _player_of(folder, settings, number)
    save_network(network, path, provenance)
    results = evaluate(path, {PREVIOUS: players[-1]}, settings, workers, progress)
    rates, intervals = _rates(results)
    passes = passes_gate(kept[-1].win_rates, rates, settings.pool | {PREVIOUS: settings.past_share})
    return Generation(number, passes, rates, intervals, losses, positions, returns, monotonic() - start)


def _rates(results: dict[str, MatchResult]) -> tuple[dict[str, float], dict[str, tuple[float, float]]]:
    """Return the win rates of some matches and their intervals."""
    rates = {bot: result.win_rate for bot, result in results.items()}
    return rates, {bot: result.interval for bot, result in results.items()}


def remember(
    folder: Path, settings: LoopSettings, number: int, experiences: tuple[Experience, Experience]
) -> tuple[Experience, Experience]:
    """Store a generation's experience, delete the file that is too old, and return the recent ones joined."""
    newest = folder / f"experience-{number}.npz"
    save_experiences(experiences, newest)
    (folder / f"experience-{number - settings.memory}.npz").unlink(missing_ok=True)
    first = max(number - settings.memory + 1, 1)
    parts = [load_experiences(folder / f"experience-{older}.npz") for older in range(first, number)]
    return join_experiences([*parts, experiences])


def passes_gate(champion: dict[str, float], successor: dict[str, float], shares: dict[str, float]) -> bool:
    """Return whether the successor replaces the champion, given their win rates and the opponents' shares."""
    before = champion | {PREVIOUS: 0.5}  # against itself, the champion wins half of its games
    return sum(shares[bot] * (rate - before[bot]) for bot, rate in successor.items()) >= 0


def _player_of(folder: Path, settings: LoopSettings, number: int) -> str:
    """Return the bot that plays as a generation: the ancestor's name, or a network file."""
    return str(folder / f"generation-{number}.safetensors") if number else settings.ancestor


def gather_experience(
    players: Sequence[str], settings: LoopSettings, number: int, workers: Workers, progress: Progress
) -> tuple[Experience, Experience]:
    """Return the experience of the last of these generations against the pool and the recent generations."""
    opponents = settings.pool | dict.fromkeys(
        players[max(len(players) - settings.past, 1) :], settings.past_share
    )
    seed = settings.seed * 1_000_003 + number
    parts = range(max(settings.hands // settings.hands_per_part, 1))
    tasks = [(players[-1], opponents, settings, seed, part) for part in parts]
    return join_experiences(list(_results(workers, gather_part, tasks, "gathering", progress)))


def evaluate(
    bot: str, others: dict[str, str], settings: LoopSettings, workers: Workers, progress: Progress
) -> dict[str, MatchResult]:
    """Return matches against the pool and `others`, a dict from the reported name to the bot."""
    opponents = {name: name for name in settings.pool} | others
    tasks = [
        (bot, opponent, settings.games, settings.seed, settings.knock) for opponent in opponents.values()
    ]
    results = _results(workers, play_task, tasks, "evaluating", progress)
    return dict(zip(opponents, results, strict=True))


def _results(
    workers: Workers, function: Callable[[Any], Any], tasks: Sequence[Any], what: str, progress: Progress
) -> Iterator[Any]:
    progress(what, 0, len(tasks))
    for done, result in enumerate(workers.map(function, tasks), 1):
        progress(what, done, len(tasks))
        yield result


# --- In the workers -----------------------------------------------------------------------------------


def _player(bot: str, knock: str) -> Agent:
    """Return a bot by name, or a generation by its file, in this machine's fastest precision."""
    if not bot.endswith(".safetensors"):
        return agents.make(bot)
    # The values need little precision.
    return GenerationBot(bot, knock, dtype=torch.bfloat16 if HAS_BFLOAT16 else torch.float32)


def gather_part(task: tuple[str, dict[str, float], LoopSettings, int, int]) -> tuple[Experience, Experience]:
    """Return one part of the experience; see `gather_experience`."""
    parent, opponents, settings, seed, part = task
    with torch_threads():
        pool = [_player(bot, settings.knock) for bot in opponents]
        learner = _player(parent, settings.knock)
        shares = list(opponents.values())
        return gather(learner, pool, shares, settings.hands_per_part, seed, part, settings.search)


def play_task(task: tuple[str, str, int, int, str]) -> MatchResult:
    """Return a match of `evaluate`."""
    bot, opponent, games, seed, knock = task
    with torch_threads():
        return play_match(_player(bot, knock), _player(opponent, knock), games, seed)


# --- The program --------------------------------------------------------------------------------------


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
    """Settings of a new run; a resumed one has its own."""


def read_command(program: str, description: str | None, words: Sequence[str] | None = None) -> Options:
    """Return the options that a command line gives, those of a resumed run with its settings."""
    given = tyro.cli(Options, prog=program, description=description, args=words)
    if not (given.folder / SETTINGS).exists():
        return given
    default = replace(given, settings=open_run(given.folder, None)[0])
    return tyro.cli(Options, prog=program, description=description, args=words, default=default)


def climb(options: Options) -> None:
    """Run the loop, print each generation and draw their win rates."""
    settings = options.settings
    if (options.folder / SETTINGS).exists():
        open_run(options.folder, settings)  # raises for other settings before anything is printed
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

        for generation in run(options.folder, options.generations, settings, workers, show):
            tqdm.write(line_of(generation))
            played, history = open_run(options.folder, None)
            origin = origin_line(f"{played.games:,} games a match", played.seed)
            draw(history, options.folder / "win_rates.png", origin)
    print(f"picture: {options.folder / 'win_rates.png'}")
    try:
        print(f"champion: {champion(options.folder)}")
    except FileNotFoundError:
        others = len(read_history(options.folder)) - 1
        print(f"champion: generation 0; none of the {others} after it has passed the gate")


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
