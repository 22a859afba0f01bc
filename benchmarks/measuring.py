"""Measured processes, one for each library, all on one core; only one works at a time, in alternation."""

from __future__ import annotations

import contextlib
import json
import os
import statistics
import subprocess
import tempfile
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

ONE_THREAD = {
    "OMP_NUM_THREADS": "1",
    "OPENBLAS_NUM_THREADS": "1",
    "MKL_NUM_THREADS": "1",
    "NUMBA_NUM_THREADS": "1",
    "XLA_FLAGS": "--xla_cpu_multi_thread_eigen=false",
    "JAX_PLATFORMS": "cpu",
    "PYTHONHASHSEED": "0",
    "PYTHONWARNINGS": "ignore",
    "SDL_VIDEODRIVER": "dummy",
    "PYGAME_HIDE_SUPPORT_PROMPT": "1",
}


class ProcessFailedError(Exception):
    """A measured process ended or reported an error."""


TIMEOUT = 600.0
"""Seconds after which a process that does not answer is ended; training, the slowest, takes a minute."""


class Process:
    """One library's worker process; see `peers/worker.py` for its protocol.

    One that does not answer within `timeout` seconds is ended; everything asked of it afterwards fails too.
    """

    def __init__(
        self, name: str, python: Path | str, script: Path, core: int, seconds: float, timeout: float = TIMEOUT
    ) -> None:
        self.name = name
        self.timeout = timeout
        self._ended = ""  # why, once it has
        self.command = [str(python), str(script), "--core", str(core), "--seconds", str(seconds)]
        self.environment = {**os.environ, **ONE_THREAD}
        self.environment.pop("PYTHONPATH", None)
        self._errors = tempfile.TemporaryFile("w+")  # noqa: SIM115 - as long as the process
        self._process = subprocess.Popen(
            [*self.command, "--serve"],
            env=self.environment,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._errors,
            text=True,
        )
        try:
            announced = self._answer()
        except ProcessFailedError:
            self.close()
            raise
        self.rates: list[str] = announced["rates"]
        self.once: list[str] = announced["once"]

    def _answer(self) -> dict[str, Any]:
        alarm = threading.Timer(self.timeout, self._process.kill)
        alarm.start()
        line = self._process.stdout.readline()
        too_late = not alarm.is_alive()
        alarm.cancel()
        if not line:
            self._process.wait()
            self._ended = f"no answer within {self.timeout:g} seconds" if too_late else self._last_error()
            raise ProcessFailedError(self._ended)
        return json.loads(line)

    def _last_error(self) -> str:
        self._errors.seek(0)
        lines = self._errors.read().strip().splitlines()
        return lines[-1] if lines else f"the process ended with status {self._process.returncode}"

    def ask(self, command: str, workload: str) -> dict[str, Any]:
        """Return an answer. Raises ProcessFailedError if the workload failed, or the process has ended."""
        if self._ended:
            raise ProcessFailedError(self._ended)
        try:
            self._process.stdin.write(f"{command} {workload}\n")
            self._process.stdin.flush()
        except BrokenPipeError as error:
            raise ProcessFailedError(self._last_error()) from error
        answer = self._answer()
        if "error" in answer:
            raise ProcessFailedError(answer["error"])
        return answer

    def measure_once(self, figure: str) -> dict[str, float]:
        """Return a figure that needs its own process."""
        try:
            done = subprocess.run(
                [*self.command, "--once", figure],
                env=self.environment,
                capture_output=True,
                text=True,
                check=False,
                timeout=self.timeout,
            )
        except subprocess.TimeoutExpired as error:
            raise ProcessFailedError(f"no answer within {self.timeout:g} seconds") from error
        if done.returncode:
            raise ProcessFailedError((done.stderr.strip().splitlines() or ["no message"])[-1])
        return json.loads(done.stdout)

    def close(self) -> None:
        """End the process."""
        with contextlib.suppress(BrokenPipeError):  # it may have ended already
            self._process.stdin.close()
        self._process.wait()
        self._process.stdout.close()
        self._errors.close()


Runs = dict[str, dict[str, list[float]]]
"""process -> figure (``"play decisions/s"``) -> one value for each repeat"""


def alternate(
    processes: list[Process],
    chosen: Callable[[str, str], bool],
    repeats: int,
    once_repeats: int,
    progress: Callable[[str], object],
) -> tuple[Runs, dict[str, str]]:
    """Every chosen workload of every process in turn, `repeats` times over; failures come with their reasons.

    `chosen(process, workload)` says what to measure; `progress` is called before each of the steps
    (`count_steps`).
    """
    runs: Runs = {process.name: {} for process in processes}
    failed: dict[str, str] = {}

    def record(process: Process, workload: str, figures: dict[str, float]) -> None:
        for figure, value in figures.items():
            runs[process.name].setdefault(f"{workload} {figure}", []).append(value)

    def attempt(process: Process, workload: str, action: Callable[[], None]) -> None:
        key = f"{process.name} {workload}"
        progress(key)
        if key not in failed:
            try:
                action()
            except ProcessFailedError as error:
                failed[key] = str(error)

    def run(process: Process, workload: str) -> None:
        answer = process.ask("run", workload)
        record(
            process, workload, {f"{unit}/s": n / answer["seconds"] for unit, n in answer["amounts"].items()}
        )

    # The same workload of all libraries in sequence, so that compared runs are close together in time.
    rates = [
        (process, name)
        for name in dict.fromkeys(name for process in processes for name in process.rates)
        for process in processes
        if name in process.rates and chosen(process.name, name)
    ]
    once = [(process, name) for process in processes for name in process.once if chosen(process.name, name)]
    for process, name in rates:
        attempt(process, name, lambda process=process, name=name: process.ask("prepare", name))
    for _ in range(repeats):
        for process, name in rates:
            attempt(process, name, lambda process=process, name=name: run(process, name))
    for _ in range(once_repeats):
        for process, name in once:
            attempt(
                process,
                name,
                lambda process=process, name=name: record(process, name, process.measure_once(name)),
            )
    return runs, failed


def count_steps(
    processes: list[Process], chosen: Callable[[str, str], bool], repeats: int, once_repeats: int
) -> int:
    """Return the number of times that `alternate` calls `progress`."""
    rates = sum(chosen(process.name, name) for process in processes for name in process.rates)
    once = sum(chosen(process.name, name) for process in processes for name in process.once)
    return rates * (repeats + 1) + once * once_repeats


def medians(runs: Runs) -> dict[str, dict[str, float]]:
    """Return the medians: process -> figure -> median."""
    return {
        name: {figure: statistics.median(values) for figure, values in figures.items()}
        for name, figures in runs.items()
    }
