"""OpenSpiel's gin_rummy in pure C++: runs the program that `openspiel_cpp/CMakeLists.txt` builds.

The program measures itself; starting it and loading the game are not in its time.
"""

import subprocess
import sys
from pathlib import Path

from worker import main

PROGRAM = Path(sys.prefix) / "build" / "gin_rummy_games"


def load():
    """See `worker`."""
    if not PROGRAM.exists():
        raise FileNotFoundError(f"{PROGRAM} has not been built")

    def make(workload, unit):
        def work(rounds):
            done = subprocess.run(
                [PROGRAM, workload, str(rounds)], check=True, capture_output=True, text=True
            )
            seconds, decisions, hands = map(float, done.stdout.split())
            amounts = {"decisions": decisions, "hands": hands, "seconds": seconds}
            return {name: amounts[name] for name in (unit, "hands", "seconds")}

        return lambda: work

    rates = ("play", "play_mask", "play_observation")
    return {
        **{name: make(name, "decisions") for name in rates},
        "deadwood": make("deadwood", "hands"),
        "simple": make("simple", "hands"),
    }, {}


if __name__ == "__main__":
    main(load)
