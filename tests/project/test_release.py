"""Releases: links on PyPI, the files of the wheel, versions and workflows."""

from __future__ import annotations

import importlib.util
import re
import sys
import tomllib

import pytest
from test_docs import ROOT, text

import gin_env

ADDRESS = "https://example.org/gin-env"


@pytest.fixture(scope="module")
def release():
    """The script docs/release.py, imported as a module."""
    spec = importlib.util.spec_from_file_location("release", ROOT / "docs" / "release.py")
    module = sys.modules["release"] = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize(
    ("relative", "absolute"),
    [
        ("[docs](docs/a.md#b)", f"[docs]({ADDRESS}/blob/v1/docs/a.md#b)"),
        ("![a picture](a/b.png)", f"![a picture]({ADDRESS}/raw/v1/a/b.png)"),
        ("[`code`](x.py), [b](y.md)", f"[`code`]({ADDRESS}/blob/v1/x.py), [b]({ADDRESS}/blob/v1/y.md)"),
        ("[out](https://a.org/b) [in](#here)", "[out](https://a.org/b) [in](#here)"),
    ],
)
def test_links_become_absolute(release, relative, absolute):
    assert release.absolute_links(relative, ADDRESS, "v1") == absolute


def test_readme_has_no_relative_links_on_pypi(release):
    page = release.absolute_links(text("README.md"), ADDRESS, "v1")
    targets = re.findall(r"\]\(([^)]*)\)", page)
    assert len(targets) > 20
    assert [target for target in targets if not target.startswith("https://")] == []
    assert f"![Speed compared with other libraries]({ADDRESS}/raw/v1/examples/figures/speed.png)" in page


def test_project_address_precedes_the_extras(release):
    extras = "[project.optional-dependencies]\n"
    assert text("pyproject.toml").count(extras) == 1
    project = tomllib.loads(
        text("pyproject.toml").replace(extras, release.project_urls(ADDRESS, "v1") + extras)
    )["project"]
    assert project["urls"]["Repository"] == ADDRESS
    assert project["urls"]["Changelog"] == f"{ADDRESS}/blob/v1/CHANGELOG.md"
    assert project["optional-dependencies"].keys() >= {"train", "dev"}


def test_wheel_holds_code_and_data_of_top_level_folders(release):
    inside = {"gin_env/game/cards.py", "gin_env/py.typed", "gin_env/agents/data/policy.safetensors"}
    outside = {"README.md", "tests/game/test_cards.py", "gin_env/notes.txt"}
    assert release.expected_files([*inside, *outside]) == inside


def test_release_check_runs_the_code_of_the_readme(release):
    assert release.readme_code(text("README.md")).startswith("import gymnasium\nimport gin_env\n")


def test_version_is_the_same_in_every_file():
    version = tomllib.loads(text("pyproject.toml"))["project"]["version"]
    assert gin_env.__version__ == version
    assert f"\nversion: {version}\n" in text("CITATION.cff")
    assert f"\n## {version} " in text("CHANGELOG.md")


@pytest.mark.parametrize(
    ("tag", "changelog", "reason"),
    [
        ("v0.2.0", "## 0.2.0 (2026-12-01)", "not the version"),
        ("0.1.0", "## 0.1.0 (2026-12-01)", "not the version"),
        ("v0.1.0", "## 0.1.0 (unreleased)", "YYYY-MM-DD"),
    ],
)
def test_release_with_a_wrong_tag_or_no_date_is_refused(release, tag, changelog, reason):
    with pytest.raises(SystemExit, match=reason):
        release.check_tag(tag, "0.1.0", changelog)
    release.check_tag("v0.1.0", "0.1.0", "# Changelog\n\n## 0.1.0 (2026-12-01)\n")
