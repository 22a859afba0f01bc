"""Hand strength by neural networks: the players of paper 002, and what it left open.

Source: the data-driven hand-strength evaluation of the EAAI 2021 Gin Rummy challenge (paper 002), and where
it is silent the authors' repository (github.com/sangttruong/ginrummy). Each module says which part of the
paper it is.

- `features`, `networks`, `weights`: what a network sees and is, and its files. `bots`: the players.
- Data sets, training and selection are in `gin_env.training.hand_strength`, which makes each network by name.
- Equation 5 is in `gin_env.estimators.risk`.

The seed matters as much as the kind of network, and longer training lowers the error without improving the
play (docs/results/paper-002.md, "Length of training"). Hence three epochs instead of the paper's 96, five
networks of each kind, and a choice by games. Measured: docs/results/paper-002.md, "Table 1".

Nothing here imports torch until a network is made or loaded.
"""
