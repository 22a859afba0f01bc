"""Bots that play strategies trained by Monte Carlo CFR+ (Gallucci et al. 2021 and extensions).

- `paper_sets` and `plus_sets` map situations to information sets; `strategy` numbers them, and turns a table
  into decisions.
- `bot` holds the bots and their tables, which `research.recipes.cfr` trains.
"""
