"""`make soak`: randomised checks of any size, summarised in one table.

    python tests/helpers/soak.py                       # two to three minutes
    python tests/helpers/soak.py --scale 100           # some hours
    python tests/helpers/soak.py --only leaks,faces
    python tests/helpers/soak.py --scale 10 --out results   # the published table, results/long-checks.json

==============  ==========================================================================================
openspiel       hands played here and in OpenSpiel (if pyspiel is installed), see openspiel.py
leaks           hidden cards re-dealt: no observation, mask, record, view or decision of a bot must change
faces           the environments under random rules against the reference rules, see environment_checks.py
bounds          random rules, all bots and estimators, with every index checked by numba
determinism     matches in fresh processes with other hashes, batches and threads: the results must be equal
memory          steps of 1,024 games: no card is lost or duplicated, and the process does not grow
programs        matches against a bot in another program, one program each: nothing may be left of it
kills           tournaments and searches killed at random and resumed, see command_kills.py: equal results
==============  ==========================================================================================

The exit status is 1 if anything was found.
"""

from __future__ import annotations

import json
import os
import random
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import suppress
from importlib.util import find_spec
from pathlib import Path
from typing import Annotated, NamedTuple

import numpy as np
import typer

HERE = Path(__file__).parent
POSITIONS_OF_A_ROUND = 3000


class Row(NamedTuple):
    """A row of the table."""

    check: str
    size: str
    found: int
    """What must not be; 0 is good."""
    note: str = ""


def openspiel(scale: float, seed: int) -> Row:
    """Legal actions and results against OpenSpiel's."""
    if find_spec("pyspiel") is None:
        return Row("openspiel", "not installed", 0, "pip install open_spiel")
    from openspiel import VARIANTS, compare

    bots = ("simple", "random", "simple:knock_at=0", "late-knock", "tonic", "utility")
    counts = sum(
        (compare(int(100_000 * scale / len(VARIANTS)), seed, bots, variant) for variant in VARIANTS),
        Counter(),
    )
    size = f"{counts['decisions']:,} decisions, {counts['knocks settled']:,} knocks"
    notes = ", ".join(f"{counts[name]} {name}" for name in _NOTED if counts[name])
    return Row("openspiel", size, counts["differences"], notes)


_NOTED = (
    "hands ended by OpenSpiel's 50 upcards",
    "knocks worth more in another arrangement",
    "knocks that OpenSpiel misses",
)


