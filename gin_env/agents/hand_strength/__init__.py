"""Hand strength by neural networks: the players of Truong and Neller 2021 and extensions.

Source: the data-driven hand-strength evaluation of the EAAI 2021 Gin Rummy challenge (Truong and Neller
2021). Details that the paper leaves open follow the authors' repository (github.com/sangttruong/ginrummy).
Each module names its part of the paper.

`research.recipes.hand_strength` trains the networks. The package imports torch only when one is loaded.

Results: docs/results/truong2021.md, "Table 1".
"""
