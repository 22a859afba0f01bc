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


@pytest.fixture(scope="session")
def trees():
    """The small games that CFR is checked on, laid out as trees."""
    return {"kuhn": GameTree(KuhnPoker()), "leduc": GameTree(LeducHoldem()), "gin": GameTree(SmallGin(TINY))}