def leaks(scale: float, seed: int) -> Row:
    """Re-deal what a player cannot see, and compare all that they see and do."""
    from hands_in_words import started
    from played_positions import as_games, redealt
    from rule_variants import VARIANTS

    from gin_env import agents
    from gin_env.game.state import OVER

    players = [agents.make(name) for name in agents.quick_names()]
    variants = list(VARIANTS.values())
    wanted, positions, found, batch = int(12_000 * scale), 0, 0, 0
    while positions < wanted:
        rules = variants[batch % len(variants)]
        size = POSITIONS_OF_A_ROUND // 20
        games = started(size, rules, batch * size, seed, episode="game")
        snapshots = []
        for _ in range(20):
            waiting = np.flatnonzero(~games.done)
            snapshots.append(games.state[waiting].copy())
            games.play(waiting, agents.make(("random", "simple")[batch // 2 % 2]).act(games.views(waiting)))
        states = np.concatenate(snapshots)
        for player in range(2):
            true = as_games(states, rules)
            false = as_games(redealt(states, rules, player, seed + batch), rules)
            seen = [
                (table.views(table.everyone, player), table.observations(table.everyone, player))
                for table in (true, false)
            ]
            (views, *arrays), (other_views, *other_arrays) = seen
            found += views.array.tobytes() != other_views.array.tobytes()
            found += views.masks().tobytes() != other_views.masks().tobytes()
            found += sum(a.tobytes() != b.tobytes() for a, b in zip(arrays, other_arrays, strict=True))
            acting = np.flatnonzero(
                (states["public"]["to_move"] == player) & (states["public"]["phase"] != OVER)
            )
            found += true.masks(acting).tobytes() != false.masks(acting).tobytes()
            for bot in players:
                found += int((bot.act(views[acting]) != bot.act(other_views[acting])).sum())
            positions += len(states)
        batch += 1
    return Row("leaks", f"{positions:,} positions, {len(players)} bots", found)


def faces(scale: float, seed: int) -> Row:
    """Compare the environments with the reference rules, under random rules."""
    from environment_checks import compare_aec, compare_learners
    from rule_variants import random_rules

    rng, found, notes = random.Random(seed), 0, []
    hands: Counter[str] = Counter()
    for number in range(int(300 * scale) + 1):
        rules, episode = random_rules(rng), rng.choice(["hand", "game"])
        reward, compare = rng.choice(["points", "win"]), rng.choice([compare_aec, compare_learners])
        try:
            hands += compare(rules, episode, reward, seed + number)
        except Exception as error:
            found += 1
            notes.append(f"{compare.__name__}({rules}, {episode!r}, {reward!r}, {seed + number}): {error}")
    return Row("faces", f"{hands.total():,} hands", found, "; ".join(notes[:3]))


def play_random_rules(rounds: int, seed: int) -> str:
    """Whole games of all bots under random rules, with estimates; how much was played."""
    from rule_variants import random_rules

    from gin_env import agents, estimators
    from gin_env.batch import Games
    from gin_env.observations.views import PlayerView

    rng = random.Random(seed)
    names = (*agents.quick_names(), "search:samples=4")
    players = [agents.make(name) for name in names]
    guesses = [estimators.make(name) for name in estimators.names() if name != "omniscient"]
    actions = 0
    for number in range(rounds):
        games = Games(30, random_rules(rng), rng.choice(["hand", "game"]))
        games.start(seed=rng.getrandbits(63))
        for waiting in games.until_over():
            views = PlayerView(games.views(waiting).array)
            views.masks(), views.observations()
            if rng.random() < 0.1:
                rng.choice(guesses).estimate(views)
            games.play(waiting, players[(number + rng.randrange(3)) % len(players)].act(views))
            actions += len(waiting)
    return f"{rounds:,} random rules, {actions:,} actions of {len(players)} bots"


_BOUNDS = """
import sys, warnings
warnings.simplefilter("ignore")
import soak
print(soak.play_random_rules(int(60 * float(sys.argv[1])) + 1, int(sys.argv[2])))
"""


def bounds(scale: float, seed: int) -> Row:
    """Run rules and bots with bounds checking, in a separate kernel cache."""
    from gin_env.support.kernel_cache import cache_folder

    folder = cache_folder()
    parent = folder.parent if folder is not None else Path(tempfile.gettempdir())
    environment = {"NUMBA_BOUNDSCHECK": "1", "GIN_ENV_CACHE": str(parent / "bounds-checked")}
    done = _python(_BOUNDS, str(scale), str(seed), **environment)
    if done.returncode:
        return Row("bounds", "stopped", 1, done.stderr.strip().splitlines()[-1])
    return Row("bounds", done.stdout.strip(), 0)


_MATCHES = """
import json, sys
import torch
from gin_env.matches import matches
torch.set_num_threads(int(sys.argv[2]))
matches.BATCH_SIZE = int(sys.argv[3])
pairs = [("simple", "tonic"), ("generation", "tonic"), ("offensive", "cfr-plus")]
pairs.append(("balanced", "safe-discard"))
games = int(sys.argv[1])
played = [matches.play_match(a, b, games, 3, episode="hand") for a, b in pairs]
print(json.dumps([match.as_dict(deals=True) for match in played]))
"""


def determinism(scale: float, seed: int) -> Row:
    """Repeat the same matches in different settings that must not affect the results."""
    games = 2 * int(100 * scale + 1)
    settings = [("0", "1", 2048), ("1", "1", 2), ("2", "2", 60), (str(seed + 3), "1", 14)]
    results = []
    for hash_seed, threads, batch in settings:
        done = _python(_MATCHES, str(games), threads, str(batch), PYTHONHASHSEED=hash_seed)
        if done.returncode:
            return Row("determinism", "stopped", 1, done.stderr.strip().splitlines()[-1])
        results.append(json.loads(done.stdout))
    found = sum(one != results[0][pair] for result in results for pair, one in enumerate(result))
    size = f"{len(settings)} settings of {len(results[0])} matches, {games:,} hands"
    return Row("determinism", size, found)


def memory(scale: float, seed: int) -> Row:
    """A long run of the vector environment."""
    import gymnasium

    rng = np.random.default_rng(seed)
    env = gymnasium.make_vec("gin_env/GinRummy-v0", num_envs=1024, opponent="simple")
    observation, _ = env.reset(seed=seed)
    found, start, steps = 0, 0.0, int(3000 * scale)
    for step in range(steps):
        masks = observation["action_mask"]
        observation, *_ = env.step((masks * rng.random(masks.shape, np.float32)).argmax(axis=1))
        if step % 100 == 0:
            state = env.unwrapped.seat.games.state  # type: ignore[attr-defined]
            hands, pile = state["private"]["hand"], state["public"]["pile"]
            cards = np.bitwise_count(hands[:, 0]) + np.bitwise_count(hands[:, 1]) + np.bitwise_count(pile)
            together = np.bitwise_count(hands[:, 0] | hands[:, 1] | pile)
            found += int((cards + state["public"]["stock_left"] != 52).sum() + (cards != together).sum())
        if step == steps // 2:
            start = _megabytes()
    grown = _megabytes() - start
    return Row("memory", f"{steps * 1024:,} steps", found + (grown > 20), f"grown by {grown:.1f} MB")


def programs(scale: float, seed: int) -> Row:
    """Matches against the example bot in another program, one program each; count what is left of them."""
    from gin_env import agents, play_match

    command = f"process:{sys.executable} -S {HERE.parents[1] / 'examples' / 'protocol_bot.py'}"
    matches = int(100 * scale) + 1

    def play(number: int) -> None:
        play_match(agents.make(command, programs=True), "simple", 2, seed + number, episode="hand")

    found = 0
    play(0)
    expected, start = _open_things(), _megabytes()
    for number in range(1, matches):
        play(number)
        deadline = time.monotonic() + 5  # the thread that asked the program ends shortly after it
        while _open_things() > expected and time.monotonic() < deadline:
            time.sleep(0.01)
        found += _open_things() > expected
    grown = _megabytes() - start
    return Row("programs", f"{matches:,} matches", found + (grown > 20), f"grown by {grown:.1f} MB")


def _open_things() -> int:
    """Return the number of open files, threads and child processes of this process (Linux)."""
    tasks, children = list(Path("/proc/self/task").iterdir()), []
    for task in tasks:
        with suppress(FileNotFoundError, ProcessLookupError):  # a thread has ended in between
            children += (task / "children").read_text().split()
    return len(list(Path("/proc/self/fd").iterdir())) + len(tasks) + len(children)


def kills(scale: float, seed: int) -> Row:
    """Kill and resume commands; a difference ends the script."""
    code = "import sys, command_kills; command_kills.main(*sys.argv[1:])"
    with tempfile.TemporaryDirectory() as folder:
        done = _python(code, folder, str(int(10 * scale) + 1), str(seed))
    if done.returncode:
        return Row("kills", "stopped", 1, done.stderr.strip().splitlines()[-1])
    return Row("kills", done.stdout.strip(), 0)


def _megabytes() -> float:
    """Return the memory of this process (Linux; 0 elsewhere)."""
    try:
        pages = int(Path("/proc/self/statm").read_text().split()[1])
    except OSError:
        return 0.0
    return pages * os.sysconf("SC_PAGE_SIZE") / 1e6


def _python(code: str, *arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    path = os.pathsep.join(filter(None, [str(HERE), os.environ.get("PYTHONPATH")]))
    return subprocess.run(
        [sys.executable, "-c", code, *arguments],
        env=os.environ | {"PYTHONPATH": path} | environment,
        capture_output=True,
        text=True,
        check=False,
    )


CHECKS: dict[str, Callable[[float, int], Row]] = {
    check.__name__: check for check in (openspiel, leaks, faces, bounds, determinism, memory, programs, kills)
}


def run(names: list[str], scale: float, seed: int) -> Iterator[tuple[Row, float]]:
    """Run each check and record its time in seconds."""
    for name in names:
        start = time.monotonic()
        yield CHECKS[name](scale, seed), time.monotonic() - start


def main(
    scale: Annotated[float, typer.Option(min=0.001, help="Size of every check; 1 takes minutes.")] = 1.0,
    only: Annotated[str, typer.Option(help="Some of the checks, separated by commas.")] = ",".join(CHECKS),
    seed: Annotated[int, typer.Option(min=0, help="Names the hands.")] = 0,
    out: Annotated[
        Path | None, typer.Option(help="Folder of results: write the table there, row by row.")
    ] = None,
) -> None:
    """Run the checks and print one table."""
    names = [name.strip() for name in only.split(",")]
    if unknown := [name for name in names if name not in CHECKS]:
        raise typer.BadParameter(f"unknown check {unknown[0]!r}; choose from {', '.join(CHECKS)}")
    command = f"make soak SCALE={scale:g}"
    if names != list(CHECKS) or seed:
        command = f"python tests/helpers/soak.py --scale {scale:g} --only {','.join(names)} --seed {seed}"
    rows: list[dict[str, object]] = []
    typer.echo("| check | size | found | seconds | |\n|---|---|---|---|---|")
    for row, seconds in run(names, scale, seed):
        typer.echo(f"| {row.check} | {row.size} | {row.found} | {seconds:.0f} | {row.note} |")
        rows.append(row._asdict() | {"seconds": round(seconds)})
        if out is not None:
            save(out, rows, command, seed)
    if any(row["found"] for row in rows):
        raise typer.Exit(1)


def save(results: Path, rows: list[dict[str, object]], command: str, seed: int) -> None:
    """Write the rows as the published result ``long-checks``."""
    sys.path.append(str(HERE.parents[1]))
    from research.reproduce import by_id
    from research.reproduce.experiment import Run
    from research.reproduce.results import describe

    with tempfile.TemporaryDirectory() as folder:
        run = Run(seed, quick=False, folder=Path(folder))
        describe(by_id.find("long-checks"), run, rows, command, None).save(results)


if __name__ == "__main__":
    typer.run(main)
