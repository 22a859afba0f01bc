"""Machine instructions of fixed amounts of work, which do not depend on the load of the machine.

callgrind (of valgrind) runs one process for each of the `workloads`, which runs once to
load its kernels and once for the count. (In a shared process, the counts of Python-heavy workloads vary by up
to 2 % with the workloads run before.) `os.getppid`, which nothing else calls, marks where each count
begins and ends: callgrind writes its counts and resets them whenever the C library's function of that name
is called (``--dump-before``). Setting up, importing and compiling are not in the counts; callgrind observes
the process only after them (``--instr-atstart=no``), which takes a tenth of the time.

To get equal code everywhere, kernels are compiled for one processor type (x86-64-v3) into a cache of their
own, and hashes are fixed. The versions of Python, NumPy, Numba and the C library do change the counts;
`compare` lists those that differ from the baseline's.
"""

from __future__ import annotations

import json
import os
import platform
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from tqdm import tqdm

from gin_env.support.files import write_json

PROCESSOR = "x86-64-v3"
MARK = "getppid"
BASELINE = Path(__file__).parent / "baseline.json"
TOLERANCE = 0.02
"""Maximum relative growth of a count. Runs of the same code gave equal counts to the last digit."""

START = """
import os, subprocess
if "COUNTING" in os.environ:
    subprocess.run(["callgrind_control", "-i", "on", str(os.getpid())], check=True, capture_output=True)
"""
"""Lets callgrind count from here on."""
COUNTED = f"""
import os, sys
from workloads import WORKLOADS
for name in sys.argv[1:]:
    workload = WORKLOADS[name]
    work = (workload.counted_make or workload.make)()
    work(workload.counted_rounds)
    exec({START!r})
    os.getppid()
    amounts = work(workload.counted_rounds)
    os.getppid()
    print(name, amounts[workload.unit], flush=True)
"""


class CannotCountError(Exception):
    """Instructions cannot be counted here; the message says why."""


def names() -> list[str]:
    """Return the names of the workloads that are counted."""
    from workloads import WORKLOADS

    return [name for name, workload in WORKLOADS.items() if workload.counted_rounds]


def count(workloads: list[str]) -> dict[str, Any]:
    """Return the instructions per unit of work of each workload, and the versions used."""
    if not shutil.which("valgrind"):
        raise CannotCountError("valgrind is not installed")
    if platform.machine() != "x86_64":
        raise CannotCountError(f"the baseline is for x86_64, this is {platform.machine()}")
    environment = {
        **os.environ,
        "PYTHONPATH": os.pathsep.join([str(Path(__file__).parent), os.environ.get("PYTHONPATH", "")]),
        "PYTHONHASHSEED": "0",
        "OMP_NUM_THREADS": "1",
        "OPENBLAS_NUM_THREADS": "1",
        "NUMBA_CPU_NAME": PROCESSOR,
        "NUMBA_CPU_FEATURES": "",
        "GIN_ENV_CACHE": str(Path(tempfile.gettempdir()) / f"gin-env-{PROCESSOR}-{os.getuid()}"),
    }
    plain = [sys.executable, "-c", COUNTED, *workloads]
    _run(plain, environment)  # compiles
    counts = {}
    for name in tqdm(workloads, unit="workload"):
        printed, totals = count_between_marks([*plain[:3], name], environment, 2)
        counts[name] = round(totals[1] / float(printed.split()[1]), 2)  # totals[0] is the preparation
    return {"instructions": counts, "versions": versions()}


def count_between_marks(command: list[str], environment: dict[str, str], marks: int) -> tuple[str, list[int]]:
    """Return a command's output, and the instructions counted up to each call of `os.getppid`."""
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder) / "counts"
        valgrind = ["valgrind", "--tool=callgrind", "--instr-atstart=no", f"--dump-before={MARK}"]
        printed = _run([*valgrind, f"--callgrind-out-file={out}", *command], environment | {"COUNTING": "1"})
        seen = len(list(out.parent.glob("counts.*")))
        if seen != marks:
            raise CannotCountError(f"callgrind saw {seen} marks instead of {marks}")
        return printed, [_total(out.with_name(f"counts.{part}")) for part in range(1, marks + 1)]


def _run(command: list[str], environment: dict[str, str]) -> str:
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    if done.returncode:
        lines = [
            line for line in done.stderr.splitlines() if line and not line.startswith("==")
        ]  # valgrind's own
        raise CannotCountError((lines or [f"exit status {done.returncode}"])[-1])
    return done.stdout


def _total(file: Path) -> int:
    found = re.search(r"^(?:totals|summary): (\d+)", file.read_text(), re.MULTILINE)
    if found is None:
        raise CannotCountError(f"no total in callgrind's {file.name}")
    return int(found[1])


def versions() -> dict[str, str]:
    """Return the versions of the software that affects the counts."""
    import llvmlite
    import numba
    import numpy
    import pettingzoo

    return {
        "python": platform.python_version(),
        "libc": " ".join(platform.libc_ver()),
        "numpy": numpy.__version__,
        "numba": numba.__version__,
        "llvmlite": llvmlite.__version__,
        "pettingzoo": pettingzoo.__version__,
    }


def compare(measured: dict[str, Any], baseline: dict[str, Any], tolerance: float) -> tuple[str, bool]:
    """Return a table of both counts, and whether any count has grown by more than the tolerance."""
    lines, worse = [], False
    for name, now in measured["instructions"].items():
        before = baseline["instructions"].get(name)
        if before is None:
            lines.append(f"{name:20} {'-':>12} {now:>12,.1f}            new: not in the baseline")
            continue
        change = now / before - 1
        verdict = "WORSE" if change > tolerance else "better" if change < -tolerance else "same"
        worse |= change > tolerance
        lines.append(f"{name:20} {before:>12,.1f} {now:>12,.1f} {100 * change:>+8.2f} %  {verdict}")
    header = f"{'instructions per':20} {'baseline':>12} {'now':>12} {'change':>10}"
    for what, version in baseline["versions"].items():
        present = measured["versions"].get(what)
        if present != version:
            lines.append(f"{what} was {version}, is {present}: counts may differ for that alone")
    return "\n".join([header, *lines]), worse


def read(path: Path) -> dict[str, Any]:
    """Return the counts in a file that `write` wrote."""
    return json.loads(path.read_text())


def write(counts: dict[str, Any], path: Path) -> None:
    """Write counts to a file, as a baseline or for a later `compare`."""
    write_json(path, counts)
