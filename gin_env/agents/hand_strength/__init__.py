"""Hand strength by neural networks: the players of paper 002 and extensions.

Source: the data-driven hand-strength evaluation of the EAAI 2021 Gin Rummy challenge (paper 002). Details
that the paper leaves open follow the authors' repository (github.com/sangttruong/ginrummy). Each module names
its part of the paper.

- `features` computes the inputs of the networks, and `networks` defines them.
- `bots` holds the players, and reads and writes the networks' files.
- `research.recipes.hand_strength` makes data sets, and trains and selects each network by name.
- `gin_env.estimators.risk` is equation 5.

The seed matters as much as the kind of network, and longer training lowers the error without improving the
play (docs/results/truong2021.md, "Length of training"). Training therefore takes three epochs instead of the
paper's 96, trains five networks of each kind, and selects one by its games. Results:
docs/results/truong2021.md, "Table 1".

The package imports torch only when a network is made or loaded.
"""
