"""Settings for all tests."""

from hypothesis import settings

# No deadlines: the first call of a kernel may compile it. The same examples in each run: failures repeat.
settings.register_profile("gin-env", deadline=None, derandomize=True, database=None)
settings.load_profile("gin-env")
