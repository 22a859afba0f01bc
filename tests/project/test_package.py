"""What is installed: one import name, every module, the type marker; and what importing costs."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

import gin_env

pytestmark = pytest.mark.compiled

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def wheel_files(tmp_path_factory) -> set[str]:
    folder = tmp_path_factory.mktemp("wheel")
    tracked = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, check=True, capture_output=True, text=True)
    for name in filter(None, tracked.stdout.split("\0")):  # a copy, so that nothing is built in the checkout
        copy = folder / "checkout" / name
        copy.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(ROOT / name, copy)
    options = ["--no-deps", "--no-build-isolation", "--wheel-dir", str(folder)]
    command = [sys.executable, "-m", "pip", "wheel", str(folder / "checkout"), *options]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    (wheel,) = folder.glob("*.whl")
    return set(zipfile.ZipFile(wheel).namelist())


def test_wheel_holds_every_module_and_nothing_else_at_top_level(wheel_files):
    modules = {f"gin_env/{file.relative_to(ROOT / 'gin_env')}" for file in (ROOT / "gin_env").rglob("*.py")}
    modules |= {
        f"gin_env/agents/{file.relative_to(ROOT / 'agents')}" for file in (ROOT / "agents").rglob("*.py")
    }
    modules |= {f"gin_env/wrappers/{file.name}" for file in (ROOT / "wrappers").glob("*.py")}
    assert modules <= wheel_files
    data = [
        *ROOT.glob("agents/**/data/*"),
        *ROOT.glob("gin_env/**/data/*"),
        *ROOT.glob("gin_env/**/static/*"),
    ]
    names = {file.relative_to(ROOT).as_posix().removeprefix("gin_env/") for file in data}
    assert {f"gin_env/{name}" for name in names} <= wheel_files
    assert len(names) > 15
    assert "gin_env/py.typed" in wheel_files
    top_level = {name.split("/")[0] for name in wheel_files}
    assert top_level == {"gin_env", f"gin_env-{gin_env.__version__}.dist-info"}


def test_importing_needs_no_framework_and_no_renderer():
    """`import gin_env` needs numpy, numba, gymnasium and pettingzoo; the rest is loaded where it is used."""
    code = (
        "import sys, gin_env\n"
        "heavy = {'torch', 'stable_baselines3', 'matplotlib', 'PIL', 'pygame', 'typer', 'tqdm'}\n"
        "print(sorted(heavy & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip() == "[]"


def test_rules_import_no_framework():
    code = (
        "import sys\n"
        "sys.modules['gymnasium'] = sys.modules['pettingzoo'] = None\n"  # importing them fails
        "import importlib.util as util\n"
        "package = util.module_from_spec(util.find_spec('gin_env'))\n"  # without running __init__.py
        "sys.modules['gin_env'] = package\n"
        "import gin_env.game.engine, gin_env.batch\n"
        "import gin_env.observations.views, gin_env.observations.observation\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


def test_imports_point_downwards_only(tmp_path):
    """The order of the rooms is the contract in pyproject.toml; no module imports the package holding it."""
    links = tmp_path  # static tools follow no import hook: agents/ and wrappers/ are put in their place
    (links / "gin_env").mkdir()
    for path in (*(ROOT / "gin_env").iterdir(), ROOT / "agents", ROOT / "wrappers"):
        (links / "gin_env" / path.name).symlink_to(path)
    done = subprocess.run(
        [Path(sys.executable).with_name("lint-imports"), "--no-cache", "--config", ROOT / "pyproject.toml"],
        cwd=links,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stdout
    code = "import grimp; graph = grimp.build_graph('gin_env', cache_dir=None); "
    code += "print(len(graph.modules) > 130, graph.find_modules_that_directly_import('gin_env'))"
    done = subprocess.run([sys.executable, "-c", code], cwd=links, capture_output=True, text=True)
    assert done.stdout == "True set()\n"


def test_the_package_has_one_copy_of_itself(tmp_path):
    for name in ("gin_env.gin_env", "gin_env.examples", "agents", "wrappers"):
        code = f"import gin_env, importlib; importlib.import_module({name!r})"
        done = subprocess.run([sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True)
        assert "ModuleNotFoundError" in done.stderr


def test_python_started_in_the_checkout_finds_all_of_it():
    code = "import gin_env; from gin_env.agents import simple; print(gin_env.agents.names())"
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert "simple" in done.stdout


def test_public_names_exist():
    for name in gin_env.__all__:
        assert getattr(gin_env, name) is not None
    assert gin_env.game.melds.deadwood(gin_env.game.cards.parse("AS 2S 3S TD")) == 10
    assert gin_env.game.cards.format(gin_env.game.cards.parse("AS TD")) == "AS TD"


def test_only_modules_with_kernels_are_excused_from_a_check_of_types():
    """mypy cannot read the fields of numba's records, nor which integer types it returns."""
    excuse = '\n# mypy: disable-error-code="no-untyped-def,return-value"\n'
    files = [*(ROOT / "gin_env").rglob("*.py"), *(ROOT / "agents").rglob("*.py")]
    excused = {file for file in files if excuse in file.read_text()}
    assert excused == {file for file in files if re.search(r"^@kernel$", file.read_text(), re.MULTILINE)}
    assert not any("mypy: " in file.read_text() for file in files if file not in excused)
