"""The documentation site, which `make docs` builds into docs/_build/html.

The source folder is the repository itself, so that a link works on the site as it does in a checkout. The
API reference comes from the docstrings.
"""

from __future__ import annotations

import ast
import inspect
import os
import re
import shutil
import sys
import tomllib
from pathlib import Path
from typing import Any

# Uncompiled kernels are plain functions, whose docstrings Sphinx can read.
os.environ["NUMBA_DISABLE_JIT"] = "1"

ROOT = Path(__file__).parent.parent
sys.path.insert(0, str(ROOT))

import numpy as np  # noqa: E402
from sphinx.ext.napoleon import Config, NumpyDocstring  # noqa: E402

import gin_env  # noqa: E402

np.set_printoptions(threshold=4, edgeitems=2)  # the values of constants

project = "gin-env"
author = "the authors of gin-env"
copyright = author
version = release = gin_env.__version__
extensions = [
    "myst_nb",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx.ext.viewcode",
    "sphinx_copybutton",
]
root_doc = "docs/index"
include_patterns = [
    "*.md",
    "docs/**.md",
    "docs/**.ipynb",
    "examples/README.md",
    "examples/language_models/README.md",
    "research/README.md",
    "research/results/README.md",
    "benchmarks/NOTES.md",
]
exclude_patterns = ["docs/_build", ".*", "agents", "build", "dist", "gin_env", "runs", "tests", "wrappers"]

html_theme = "furo"
html_title = f"gin-env {version}"
html_extra_path = ["site"]  # index.html, which leads to docs/index.html
if (ROOT / "docs/_build/demo").exists():
    html_extra_path.append("_build/demo")  # try/index.html, by docs/demo.py
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_logo, html_favicon = "_static/logo.svg", "_static/favicon.svg"

# Empty until the repository has an address (docs/releasing.md). Then each page has a link to edit it.
REPOSITORY = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["gin-env"]["repository"]
if REPOSITORY:
    html_theme_options = {"source_repository": REPOSITORY, "source_branch": "main", "source_directory": ""}
copybutton_prompt_text = ">>> "

myst_heading_anchors = 4  # as on GitHub
nb_execution_mode = "off"  # notebooks show what is stored in them; tests/project/test_site.py runs them

default_role = "py:obj"
autodoc_member_order = "bysource"
autodoc_mock_imports = ["pyspiel"]  # too large to install for its two signatures
autosummary_generate = False
python_maximum_signature_line_length = 90

KERNEL_MODULES = (
    "gin_env.game.engine",
    "gin_env.game.hands",
    "gin_env.game.history",
    "gin_env.observations.knowledge",
    "gin_env.game.streams",
)
"""Where kernels are shown: elsewhere they are not for callers."""


ENVIRONMENT_SECTIONS = (
    "Description",
    "Action Space",
    "Observation Space",
    "Rewards",
    "Starting State",
    "Episode End",
    "Version History",
)
"""Sections of an environment's docstring besides "Arguments", as in Gymnasium."""


SCRIPT_PAGES = ROOT / "docs/scripts"
PAGE_OF_SCRIPT = {
    script: SCRIPT_PAGES / script.relative_to(ROOT / "examples").with_suffix(".md")
    for script in sorted((ROOT / "examples").rglob("*.py"))
    if script.name != "__init__.py"
}
"""The page of each script, which a build writes and git ignores."""


def leave_out_kernels(app: Any, what: str, name: str, thing: Any, skip: bool, options: Any) -> bool | None:
    """Leave out most kernels: they check nothing and are building blocks for other kernels."""
    if what != "module" or not inspect.isfunction(thing) or thing.__module__ in KERNEL_MODULES:
        return None
    return True if inspect.getsource(thing).startswith("@kernel") else None


def read_numpy_style(app: Any, what: str, name: str, thing: Any, options: Any, lines: list[str]) -> None:
    """Parse the sections of a docstring with napoleon; the text after a parameter's colon describes it.

    (Its type is in the signature.) Napoleon as an extension would take the words before the colon of a
    constant's docstring for a type.
    """
    written: list[str] = []
    inside = False
    for line in lines:
        if inside and line and not line[0].isspace() and not line.startswith("---"):
            names, colon, meaning = line.partition(" : ")
            if colon:
                written += [names, f"    {meaning}"]
                continue
            inside = False
            written += ["", ""]  # ends the section
        inside |= line in ("Parameters", "Arguments")
        written.append(line)
    config = Config(napoleon_use_param=True, napoleon_custom_sections=list(ENVIRONMENT_SECTIONS))
    lines[:] = NumpyDocstring(written, config).lines()


def write_defaults(
    app: Any, what: str, name: str, thing: Any, options: Any, signature: str | None, returned: str | None
) -> tuple[str | None, str | None]:
    """Replace <factory>, which Python writes for a default from a factory: Sphinx cannot read it."""
    return signature and signature.replace("<factory>", "..."), returned


def write_script_pages(app: Any) -> None:
    """Write a page for each script of examples/: its docstring, and a directive for its source."""
    shutil.rmtree(SCRIPT_PAGES, ignore_errors=True)
    for script, page in PAGE_OF_SCRIPT.items():
        text = ast.get_docstring(ast.parse(script.read_text())) or ""
        text = re.sub(r"^(>>>|\.\.\.)", r"    \1", text, flags=re.MULTILINE)
        source = f"```{{literalinclude}} /{script.relative_to(ROOT).as_posix()}\n:language: python\n```"
        page.parent.mkdir(parents=True, exist_ok=True)
        page.write_text(f"# {script.relative_to(ROOT / 'examples').as_posix()}\n\n{text}\n\n{source}\n")


def leave_out_edit_link(app: Any, pagename: str, template: str, context: dict[str, Any], tree: Any) -> None:
    """Show no link to edit a page that only a build has."""
    if pagename.startswith("docs/scripts/"):
        context["page_source_suffix"] = ""


def link_within_the_site(app: Any, docname: str, source: list[str]) -> None:
    """Link scripts to their pages, folders to their READMEs (or keep the text); keep verdicts in one line."""
    folder = (ROOT / docname).parent

    def lead(link: re.Match[str]) -> str:
        text, target = link.groups()
        if page := PAGE_OF_SCRIPT.get((folder / target).resolve()):
            return f"[{text}](/{page.relative_to(ROOT).as_posix()})"
        if not (folder / target).is_dir():
            return link[0]
        readme = f"{target}/README.md"
        return f"[{text}]({readme})" if (folder / readme).exists() else text

    source[0] = re.sub("([✓✗?]) (agrees|differs|undecided|fitted)", "\\1\u00a0\\2", source[0])
    source[0] = re.sub(r"(?<!!)\[([^\]]*)\]\(([^)#:\s]+)\)", lead, source[0])


def setup(app: Any) -> None:
    """Called by Sphinx."""
    app.connect("builder-inited", write_script_pages)
    app.connect("autodoc-skip-member", leave_out_kernels)
    app.connect("autodoc-process-signature", write_defaults)
    app.connect("autodoc-process-docstring", read_numpy_style)
    app.connect("source-read", link_within_the_site)
    app.connect("html-page-context", leave_out_edit_link)
