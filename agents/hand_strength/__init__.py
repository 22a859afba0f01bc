"""Hand strength by neural networks: data sets, networks and players of paper 002, and what it left open.

Source: the data-driven hand-strength evaluation of the EAAI 2021 Gin Rummy challenge (paper 002), and where it is silent the authors'
repository (github.com/sangttruong/ginrummy). Each module says which part of the paper it is.

- `simulation`, `data_sets`: hands played in bulk, and what is kept of them.
- `features`, `networks`, `training`, `selection`, `weights`: what a network sees, is, learns from, which one is kept, and how.
- `recipes`: all of it by name. `bots`: the players. Equation 5 is in `gin_env.estimators.risk`.

Measured against ``simple`` with ``python examples/reproduce_hand_strength.py`` (half an hour of one core): five networks of each kind learned from 200,000
observations in three epochs (the paper: one each, a million and more, 96 epochs). Mean squared errors of validation; games won in per cent by
the five in 3,000 validation games (median, lowest, highest), and by the best of these in 10,000 other games, 90 % intervals ± 0.8 as in the paper:

=====================================  =====  =====  =====================  =====  =====
network                                error  paper  five networks          best   paper
=====================================  =====  =====  =====================  =====  =====
mlp-simple                             132.9  87.7   44.3 (40.4 to 45.4)    44.4   42.9
mlp-i-simple                           134.7  91.4   42.8 (41.9 to 48.2)    46.5   43.6
dual-inception-simple                  111.8  79.8   45.5 (43.5 to 47.3)    47.9   45.8
mlp-random-16                          207.5  159.4  43.5 (24.1 to 46.8)    46.3   44.0
mlp-i-random-16                        154.2  150.0  52.0 (45.0 to 53.9)    54.6   42.3
dual-inception-random-16               128.1  83.0   50.3 (43.7 to 52.0)    51.8   50.1
mlp-random-256                         105.3  107.4  46.0 (33.1 to 48.8)    48.1   48.1
mlp-i-random-256                       111.2  107.8  51.0 (45.6 to 54.2)    53.8   45.8
dual-inception-random-256               91.7  75.7   53.6 (46.1 to 55.2)    56.8   55.4
mlp-simple-all-stages                  167.5  154.5  31.3 (24.7 to 31.5)    31.9   34.3
mlp-i-simple-all-stages                165.8  155.7  30.2 (28.5 to 34.7)    34.4   29.3
dual-inception-simple-all-stages       156.0  146.5  46.7 (45.5 to 48.8)    51.1   19.7
dual-inception-random-16-augmented     128.6  181.4  51.1 (50.8 to 54.8)    55.2   42.8
dual-inception-16-random-16-augmented  116.8  132.0  42.4 (38.8 to 49.3)    48.9   51.2
card-messages-random-16                105.6  ..     53.6 (52.4 to 55.4)    55.6   ..
card-messages-random-256                67.8  ..     54.0 (52.9 to 55.9)    55.0   ..
dual-inception-flat-monte-carlo-256    113.1  ..     47.0 (46.2 to 50.0)    49.4   ..
=====================================  =====  =====  =====================  =====  =====

As in the paper: Dual Inception gains from Simple to Random-16 to Random-256, where it is the best of its table, and so does the MLP, point for
point with the paper's; all networks on all stages but Dual Inception win about 30. Not as in the paper: the interaction terms of MLP-i help
(and beat Dual Inception on Random-16); Dual Inception keeps its strength on all stages; augmentation does not cost it anything, and 16
filters are no better than four.

The seed matters as much as the kind of network, and training on does not help: the error falls to the end, the play does not
follow. One Dual Inception on Random-256 won 33, 51, 54, 49, 32, 0.3, 1.3 and 46 % after 0.16, 0.32, 0.48, 0.8, 1.3, 1.9, 2.9 and 3.2 million
states (``python examples/hand_strength_training_length.py``), another 54, 54, 55, 54, 54, 51, 51 and 49. The best of 256 samples ends with gin or an early knock;
a hand of more than ten points of deadwood, which nearly every hand is until its end, makes 0.4 % of them, so that its value is extrapolated. The
paper's own schedule, 96 epochs of a million states, was followed for 33 epochs on data of an earlier reading: the error fell as the authors'
published curves do (83.7; theirs 77), and 4 % of 4,000 games were won. Hence three epochs, five networks, and games to choose by.

Past the paper: message passing between cards (`networks.CardMessages`), which knows no order of suits, has the best median on both random sets (53.6 and 54.0) and
the least spread; flat Monte Carlo is no better an explorer than random discards with a choice among samples; for the players
``balanced`` and ``defensive`` see ``examples/README.md``. A game of Dual Inception takes 1.0 ms of one core in a batch (the paper: 500 ms), of the MLP 0.3 ms.

Nothing here imports torch until a network is made or loaded.
"""
