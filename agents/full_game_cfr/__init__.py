"""Strategies for the full game, trained by Monte Carlo CFR+ over an abstraction of it (paper 000, and beyond).

`abstraction` and `plus` say which situations count as the same information set (their numbers: `sets`), `kernels`
learns, `training` runs it, `table` is the file it leaves, `strategy` reads it in play. `gin_env.agents.cfr` holds
the plain algorithms on small games, where they can be checked exactly.
"""
