"""Run every script of `examples/frameworks` in its own virtual environment with current releases.

`unchanged.py` next to this file checks what else works, in one more environment.

    python benchmarks/compatibility.py                        # all of them, a minute of learning each
    python benchmarks/compatibility.py jax sb3 --seconds 10
    python benchmarks/compatibility.py sb3 --page             # and write the rows into docs/frameworks.md

The environments are kept in `.venv-frameworks`, so that a second run installs nothing but this checkout.
"""

from __future__ import annotations

import argparse
import os
import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parent.parent
SCRIPTS = ROOT / "examples" / "frameworks"
PAGE = ROOT / "docs" / "frameworks.md"
BEGIN, END = "<!-- measured by benchmarks/compatibility.py -->\n", "<!-- until here -->\n"
TORCH = "torch==" + re.findall(r"^torch==(.*)$", (ROOT / "constraints.txt").read_text(), re.MULTILINE)[0]
FRAMEWORKS: dict[str, tuple[list[str], list[list[str]]]] = {
    "cleanrl": ([TORCH, "."], [["cleanrl.py"], ["dqn.py"]]),
    "sb3": ([TORCH, ".[train]"], [["sb3.py", "--face", "vec"], ["sb3.py", "--face", "gym"]]),
    "rllib": ([TORCH, ".[rllib]"], [["rllib_ppo.py"], ["rllib_league.py"]]),
    "torchrl": ([TORCH, ".", "torchrl"], [["torchrl_ppo.py"]]),
    "tianshou": ([TORCH, ".", "tianshou"], [["tianshou_ppo.py"]]),
    "agilerl": ([TORCH, ".[agilerl]"], [["agilerl_ppo.py"]]),
    "openspiel": (
        [TORCH, ".", "open_spiel", "dm-tree"],
        [["openspiel_deep_cfr.py"], ["openspiel_dqn.py"], ["openspiel_bots.py"]],
    ),
    "jax": ([".", "jax"], [["jax_ppo.py"]]),
}
"""Packages of each environment, in order of installation, and the scripts that run there."""
UNCHANGED = ROOT / "benchmarks" / "unchanged.py"
OTHERS = "others"
OTHER_PACKAGES = [TORCH, ".[train]", "skrl", "supersuit"]
OTHERS_BEGIN = "<!-- checked by benchmarks/unchanged.py -->\n"
OTHERS_HEAD = "| package | what works | what it needs |\n|---|---|---|\n"
LINE = re.compile(
    r"^(?P<package>\S+) (?P<version>\S+): (?P<steps>[\d,]+) steps, (?P<rate>[\d,]+) steps/s, "
    r"masked actions chosen: (?P<masked>\d+), return against (?P<opponent>.+) "
    r"before (?P<before>\S+), after (?P<after>\S+)$",
    re.MULTILINE,
)
"""The line that `measure.Run.finish` prints."""
HEAD = (
    "| script | framework | steps | steps/s | masked actions chosen | opponent | before | after |\n"
    "|---|---|---|---|---|---|---|---|\n"
)


def python_of(folder: Path) -> Path:
    """Return the Python of a virtual environment."""
    return folder / ("Scripts" if os.name == "nt" else "bin") / "python"


def install(name: str, packages: list[str]) -> Path:
    """Install these packages, check them with ``pip check``, and return the environment's Python."""
    folder = ROOT / ".venv-frameworks" / name
    if not folder.exists():
        subprocess.run([sys.executable, "-m", "venv", folder], check=True)
    python = python_of(folder)
    # torch first, so that no other package installs another build of it.
    for some in ([p for p in packages if p == TORCH], [p for p in packages if p != TORCH]):
        if some:
            subprocess.run([python, "-m", "pip", "install", "--quiet", *some], cwd=ROOT, check=True)
    subprocess.run([python, "-m", "pip", "check"], check=True)
    return python


