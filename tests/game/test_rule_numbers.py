"""The numbered rules of docs/rules.md have tests."""

from __future__ import annotations

import re
from pathlib import Path

ROOT = Path(__file__).parents[2]


def test_each_numbered_rule_has_tests():
    page = (ROOT / "docs/rules.md").read_text().partition("## The rules\n")[2].partition("\n## ")[0]
    rules = {int(number) for number in re.findall(r"^(\d+)\. ", page, re.MULTILINE)}
    text = "".join(path.read_text() for path in Path(__file__).parent.glob("test_*.py"))
    tested = {int(number) for number in re.findall(r"^def test_rule_(\d+)_", text, re.MULTILINE)}
    assert rules == set(range(1, 10))
    assert tested == rules
