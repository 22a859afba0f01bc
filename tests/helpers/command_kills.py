"""Kill `gin-rummy tournament` and `python -m research tune` at many events and resume them each time.

    python tests/helpers/command_kills.py FOLDER [KILLS]

A session is killed before or after a random system call of those that write files, or while a match is
played, and the next one resumes. A command that ends must have written the same files as an uninterrupted
run, byte for byte; then it starts again, until the number of kills is reached. It forks, so it is a separate
script.
"""

from __future__ import annotations

import os
import random
import shutil
import signal
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path

import torch
from killed_sessions import FILE_EVENTS, fork, kill_at

from gin_env import cli
from gin_env.batch import Games
from research.__main__ import app as research_app

KILLS = 12
PLAY_EVENTS = [(Games, "play")]
COMMANDS = {
    "tournament": "tournament simple random simple:knock_at=4 tonic --games 4 --hands --seed 5",
    "tune": "tune tonic --trials 4 --games 2 --final-games 2 --finalists 2 --opponent random --seed 3",
}
OUTPUTS = ("out.json", "out.csv")
LOG = "out.json.matches"


def run(name: str, folder: Path, prepare: Callable[[], None] = lambda: None) -> int | None:
    """Run one session in a fork; return its exit status, or None if it was killed."""
    written = [str(folder / output) for output in OUTPUTS]
    arguments = [*COMMANDS[name].split(), "--json", written[0], "--csv", written[1]]
    if (folder / LOG).exists():
        arguments.append("--resume")

    def command() -> None:
        prepare()
        (research_app if name == "tune" else cli.app)(arguments, standalone_mode=False)

    _, status = os.waitpid(fork(command, folder / "output.txt"), 0)
    return None if os.WIFSIGNALED(status) else os.waitstatus_to_exitcode(status)


def results(folder: Path) -> list[bytes]:
    """Return the contents of the output files."""
    return [(folder / output).read_bytes() for output in OUTPUTS]


def kill_and_resume(name: str, folder: Path, kills: int, generator: random.Random) -> int:
    """Kill and resume a command this number of times; return how often it ended."""
    whole = folder / "whole"
    whole.mkdir(parents=True)
    assert run(name, whole) == 0, (whole / "output.txt").read_text()
    expected = results(whole)
    killed = folder / "killed"
    killed.mkdir()
    done = ended = 0
    while done < kills or not ended:
        events, most = (FILE_EVENTS, 15) if generator.random() < 0.7 else (PLAY_EVENTS, 150)
        if done >= kills:
            events = ()
        status = run(
            name, killed, partial(kill_at, generator.randint(1, most), generator.random() < 0.5, events)
        )
        done += status is None
        if status is not None:
            assert status == 0, (killed / "output.txt").read_text()
            assert results(killed) == expected, f"{name}: other results after {done} kills"
            left = {path.name for path in killed.iterdir() if path.suffix != ".partial"}
            assert left == {path.name for path in whole.iterdir()}, left
            ended += 1
            shutil.rmtree(killed)
            killed.mkdir()
    return ended


def main(folder: str, kills: str = str(KILLS), seed: str = "5") -> None:
    """Kill each command this number of times; the arguments are those of the command line."""
    torch.set_num_threads(1)
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    ended = sum(
        kill_and_resume(name, Path(folder) / name, int(kills), random.Random(f"{name} {seed}"))
        for name in COMMANDS
    )
    print(f"{int(kills) * len(COMMANDS)} kills, {ended} resumed runs ended")


if __name__ == "__main__":
    main(*sys.argv[1:])