def run(python: Path, script: list[str], seconds: float) -> dict[str, str]:
    """Return the values that a script reports. Raises RuntimeError if it fails or chose masked actions."""
    command = [python, SCRIPTS / script[0], *script[1:], "--seconds", str(seconds)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    said = LINE.search(done.stdout)
    if done.returncode or said is None:
        raise RuntimeError(f"{' '.join(script)} failed:\n{done.stdout[-2000:]}\n{done.stderr[-4000:]}")
    if said["masked"] != "0":
        raise RuntimeError(f"{' '.join(script)} chose {said['masked']} masked actions")
    return said.groupdict()


def link(script: list[str]) -> str:
    """Return the first cell of a line."""
    return f"[`{' '.join(script)}`](../examples/frameworks/{script[0]})"


def row(script: list[str], told: dict[str, str]) -> str:
    """Return one line of the table."""
    cells = [link(script), f"{told['package']} {told['version']}", told["steps"], told["rate"]]
    return f"| {' | '.join([*cells, told['masked'], told['opponent'], told['before'], told['after']])} |\n"


def run_unchanged(python: Path) -> str:
    """Return the table of what else works. Raises RuntimeError if anything does not."""
    done = subprocess.run([python, UNCHANGED], cwd=ROOT, capture_output=True, text=True, check=False)
    if done.returncode:
        raise RuntimeError(f"{UNCHANGED.name} failed:\n{done.stdout[-2000:]}\n{done.stderr[-4000:]}")
    rows = [line + "\n" for line in done.stdout.splitlines() if line.startswith("| ")]
    return OTHERS_HEAD + "".join(rows)


def write_table(begin: str, table: str) -> None:
    """Replace the table after this line of the page."""
    text = PAGE.read_text()
    before = text.index(begin) + len(begin)
    PAGE.write_text(text[:before] + table + text[text.index(END, before) :])


def with_rows_of_page(rows: list[str]) -> str:
    """Return the table of these rows, and of the page's rows for all other scripts."""
    text = PAGE.read_text().partition(BEGIN)[2].partition(END)[0]
    lines = {line.split(" | ")[0]: line for line in [*text.removeprefix(HEAD).splitlines(True), *rows]}
    scripts = [script for _, scripts in FRAMEWORKS.values() for script in scripts]
    return HEAD + "".join(line for script in scripts if (line := lines.get(f"| {link(script)}")))


def main() -> None:
    """Install, run, print the tables; exits with 1 if anything failed."""
    plain = argparse.RawDescriptionHelpFormatter
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=plain)
    parser.add_argument("names", nargs="*", help=f"default: all of {', '.join([*FRAMEWORKS, OTHERS])}")
    parser.add_argument("--seconds", type=float, default=60, help="learning time of each script")
    parser.add_argument("--installed", type=Path, help="folder of environments to use as they are")
    parser.add_argument("--page", action="store_true", help=f"write the tables into {PAGE.relative_to(ROOT)}")
    options = parser.parse_args()
    names = options.names or [*FRAMEWORKS, OTHERS]
    if unknown := set(names) - {*FRAMEWORKS, OTHERS}:
        parser.error(f"unknown {', '.join(unknown)}; choose from {', '.join([*FRAMEWORKS, OTHERS])}")
    rows, others, failures = [], "", []
    for name in names:
        packages, scripts = FRAMEWORKS.get(name, (OTHER_PACKAGES, []))
        try:
            installed = options.installed and python_of(options.installed / name)
            python = installed or install(name, packages)
            if name == OTHERS:
                others = run_unchanged(python)
            for script in scripts:
                rows.append(row(script, run(python, script, options.seconds)))
                print(rows[-1], end="", flush=True)
        except (subprocess.CalledProcessError, RuntimeError) as error:
            failures.append(f"{name}: {error}")
            print(failures[-1], file=sys.stderr, flush=True)
    print(f"\n{HEAD}{''.join(rows)}\n{others}")
    if options.page and not failures and others:
        write_table(OTHERS_BEGIN, others)
    if options.page and not failures:
        write_table(BEGIN, with_rows_of_page(rows))
    sys.exit(1 if failures else 0)


if __name__ == "__main__":
    main()
