"""The installed package: import name, modules, type marker and import-time dependencies."""

from __future__ import annotations

import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest
from python_programs import run_python

import gin_env

pytestmark = pytest.mark.compiled

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def wheel_files(tmp_path_factory) -> set[str]:
    folder = tmp_path_factory.mktemp("wheel")
    tracked = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, check=True, capture_output=True, text=True)
    for name in filter(None, tracked.stdout.split("\0")):  # a copy, to keep the checkout clean
        copy = folder / "checkout" / name
        copy.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(ROOT / name, copy, follow_symlinks=False)
    options = ["--no-deps", "--no-build-isolation", "--wheel-dir", str(folder)]
    command = [sys.executable, "-m", "pip", "wheel", str(folder / "checkout"), *options]
    subprocess.run(command, capture_output=True, check=True)
    (wheel,) = folder.glob("*.whl")
    return set(zipfile.ZipFile(wheel).namelist())


@pytest.mark.long
def test_wheel_holds_every_module_and_nothing_else_at_top_level(wheel_files):
    modules = {f"gin_env/{file.relative_to(ROOT / 'gin_env')}" for file in (ROOT / "gin_env").rglob("*.py")}
    assert modules <= wheel_files
    data = [*ROOT.glob("gin_env/**/data/*"), *ROOT.glob("gin_env/**/static/*")]
    names = {file.relative_to(ROOT).as_posix().removeprefix("gin_env/") for file in data}
    assert {f"gin_env/{name}" for name in names} <= wheel_files
    assert len(names) > 15
    assert "gin_env/py.typed" in wheel_files
    top_level = {name.split("/")[0] for name in wheel_files}
    assert top_level == {"gin_env", f"gin_env-{gin_env.__version__}.dist-info"}


def test_import_needs_no_framework_or_renderer():
    """`import gin_env` loads numpy, numba, gymnasium and pettingzoo; everything else is imported on use."""
    code = (
        "import sys, gin_env\n"
        "heavy = {'torch', 'stable_baselines3', 'matplotlib', 'PIL', 'pygame', 'typer', 'tqdm'}\n"
        "print(sorted(heavy & set(sys.modules)))"
    )
    assert run_python("-c", code).stdout.strip() == "[]"
