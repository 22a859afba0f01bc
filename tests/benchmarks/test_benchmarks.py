"""Benchmarks: output files, skipped peers and regression detection. No timings are asserted."""

from __future__ import annotations

import importlib
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from workloads import WORKLOADS

from gin_env.game.state import STATE

pytestmark = pytest.mark.compiled

BENCHMARKS = Path(__file__).parents[2] / "benchmarks"


def run_benchmark(
    *arguments: object, script: str = "run.py", **environment: str
) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, str(BENCHMARKS / script), *map(str, arguments)],
        env=os.environ | environment,
        capture_output=True,
        text=True,
        timeout=300,
    )


SMALLEST = ("--quick", "--repeats", 1, "--seconds", 0.001, "--core", -1)


@pytest.fixture(scope="module")
def alone(tmp_path_factory) -> tuple[str, dict, Path]:
    """Return the output, JSON and plot of one run at the smallest size without peers."""
    folder = tmp_path_factory.mktemp("benchmark")
    files = folder / "result.json", folder / "result.png"
    done = run_benchmark(*SMALLEST, "--skip-peers", "--json", files[0], "--plot", files[1])
    assert done.returncode == 0, done.stderr
    return done.stdout, json.loads(files[0].read_text()), files[1]


@pytest.mark.long
def test_json_lists_every_workload_with_its_unit(alone):
    printed, result, _ = alone
    ours = result["figures"]["gin-env"]
    for name, workload in WORKLOADS.items():
        assert ours[f"{name} {workload.unit}/s"] > 0
        assert workload.label in printed
    assert {"first import seconds", "first first step seconds", "memory bytes"} <= set(ours)
    assert ours["memory state bytes"] == STATE.itemsize <= ours["memory bytes"]


@pytest.mark.long
def test_json_records_machine_settings_and_versions(alone):
    _, result, _ = alone
    assert set(result) == {
        "machine",
        "settings",
        "versions",
        "ratios",
        "share_of_free_training",
        "figures",
        "spread",
        "runs",
        "skipped",
    }
    assert result["settings"] == {"repeats": 1, "seconds": 0.001, "core": -1, "quick": True}
    assert {"processor", "cores", "system", "load"} == set(result["machine"])
    assert {"python", "numpy", "numba"} <= set(result["versions"]["gin-env"])
    assert result["ratios"] == []
    assert {figure: values[0] for figure, values in result["runs"]["gin-env"].items()} == result["figures"][
        "gin-env"
    ]


@pytest.mark.long
def test_quick_run_lists_the_skipped_workloads(alone):
    printed, result, _ = alone
    for name in ("cold", "training", "scaling"):
        assert f"{name} (all)" in result["skipped"]
        assert f"  {name} (all): " in printed


@pytest.mark.long
def test_plot_is_a_png(alone):
    assert alone[2].read_bytes().startswith(b"\x89PNG")


@pytest.mark.long
def test_peer_that_fails_to_install_is_skipped_by_name(tmp_path):
    """Without a package index, everything else is still measured."""
    written = tmp_path / "result.json"
    options = ("--peers", "rlcard", "--environments", tmp_path, "--only", "deadwood", "--json", written)
    nowhere = {"PIP_NO_INDEX": "1", "PIP_FIND_LINKS": str(tmp_path), "PIP_CONFIG_FILE": os.devnull}
    done = run_benchmark(*SMALLEST, *options, **nowhere)
    assert done.returncode == 0, done.stderr
    assert "skipping rlcard: could not be installed: " in done.stdout
    result = json.loads(written.read_text())
    assert "rlcard" in result["skipped"]
    assert list(result["figures"]) == ["gin-env"]
    assert set(result["figures"]["gin-env"]) == {"deadwood hands/s"}


@pytest.mark.long
def test_peer_that_fails_to_import_is_skipped_by_name(tmp_path):
    """The environment is marked as installed, but its Python lacks the module."""
    python = tmp_path / "openspiel" / "bin" / "python"
    python.parent.mkdir(parents=True)
    python.write_text(f'#!/bin/sh\nexec "{sys.executable}" -I -S "$@"\n')
    python.chmod(0o755)
    (tmp_path / "openspiel" / "installed.txt").write_text(
        subprocess.run(
            [
                sys.executable,
                "-c",
                "import peer_environments as p; print(*p.PEERS['openspiel'].requirements)",
            ],
            cwd=BENCHMARKS,
            capture_output=True,
            text=True,
            check=True,
        ).stdout
    )
    done = run_benchmark(*SMALLEST, "--peers", "openspiel", "--environments", tmp_path, "--only", "deadwood")
    assert done.returncode == 0, done.stderr
    assert "skipping openspiel: ModuleNotFoundError: " in done.stdout


def test_peer_worker_reports_a_failing_workload(tmp_path):
    """A failing workload is reported with its error, and the next one is measured."""
    script = tmp_path / "broken.py"
    script.write_text(
        "import sys\n"
        f"sys.path.insert(0, {str(BENCHMARKS / 'peers')!r})\n"
        "from worker import main\n"
        "def broken():\n    print('what a library prints')\n    raise ZeroDivisionError('planted')\n"
        "def fine():\n    return lambda rounds: {'steps': rounds, 'seconds': 0.5 * rounds}\n"
        "main(lambda: ({'broken': broken, 'fine': fine}, {}))\n"
    )
    done = subprocess.run([sys.executable, str(script)], capture_output=True, text=True)
    first, second = map(json.loads, done.stdout.splitlines())
    assert first == {"name": "broken", "error": "ZeroDivisionError: planted"}
    assert second["amounts"]["steps"] / second["seconds"] == 2


