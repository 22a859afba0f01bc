"""The page docs/rules.md: its numbered rules have tests, and its table of checks is current."""

from __future__ import annotations

import re
from pathlib import Path

import preset_checks
import pytest

ROOT = Path(__file__).parents[2]


def test_each_numbered_rule_has_tests():
    page = (ROOT / "docs/rules.md").read_text().partition("## The rules\n")[2].partition("\n## ")[0]
    rules = {int(number) for number in re.findall(r"^(\d+)\. ", page, re.MULTILINE)}
    text = "".join(path.read_text() for path in Path(__file__).parent.glob("test_*.py"))
    tested = {int(number) for number in re.findall(r"^def test_rule_(\d+)_", text, re.MULTILINE)}
    assert rules == set(range(1, 10))
    assert tested == rules


@pytest.mark.compiled
def test_table_of_checks_is_current():
    page = preset_checks.PAGE.read_text()
    assert preset_checks.BLOCK.search(page)
    assert preset_checks.with_table(page) == page
