"""Bots that play strategies trained by Monte Carlo CFR+ (paper 000 and extensions).

- `paper_sets`, `plus_sets` and `dealt_sets` map situations to information sets; `abstractions` numbers them.
- `table` reads and writes the strategy tables that `research.recipes.cfr` trains.
- `strategy` turns a table into decisions, and `bot` holds the bots.
"""
