"""Settings for all tests."""

import pytest
from hypothesis import settings

from gin_env.solvers import GameTree
from gin_env.solvers.kuhn import KuhnPoker
from gin_env.solvers.leduc import LeducHoldem
from gin_env.solvers.small_gin import TINY, SmallGin

# No deadlines: the first call of a kernel may compile it. The same examples in each run: failures repeat.
settings.register_profile("gin-env", deadline=None, derandomize=True, database=None)
settings.load_profile("gin-env")


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
