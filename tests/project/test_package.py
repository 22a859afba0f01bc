"""The installed package: import name, modules, type marker and import-time dependencies."""

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
    for name in filter(None, tracked.stdout.split("\0")):  # a copy, to keep the checkout clean
        copy = folder / "checkout" / name
        copy.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(ROOT / name, copy, follow_symlinks=False)
    options = ["--no-deps", "--no-build-isolation", "--wheel-dir", str(folder)]
    command = [sys.executable, "-m", "pip", "wheel", str(folder / "checkout"), *options]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    (wheel,) = folder.glob("*.whl")
    return set(zipfile.ZipFile(wheel).namelist())


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


def test_imports_follow_the_layers():
    """The layers are the import contracts in pyproject.toml."""
    lint = [Path(sys.executable).with_name("lint-imports"), "--no-cache"]
    done = subprocess.run(lint, cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout


def test_modules_have_only_one_import_path(tmp_path):
    for name in ("gin_env.gin_env", "gin_env.examples", "agents", "wrappers", "research"):
        code = f"import gin_env, importlib; importlib.import_module({name!r})"
        done = subprocess.run([sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True)
        assert "ModuleNotFoundError" in done.stderr


def test_python_in_the_checkout_imports_every_subpackage():
    code = "import gin_env; from gin_env.agents import simple; print(gin_env.agents.names())"
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert "simple" in done.stdout


def test_public_names_exist():
    for name in gin_env.__all__:
        assert getattr(gin_env, name) is not None
    assert gin_env.game.melds.deadwood(gin_env.game.cards.parse("AS 2S 3S TD")) == 10
    assert gin_env.game.cards.format(gin_env.game.cards.parse("AS TD")) == "AS TD"


def test_only_kernel_modules_skip_type_checks():
    """mypy understands neither the fields of Numba's records nor its integer types."""
    excuse = '\n# mypy: disable-error-code="no-untyped-def,return-value"\n'
    files = [*(ROOT / "gin_env").rglob("*.py")]
    excused = {file for file in files if excuse in file.read_text()}
    assert excused == {file for file in files if re.search(r"^@kernel$", file.read_text(), re.MULTILINE)}
    assert not any("mypy: " in file.read_text() for file in files if file not in excused)


def test_every_missing_package_is_named_with_its_extra():
    for path in (ROOT / "gin_env").rglob("*.py"):
        for raised in re.findall(r"raise ImportError\(.*?\) from", path.read_text(), re.DOTALL):
            assert re.search(r'pip install ("gin-env\[\w+\]"|\w+)', raised), (path.name, raised)
