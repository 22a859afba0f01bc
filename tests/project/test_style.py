"""Style: lengths of test names, unique class names and phrases to avoid."""

from __future__ import annotations

import ast
import re
import subprocess
from collections import Counter
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
MAX_TEST_NAME = 69

UNUSUAL = re.compile(
    r"\b(so many|so manieth|anew|of late|by lot|at once|whoever|dear(er|est)?|beside|may not|tells"
    r"|(go|goes|going|gone|went) on|said in one line|(is|are|was|were|be|been|being) told"
    r"|(?<!there )(is|are) no (?!(longer|more|better|worse|faster|slower|larger|smaller)\b)[a-z]+"
    r"|that there (is|are) no\w*|that cannot be(?= *[.,;:)\"'])|(stands?|stood|lies|lay) (in|beside)"
    r"|the one\b[^.\n]{1,80}\bthe other|names the decks|she|hers?|herself|he|his|him|himself)\b",
    re.IGNORECASE,
)
"""Phrases to avoid. Underscores count as spaces, so that names are searched too."""
RELATIVE_SUBJECT = re.compile(r"(^|[.:;\"(]\s*)Whom? (?![^.\n]*\?)", re.MULTILINE)
"""Sentences such as "Who trains an agent finds it here"; questions are fine."""
TEXT = ("*.py", "*.md", "*.toml", "*.ipynb", "*.js", "*.html", "*.yml", "*.yaml", "*.cff", "Makefile")

KNOWN_CLASSES = {"raw_env"}
"""Public class names that occur twice: PettingZoo's name of every environment."""


def tracked(*patterns: str) -> list[str]:
    """Return the files tracked by git, or skip the test outside a git checkout."""
    done = subprocess.run(["git", "-C", ROOT, "ls-files", *patterns], capture_output=True, text=True)
    if done.returncode:
        pytest.skip("not a git checkout")
    return [name for name in done.stdout.splitlines() if (ROOT / name).is_file()]


def folder_of(name: str) -> str:
    return "/".join(name.split("/")[:-1][:2]) or "."


def test_names_of_tests_are_short():
    long = Counter(
        folder_of(name)
        for name in tracked("tests/*.py")
        for node in ast.walk(ast.parse((ROOT / name).read_text()))
        if isinstance(node, ast.FunctionDef)
        and node.name.startswith("test_")
        and len(node.name) > MAX_TEST_NAME
    )
    assert not long


def test_public_class_names_are_unique():
    names = Counter(
        node.name
        for name in tracked("gin_env/*.py", "agents/*.py", "wrappers/*.py")
        for node in ast.parse((ROOT / name).read_text()).body
        if isinstance(node, ast.ClassDef) and not node.name.startswith("_")
    )
    assert {name for name, count in names.items() if count > 1} <= KNOWN_CLASSES


def test_text_has_no_unusual_turns_of_phrase():
    words: Counter[str] = Counter()
    for name in tracked(*TEXT):
        if not name.startswith("results/") and name != "tests/project/test_style.py":
            text = (ROOT / name).read_text().replace("_", " ")
            words[name] += len(UNUSUAL.findall(text)) + len(RELATIVE_SUBJECT.findall(text))
    assert +words == {}


@pytest.mark.parametrize(
    "text",
    ["for so many games", "test_what_is_no_line_is_refused", "are no indices", "it went on", "is told whom"],
)
def test_unusual_turns_of_phrase_are_found(text):
    assert UNUSUAL.search(text.replace("_", " "))


@pytest.mark.parametrize("text", ["there is no memory", "is no longer used", "cannot be opened"])
def test_usual_phrases_are_allowed(text):
    assert not UNUSUAL.search(text)
