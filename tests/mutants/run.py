"""Mutation testing: how many small changes of the code do the tests notice?

    make mutants                                    (ten minutes, all modules of guards.py)
    python tests/mutants/run.py --minutes 60 --modules engine melds --seed 2 --compiled

Each mutant (`operators`) is put into a copy of the tree and the tests that guard the module (`guards`) run
until one fails. Kernels run uncompiled (`interpreted`), which makes a mutant a matter of seconds. With
``--compiled`` those that survive meet more tests, with compilation and a cache of their own; that takes a
minute each.

Results are kept in a JSON file, so that a later run goes on where this one stopped; those of modules that
have changed since are forgotten. Mutants are drawn at random, the same ones for the same seed.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import random
import resource
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

TESTS = Path(__file__).resolve().parents[1]
ROOT = TESTS.parent
sys.path.insert(0, str(TESTS))

from mutants.guards import ALSO_COMPILED, EQUIVALENT, GUARDS  # noqa: E402
from mutants.operators import Mutant, mutants  # noqa: E402

KILLED, SURVIVED, EQUAL = "killed", "survived", "equivalent"
_IGNORED = shutil.ignore_patterns(
    ".git",
    ".venv*",
    ".*_cache",
    ".hypothesis",
    "__pycache__",
    "*.egg-info",
    "build",
    "dist",
    "runs",
    "results",
)


class Tree:
    """A copy of the repository in which one module at a time is changed, and the tests run there."""

    def __init__(self, folder: str) -> None:
        self.root = Path(folder, "tree")
        self.cache = Path(folder, "cache")
        shutil.copytree(ROOT, self.root, symlinks=True, ignore=_IGNORED)
        self._seconds: dict[tuple[str, bool], float] = {}

    def survives(self, module: str, text: str, compiled: bool) -> bool:
        """Whether the tests of the module pass with this text in its place."""
        limit = self.seconds(module, compiled)
        path = self.root / module
        original = path.read_text()
        path.write_text(text)
        try:
            return self._test(module, compiled, 3 * limit + 20)[0]
        finally:
            path.write_text(original)
            shutil.rmtree(self.cache, ignore_errors=True)

    def seconds(self, module: str, compiled: bool) -> float:
        """Processor seconds of the tests of a module as it is. Raises RuntimeError if they fail."""
        key = module, compiled
        if key not in self._seconds:
            passed, self._seconds[key] = self._test(module, compiled, 3600)
            if not passed:
                raise RuntimeError(f"the tests of {module} fail without a mutant")
        return self._seconds[key]

    def _test(self, module: str, compiled: bool, limit: float) -> tuple[bool, float]:
        """(passed, processor seconds); a run beyond the limit of seconds, in an endless loop, has failed."""
        names = (GUARDS[module] + (" " + ALSO_COMPILED.get(module, "") if compiled else "")).split()
        command = [sys.executable, "-m", "pytest", "-x", "-q", "-p", "no:cacheprovider", "--no-header"]
        if not compiled:
            command += ["-p", "mutants.interpreted", "-m", "not compiled and not long"]
        command += [str(self.root / "tests" / f"test_{name}.py") for name in names]
        environment = os.environ | {
            "PYTHONPATH": f"{self.root}{os.pathsep}{self.root / 'tests'}",
            "PYTHONDONTWRITEBYTECODE": "1",
            "GIN_ENV_CACHE": str(self.cache),
            "OMP_NUM_THREADS": "1",
        }

        def limit_processor_time() -> None:
            resource.setrlimit(resource.RLIMIT_CPU, (int(limit), int(limit) + 5))

        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        done = subprocess.run(
            command,
            cwd=self.root,
            env=environment,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            preexec_fn=limit_processor_time,
        )
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        return done.returncode == 0, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


class Results:
    """What became of each mutant, in a JSON file: module -> its fingerprint and {mutant: result}."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.modules: dict[str, dict] = json.loads(path.read_text()) if path.exists() else {}
        for module in list(self.modules):
            if self.modules[module]["fingerprint"] != _fingerprint(module):
                del self.modules[module]

    def of(self, module: str) -> dict[str, dict]:
        """Mutant's name -> {"result", "line", "was", "became"}."""
        entry = self.modules.setdefault(module, {"fingerprint": _fingerprint(module), "mutants": {}})
        return entry["mutants"]

    def save(self) -> None:
        """Write the file whole."""
        partial = self.path.with_name(self.path.name + ".partial")
        partial.write_text(json.dumps(self.modules, indent=1) + "\n")
        partial.replace(self.path)


