"""Build the files of a release in dist/, then check and install them: `make release-check`.

python docs/release.py                                     # a check; links in the README lead nowhere on PyPI
python docs/release.py https://github.com/OWNER/gin-env    # to upload: links and project URLs lead there
python docs/release.py https://github.com/OWNER/gin-env --tag v0.1.0    # refused if that is not the version

It needs `build` and `twine`. Without an address, it takes that of pyproject.toml, if there is one. The
README's links are relative, so that they work in a checkout, on GitHub and on the site, and become absolute
only here.
"""

from __future__ import annotations

import argparse
import re
import shutil
import subprocess
import sys
import tempfile
import tomllib
import venv
import zipfile
from pathlib import Path

ROOT = Path(__file__).parent.parent
PACKAGED = (".py", ".npz", ".safetensors", ".tcss", ".html", ".css", ".js", ".svg", "py.typed")


def absolute_links(page: str, address: str, tag: str) -> str:
    """Return a page of Markdown with relative links replaced by links to the repository at this address."""

    def lead_there(link: re.Match[str]) -> str:
        picture, words, target = link.groups()
        return f"{picture}{words}({address}/{'raw' if picture else 'blob'}/{tag}/{target})"

    return re.sub(r"(!?)(\[[^\]]*\])\((?!https?:|#)([^)\s]+)\)", lead_there, page)


def project_urls(address: str, tag: str) -> str:
    """Return the table of pyproject.toml with the links that PyPI shows."""
    return (
        "[project.urls]\n"
        f'Repository = "{address}"\n'
        f'Documentation = "{address}/blob/{tag}/docs/index.md"\n'
        f'Changelog = "{address}/blob/{tag}/CHANGELOG.md"\n'
        f'Issues = "{address}/issues"\n\n'
    )


def expected_files(tracked: list[str]) -> set[str]:
    """Files of the wheel that come from these tracked files, in addition to its own metadata."""
    return {name for name in tracked if name.startswith("gin_env/") and name.endswith(PACKAGED)}


def tracked_files() -> list[str]:
    """Return the files of the checkout that git tracks."""
    listed = subprocess.run(["git", "ls-files"], cwd=ROOT, check=True, capture_output=True, text=True)
    return listed.stdout.splitlines()


def readme_code(readme: str) -> str:
    """Return the first Python block of the README."""
    return readme.split("```python\n", 1)[1].split("```", 1)[0]


def check_tag(tag: str, version: str, changelog: str) -> None:
    """Raise SystemExit unless a tag is the version, and the changelog has the date of its release."""
    if tag != f"v{version}":
        raise SystemExit(f"the tag {tag} is not the version: pyproject.toml says {version}")
    if not re.search(rf"^## {re.escape(version)} \(\d{{4}}-\d\d-\d\d\)$", changelog, re.MULTILINE):
        raise SystemExit(f"CHANGELOG.md has no line '## {version} (YYYY-MM-DD)'")


def main(address: str | None, release_tag: str | None = None) -> None:
    """Build, check, install and run. Raises SystemExit, with what was printed, if something fails."""
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text())
    version = settings["project"]["version"]
    address = address or settings["tool"]["gin-env"]["repository"]
    if release_tag is not None:
        check_tag(release_tag, version, (ROOT / "CHANGELOG.md").read_text())
    tracked, tag, dist = tracked_files(), f"v{version}", ROOT / "dist"
    shutil.rmtree(dist, ignore_errors=True)
    with tempfile.TemporaryDirectory() as folder:
        tree = Path(folder, "tree")
        for name in tracked:
            (tree / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(ROOT / name, tree / name)
        readme = (ROOT / "README.md").read_text()
        if address:
            address = address.rstrip("/")
            (tree / "README.md").write_text(absolute_links(readme, address, tag))
            project = (tree / "pyproject.toml").read_text()
            dependencies = "[project.optional-dependencies]\n"
            (tree / "pyproject.toml").write_text(
                project.replace(dependencies, project_urls(address, tag) + dependencies)
            )
        run("build", sys.executable, "-m", "build", "--outdir", dist, tree)
        run("check", sys.executable, "-m", "twine", "check", "--strict", *sorted(dist.iterdir()))
        (wheel,) = dist.glob("*.whl")
        held = {name for name in zipfile.ZipFile(wheel).namelist() if ".dist-info/" not in name}
        if differences := held ^ expected_files(tracked):
            raise SystemExit(f"the wheel and the checkout differ: {', '.join(sorted(differences))}")
        venv.create(Path(folder, "venv"), with_pip=True)
        python = Path(folder, "venv", "Scripts" if sys.platform == "win32" else "bin", "python")
        run("install the wheel", python, "-m", "pip", "install", "--quiet", wheel)
        run("run the README's code", python, "-c", readme_code(readme), cwd=folder)
    if not address:
        print("not to be uploaded: without an address the links of the README lead nowhere on PyPI")


def run(what: str, *command: str | Path, cwd: str | None = None) -> None:
    """Run a command; what it prints is shown if it fails, which raises SystemExit."""
    print(what, end=": ", flush=True)
    done = subprocess.run(
        command, check=False, cwd=cwd, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    )
    if done.returncode:
        raise SystemExit(f"failed\n{done.stdout}")
    print("passed", flush=True)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description="Build and check a release.")
    parser.add_argument("address", nargs="?", help="address of the repository, for the links of the README")
    parser.add_argument("--tag", help="tag of the release; must be v and the version")
    arguments = parser.parse_args()
    main(arguments.address, arguments.tag)