@pytest.mark.long
def test_hanging_process_is_stopped_and_named(tmp_path, monkeypatch):
    """The process either never answers or stops answering later."""
    monkeypatch.syspath_prepend(str(BENCHMARKS))
    measuring = importlib.import_module("measuring")
    silent = tmp_path / "silent.py"
    silent.write_text("import time; time.sleep(600)")
    with pytest.raises(measuring.ProcessFailedError, match=r"no answer within 0\.5 seconds"):
        measuring.Process("silent", sys.executable, silent, -1, 0.01, timeout=0.5)

    hanging = tmp_path / "hanging.py"
    hanging.write_text(
        "import sys, time\n"
        "if '--once' not in sys.argv: "
        'print(\'{"rates": ["play", "simple"], "once": ["first"]}\', flush=True)\n'
        "time.sleep(600)"
    )
    process = measuring.Process("hanging", sys.executable, hanging, -1, 0.01, timeout=2)
    try:
        runs, failed = measuring.alternate([process], lambda *_: True, 2, 1, lambda _: None)
    finally:
        process.close()
    assert runs == {"hanging": {}}
    assert failed == dict.fromkeys(
        ("hanging play", "hanging simple", "hanging first"), "no answer within 2 seconds"
    )


@pytest.mark.parametrize("option", [("--peers", "chess"), ("--only", "chess")])
def test_unknown_option_values_are_refused(option):
    done = run_benchmark(*option)
    assert done.returncode == 2
    assert "unknown" in done.stderr
    assert "chess" in done.stderr


COUNTS = {"instructions": {"play": 300.0, "deadwood": 120.0}, "versions": {"python": "3.11.7"}}


@pytest.mark.parametrize(
    ("factor", "tolerance", "status", "verdict"),
    [
        (1.0, 0.02, 0, "same"),
        (1.019, 0.02, 0, "same"),
        (1.03, 0.02, 1, "WORSE"),
        (1.03, 0.05, 0, "same"),
        (0.9, 0.02, 0, "better"),
    ],
)
def test_compare_detects_a_planted_regression(tmp_path, factor, tolerance, status, verdict):
    baseline, measured = tmp_path / "baseline.json", tmp_path / "measured.json"
    baseline.write_text(json.dumps(COUNTS))
    changed = {**COUNTS["instructions"], "play": 300.0 * factor}
    measured.write_text(json.dumps({**COUNTS, "instructions": changed}))
    done = run_benchmark("compare", "--baseline", baseline, "--measured", measured, "--tolerance", tolerance)
    assert done.returncode == status, done.stderr
    (line,) = [line for line in done.stdout.splitlines() if line.startswith("play")]
    assert line.endswith(verdict)


def test_compare_lists_changed_versions_and_new_workloads(tmp_path):
    baseline, measured = tmp_path / "baseline.json", tmp_path / "measured.json"
    baseline.write_text(json.dumps({"instructions": {"play": 300.0}, "versions": {"python": "3.10.0"}}))
    measured.write_text(json.dumps(COUNTS))
    done = run_benchmark("compare", "--baseline", baseline, "--measured", measured)
    assert done.returncode == 0
    assert "python was 3.10.0, is 3.11.7" in done.stdout
    assert "new: not in the baseline" in done.stdout


def test_baseline_covers_every_counted_workload():
    baseline = json.loads((BENCHMARKS / "baseline.json").read_text())
    counted = {name for name, workload in WORKLOADS.items() if workload.counted_rounds}
    assert set(baseline["instructions"]) == counted


MARKED = """
import os
for number in (1000, 1000, 3000):
    os.getppid()
    sum(range(number))
os.getppid()
print("done")
"""


@pytest.mark.long
@pytest.mark.skipif(shutil.which("valgrind") is None, reason="valgrind is not installed")
def test_instructions_are_counted_between_marks(monkeypatch):
    """Equal work gives equal counts; three times the work gives about three times the count."""
    monkeypatch.syspath_prepend(str(BENCHMARKS))
    instructions = importlib.import_module("instructions")
    command = [sys.executable, "-I", "-S", "-c", instructions.START + MARKED]
    printed, counts = instructions.count_between_marks(command, dict(os.environ), 4)
    assert printed == "done\n"
    assert counts[1] == pytest.approx(counts[2], rel=0.1)
    assert 2 < counts[3] / counts[2] < 4
    with pytest.raises(instructions.CannotCountError, match="4 marks instead of 3"):
        instructions.count_between_marks(command, dict(os.environ), 3)


def test_bench_writes_json_and_refuses_unknown_names(tmp_path):
    written = tmp_path / "speed.json"
    options = ["--only", "deadwood,aec_raw", "--repeats", "1", "--seconds", "0.001", "--json", str(written)]
    done = run_benchmark(*options, script="bench.py")
    assert done.returncode == 0, done.stderr
    assert set(json.loads(written.read_text())) == {"deadwood hands/s", "aec_raw steps/s", "state bytes"}
    done = run_benchmark("--only", "x", script="bench.py")
    assert done.returncode == 2
    assert done.stderr.startswith("bench.py: unknown measurement 'x'; choose from play, ")
