"""Bots that play strategies of Monte Carlo CFR+ (paper 000, and beyond).

`paper_sets`, `plus_sets` and `dealt_sets` say which situations count as the same information set (their
numbers: `abstractions`), `table` is the file that the training (`gin_env.training.cfr`) leaves, `strategy`
turns it into decisions, `bot` plays them.
"""
