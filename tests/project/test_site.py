"""The documentation site: build, menu, reference, links, tutorials and notebooks."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urldefrag

import pytest
from sphinx.search.en import SearchEnglish
from test_docs import ROOT

import gin_env

pytestmark = pytest.mark.compiled

DOCS = ROOT / "docs"
NOTEBOOKS = sorted((DOCS / "notebooks").glob("*.ipynb"))
PRINTED = {
    "add_a_bot.md": (
        r"my-bot won \d\.\d\d %",
        r"my-bot won 4\d\.\d\d %",
        r"2  my-bot",
        r"\d  my_bot:MyBot:knock_at=0",
        r"^$",
        r"my_network:Net:weights=net.safetensors won [567]\d\.\d\d %",
    ),
    "add_an_estimator.md": (r"my-estimator +0", r"my-estimator( +[\d.]+){5} +0\.55", r"safe-discard:.* won"),
}
"""What each command of a tutorial prints, among other things."""


def run(command: list[str], folder: Path) -> str:
    """Run a command with the programs of this environment and return its output."""
    programs = Path(sys.executable).parent
    environment = {**os.environ, "PATH": f"{programs}{os.pathsep}{os.environ['PATH']}", "MPLBACKEND": "agg"}
    done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


# --- The pages ------------------------------------------------------------------------------------------


def test_site_menu_lists_every_page():
    """Patterns add the pages in results/data and scripts to the menus of their own indexes."""
    pages = {str(page.relative_to(DOCS).with_suffix("")) for page in [*DOCS.rglob("*.md"), *NOTEBOOKS]}
    pages = {page for page in pages if not re.match("results/data/(?!index$)|scripts/", page)}
    listed = set()
    for folder in ("", "api/", "results/"):
        menus = re.findall(
            r"```\{toctree\}\n(?::[^\n]*\n)*\n(.*?)```", (DOCS / folder / "index.md").read_text(), re.DOTALL
        )
        listed |= {folder + name for name in "\n".join(menus).split()}
    assert pages - listed == {"index"}


def test_reference_lists_every_public_name():
    reference = (DOCS / "api" / "index.md").read_text()
    assert [name for name in gin_env.__all__ if name not in reference and name != "__version__"] == []


# --- The site -------------------------------------------------------------------------------------------


class Anchors(HTMLParser):
    """The links of a page and its link targets."""

    def __init__(self, page: Path) -> None:
        super().__init__()
        self.links: set[str] = set()
        self.places: set[str] = set()
        self.feed(page.read_text())

    def handle_starttag(self, tag, attrs):
        given = dict(attrs)
        self.places |= {given[name] for name in ("id", "name") if given.get(name)}
        for name in ("href", "src"):
            if given.get(name):
                self.links.add(given[name])


def broken_links(site: Path) -> list[tuple[str, str]]:
    """Return (page, link) for each broken link within the site."""
    pages = {page.resolve(): Anchors(page) for page in site.rglob("*.html")}
    broken = []
    for page, anchors in pages.items():
        for link in anchors.links:
            path, place = urldefrag(link)
            if re.match(r"[a-z]+:", link) or (not path and not place):
                continue
            target = (page.parent / unquote(path.split("?")[0])).resolve() if path else page
            inside = place and target in pages and place not in pages[target].places
            if not target.exists() or inside:
                broken.append((page.name, link))
    return broken


FOUND = {
    "deadwood": "docs/rules",
    "autoreset": "docs/api/environments",
    "exploitability": "docs/results/exploitability",
    "estimator": "docs/estimators",
    "checkpoint": "docs/scale",
    "play_match": "docs/matches",
}
"""A page that the search of the site finds for each word."""


def pages_with(site: Path, word: str) -> list[str]:
    """Return the pages that the search of the site finds for a word."""
    index = json.loads((site / "searchindex.js").read_text()[len("Search.setIndex(") : -1])
    stem = SearchEnglish({}).stem(word)
    places = [index[kind].get(stem, []) for kind in ("terms", "titleterms")]
    numbers = [number for one in places for number in (one if isinstance(one, list) else [one])]
    return [index["docnames"][number] for number in numbers]


@pytest.mark.long
def test_site_builds_without_warnings_or_broken_links(tmp_path):
    site = tmp_path / "site"
    command = [sys.executable, "-m", "sphinx", "-W", "--keep-going", "-q", "-c", "docs"]
    run([*command, "-d", str(tmp_path / "kept"), ".", str(site)], ROOT)
    # docs/demo.py makes this page, which takes a minute; tests/ui/test_web_pages.py opens it.
    assert [link for link in broken_links(site) if link[1] != "../try/index.html"] == []
    assert [word for word, page in FOUND.items() if page not in pages_with(site, word)] == []
    assert "Double DQN" in (site / "docs" / "scripts" / "frameworks" / "dqn.html").read_text()
    reference = (site / "docs" / "api" / "matches.html").read_text()
    assert 'id="gin_env.play_match"' in reference
    assert "each deal is played twice, with the seats swapped" in reference, "parameters are described"


# --- Tutorials and notebooks ----------------------------------------------------------------------------


@pytest.mark.long
@pytest.mark.parametrize("name", PRINTED)
def test_tutorial_works_step_by_step(name, tmp_path):
    """Starting in an empty folder, write each file and run each command that needs no checkout."""
    told = (DOCS / name).read_text().split("Make it part of gin-env")[0]
    steps = re.findall(r"(?:`(\w+\.py)`[^`\n]*:\n\n)?```(python|bash)\n(.*?)```", told, re.DOTALL)
    printed = []
    for file, language, code in steps:
        if language == "python":
            (tmp_path / file).write_text(code)
        else:
            printed += [run(["bash", "-c", line], tmp_path) for line in code.splitlines()]
    for text, pattern in zip(printed, PRINTED[name], strict=True):
        assert re.search(pattern, text), text


def code_of(notebook: Path) -> list[dict]:
    return [cell for cell in json.loads(notebook.read_text())["cells"] if cell["cell_type"] == "code"]


@pytest.mark.parametrize("notebook", NOTEBOOKS, ids=lambda notebook: notebook.stem)
def test_notebook_stores_the_output_of_a_full_run(notebook):
    cells = code_of(notebook)
    assert [cell["execution_count"] for cell in cells] == list(range(1, len(cells) + 1))
    outputs = [output for cell in cells for output in cell["outputs"]]
    assert not [
        output for output in outputs if output["output_type"] == "error" or output.get("name") == "stderr"
    ]
    assert any("image/png" in output.get("data", {}) for output in outputs)
    assert notebook.stat().st_size < 500_000


@pytest.mark.long
@pytest.mark.parametrize("notebook", NOTEBOOKS, ids=lambda notebook: notebook.stem)
def test_notebook_runs(notebook, tmp_path):
    """Run the cells in order as one program."""
    run([sys.executable, "-c", "\n".join("".join(cell["source"]) for cell in code_of(notebook))], tmp_path)
