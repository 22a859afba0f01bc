"""Benchmarks: output files, skipped peers and regression detection. No timings are asserted."""

from __future__ import annotations

import json
from pathlib import Path
from subprocess import CompletedProcess

import numpy as np
import pytest
from python_programs import run_python
from workloads import WORKLOADS, aec_last

from gin_env import gin_rummy_v0
from gin_env.game.state import STATE

pytestmark = pytest.mark.compiled

BENCHMARKS = Path(__file__).parents[2] / "benchmarks"


def run_benchmark(*arguments: object, script: str = "run.py", status: int = 0) -> CompletedProcess[str]:
    return run_python(BENCHMARKS / script, *arguments, status=status, timeout=300)


SMALLEST = ("--quick", "--repeats", 1, "--seconds", 0.001, "--core", -1)


@pytest.fixture(scope="module")
def alone(tmp_path_factory) -> tuple[str, dict, Path]:
    """Return the output, JSON and plot of one run at the smallest size without peers."""
    folder = tmp_path_factory.mktemp("benchmark")
    files = folder / "result.json", folder / "result.png"
    done = run_benchmark(*SMALLEST, "--skip-peers", "--json", files[0], "--plot", files[1])
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
    first, second = map(json.loads, run_python(script).stdout.splitlines())
    assert first == {"name": "broken", "error": "ZeroDivisionError: planted"}
    assert second["amounts"]["steps"] / second["seconds"] == 2


COUNTS = {"instructions": {"play": 300.0, "deadwood": 120.0}, "versions": {"python": "3.11.7"}}


@pytest.mark.long
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
    files = "--baseline", baseline, "--measured", measured
    done = run_benchmark("compare", *files, "--tolerance", tolerance, status=status)
    (line,) = [line for line in done.stdout.splitlines() if line.startswith("play")]
    assert line.endswith(verdict)


@pytest.mark.long
def test_compare_lists_changed_versions_and_new_workloads(tmp_path):
    baseline, measured = tmp_path / "baseline.json", tmp_path / "measured.json"
    baseline.write_text(json.dumps({"instructions": {"play": 300.0}, "versions": {"python": "3.10.0"}}))
    measured.write_text(json.dumps(COUNTS))
    done = run_benchmark("compare", "--baseline", baseline, "--measured", measured)
    assert "python was 3.10.0, is 3.11.7" in done.stdout
    assert "new: not in the baseline" in done.stdout


def test_steps_of_the_documented_loop_are_the_actions_of_its_hand():
    """The two dead steps after the end of a hand would make the loop look faster."""
    steps = aec_last(False)(1)["steps"]
    env, random = gin_rummy_v0.raw_env(), np.random.default_rng(0)
    env.reset(seed=int(random.integers(1 << 30)))
    actions = 0
    while env.agents and not any(env.terminations.values()):
        legal = env.observe(env.agent_selection)["action_mask"].nonzero()[0]
        env.step(legal[int(random.random() * len(legal))])
        actions += 1
    assert steps == actions


def test_baseline_covers_every_counted_workload():
    baseline = json.loads((BENCHMARKS / "baseline.json").read_text())
    counted = {name for name, workload in WORKLOADS.items() if workload.counted_rounds}
    assert set(baseline["instructions"]) == counted


@pytest.mark.long
def test_bench_writes_json_and_refuses_unknown_names(tmp_path):
    written = tmp_path / "speed.json"
    options = ["--only", "deadwood,aec_raw", "--repeats", "1", "--seconds", "0.001", "--json", str(written)]
    run_benchmark(*options, script="bench.py")
    assert set(json.loads(written.read_text())) == {"deadwood hands/s", "aec_raw steps/s", "state bytes"}
    done = run_benchmark("--only", "x", script="bench.py", status=2)
    assert done.stderr.startswith("bench.py: unknown measurement 'x'; choose from play, ")