def _fingerprint(module: str) -> str:
    path = ROOT / module
    return hashlib.sha256(path.read_bytes()).hexdigest()[:16] if path.exists() else ""


def changed_line(source: str, mutant: Mutant) -> tuple[str, str]:
    """The line of a mutant (of several lines: the first) before and after, without indentation."""
    after = mutant.apply(source).splitlines()
    return source.splitlines()[mutant.line - 1].strip(), after[mutant.line - 1].strip()


def in_turn(modules: list[str], seed: int) -> Iterator[tuple[str, Mutant]]:
    """All mutants of the modules: each module's in random order, the modules taking turns."""
    queues = {}
    for module in modules:
        found = mutants((ROOT / module).read_text())
        random.Random(f"{seed} {module}").shuffle(found)
        queues[module] = found
    while queues:
        for module in list(queues):
            if queues[module]:
                yield module, queues[module].pop()
            else:
                del queues[module]


def report(results: Results) -> str:
    """The score by module, and every survivor."""
    lines, total, dead = [], 0, 0
    for module in sorted(results.modules):
        entries = results.of(module)
        kinds = [entry["result"] for entry in entries.values()]
        killed, counted = kinds.count(KILLED), len(kinds) - kinds.count(EQUAL)
        total, dead = total + counted, dead + killed
        share = f"{100 * killed / counted:5.1f} %" if counted else "    -  "
        lines.append(f"{share}  {killed:4} of {counted:4}  {module}  ({kinds.count(EQUAL)} equivalent)")
        for name, entry in sorted(entries.items(), key=lambda item: int(item[0].split(":")[0])):
            if entry["result"] == SURVIVED:
                lines.append(f"    {module}:{name.split(':')[0]}  {entry['was']}  ->  {entry['became']}")
    lines.append(f"{100 * dead / total:5.1f} %  {dead:4} of {total:4}  all" if total else "no mutants")
    return "\n".join(lines)


def main() -> None:
    """The command line."""
    parser = argparse.ArgumentParser(description="Mutation testing of gin-env; see the top of this file.")
    parser.add_argument("--minutes", type=float, default=10.0, help="stop after this time (default: 10)")
    parser.add_argument("--modules", nargs="+", help="parts of module paths, such as engine (default: all)")
    parser.add_argument("--seed", type=int, default=1, help="of the order in which mutants are tried")
    parser.add_argument("--compiled", action="store_true", help="try survivors again with compiled kernels")
    parser.add_argument("--results", type=Path, default=ROOT / "mutants.json", help="file of the results")
    parser.add_argument("--report", action="store_true", help="print the results so far, run nothing")
    arguments = parser.parse_args()
    wanted = arguments.modules or [""]
    modules = [module for module in GUARDS if any(part in module for part in wanted)]
    if not modules:
        parser.error(f"no module with tests is named {' or '.join(wanted)}; choose from {', '.join(GUARDS)}")
    results = Results(arguments.results)
    stop = time.monotonic() + 60 * arguments.minutes
    with tempfile.TemporaryDirectory(prefix="gin-env-mutants-") as folder:
        tree = None if arguments.report else Tree(folder)
        for module, mutant in in_turn(modules, arguments.seed) if tree else ():
            if time.monotonic() > stop:
                break
            before = results.of(module).get(mutant.name)
            if before and not (
                arguments.compiled and before["result"] == SURVIVED and not before["compiled"]
            ):
                continue
            source = (ROOT / module).read_text()
            was, became = changed_line(source, mutant)
            if (was, became) in EQUIVALENT.get(module, {}):
                result = EQUAL
            else:
                text = mutant.apply(source)
                survived = bool(before) or tree.survives(module, text, compiled=False)
                if survived and arguments.compiled:
                    survived = tree.survives(module, text, compiled=True)
                result = SURVIVED if survived else KILLED
            results.of(module)[mutant.name] = {
                "result": result, "was": was, "became": became, "compiled": arguments.compiled,
            }  # fmt: skip
            results.save()
            print(f"{result:10} {module}:{mutant.line}  {was}  ->  {became}", flush=True)
    print(report(results))


if __name__ == "__main__":
    main()
