"""Hand strength by neural networks: the players of paper 002 and extensions.

Source: the data-driven hand-strength evaluation of the EAAI 2021 Gin Rummy challenge (paper 002). Details
that the paper leaves open follow the authors' repository (github.com/sangttruong/ginrummy). Each module names
its part of the paper.

- `features` computes the inputs of the networks, and `networks` defines them.
- `bots` holds the players, and reads and writes the networks' files.
- `research.recipes.hand_strength` makes data sets, and trains and selects each network by name.
- `gin_env.estimators.risk` is equation 5.

The package imports torch only when a network is made or loaded.

Results: docs/results/truong2021.md, "Table 1".
"""
