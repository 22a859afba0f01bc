"""Loop of every measured process: announce the workloads, then run those that are requested line by line.

Standard library only: it runs in the virtual environment of each peer, and in ours. A script gives `main` a
function that imports its library and returns what it can do:

    rates: {name: make}, where `make()` sets up and returns `work(rounds)`, which returns how much it did by
           unit; an entry "seconds" replaces the measured time.
    once:  {name: function}, measured in a process of its own; it returns figures by name.

    python peers/openspiel_games.py                    every rate once, as JSON lines
    python peers/openspiel_games.py --once memory      one of the figures that need a fresh process
    python peers/openspiel_games.py --serve            commands on standard input (this is how run.py uses it)
"""

import argparse
import gc
import json
import math
import os
import sys
import time
import traceback


def resident_bytes():
    """Resident memory of this process in bytes (Linux)."""
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")


def bytes_each(make, number):
    """Return the growth of the process per object, for `number` objects that `make(index)` returns."""
    kept = [make(index) for index in range(5)]
    gc.collect()
    before = resident_bytes()
    kept += [make(index) for index in range(number)]
    return (resident_bytes() - before) / number


def timed(work, rounds):
    """Return the seconds and the amounts by unit of one run."""
    start = time.perf_counter()
    amounts = work(rounds)
    seconds = time.perf_counter() - start
    return amounts.pop("seconds", seconds), amounts


def rounds_for(work, seconds):
    """Return the number of rounds that take about this long, after an unmeasured round as warm-up."""
    timed(work, 1)
    rounds = 1
    while (taken := timed(work, rounds)[0]) < seconds / 8:
        rounds *= 4
    return max(1, math.ceil(rounds * seconds / taken))


class Worker:
    """Workloads that have been set up, and how many rounds of each fill the wanted time."""

    def __init__(self, rates, seconds):
        self.rates = rates
        self.seconds = seconds
        self.prepared = {}

    def prepare(self, name):
        work = self.rates[name]()
        self.prepared[name] = work, rounds_for(work, self.seconds)
        return {}

    def run(self, name):
        if name not in self.prepared:
            self.prepare(name)
        work, rounds = self.prepared[name]
        seconds, amounts = timed(work, rounds)
        return {"seconds": seconds, "amounts": amounts}

    def answer(self, command, name):
        """Return the result of one command, or the error, as a dictionary that names the workload."""
        try:
            return {"name": name, **getattr(self, command)(name)}
        except Exception as error:
            traceback.print_exc()
            return {"name": name, "error": f"{type(error).__name__}: {error}"}


def main(load):
    """Run as the arguments say; `load()` returns (rates, once)."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--serve", action="store_true", help="obey lines of 'prepare NAME' and 'run NAME'")
    parser.add_argument("--once", help="measure this figure only; 'first' is import and first work")
    parser.add_argument("--core", type=int, default=-1, help="processor to run on; -1 for any")
    parser.add_argument("--seconds", type=float, default=0.3, help="length of one run")
    options = parser.parse_args()
    if options.core >= 0:
        os.sched_setaffinity(0, {options.core})
    # What libraries print must not mix with the answers: they keep standard output for themselves.
    answers = os.fdopen(os.dup(1), "w", buffering=1)
    os.dup2(2, 1)
    start = time.perf_counter()
    rates, once = load()
    imported = time.perf_counter() - start
    if options.once:
        if options.once == "first" and "first" not in once:
            start = time.perf_counter()
            next(iter(rates.values()))()(1)
            figures = {"import seconds": imported, "first step seconds": time.perf_counter() - start}
        else:
            figures = once[options.once]()
        print(json.dumps(figures), file=answers)
        return
    worker = Worker(rates, options.seconds)
    if not options.serve:
        for name in rates:
            print(json.dumps(worker.answer("run", name)), file=answers)
        return
    print(
        json.dumps({"rates": list(rates), "once": ["first", *(n for n in once if n != "first")]}),
        file=answers,
    )
    for line in sys.stdin:
        print(json.dumps(worker.answer(*line.split())), file=answers)
