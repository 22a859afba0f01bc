"""The tests of the laboratory are long: `make test-long` runs them."""

import sys
from pathlib import Path

import pytest

from research.small_games import GameTree
from research.small_games.kuhn import KuhnPoker
from research.small_games.leduc import LeducHoldem
from research.small_games.small_gin import TINY, SmallGin

# The hands of tests/estimators/test_estimator_turns.py are also counted here.
sys.path.append(str(Path(__file__).parents[1] / "estimators"))


def pytest_collection_modifyitems(items):
    for item in items:
        if Path(__file__).parent in item.path.parents:
            item.add_marker(pytest.mark.long)


class Trees(dict[str, GameTree]):
    """The small games that CFR is checked on, laid out as trees when they are asked for."""

    GAMES = {"kuhn": KuhnPoker, "leduc": LeducHoldem, "small_gin": lambda: SmallGin(TINY)}  # noqa: RUF012

    def __missing__(self, name: str) -> GameTree:
        self[name] = GameTree(self.GAMES[name]())
        return self[name]


@pytest.fixture(scope="session")
def trees():
    """See `Trees`."""
    return Trees()
