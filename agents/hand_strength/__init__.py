"""Hand strength by neural networks: data sets, networks and players of paper 002, and what it left open.

Source: the data-driven hand-strength evaluation of the EAAI 2021 Gin Rummy challenge (paper 002). Each module says which part of the paper it is.

- `simulation`, `data_sets`: hands played in bulk, and what is kept of them.
- `features`, `networks`, `training`, `weights`: what a network sees, is, learns from, and how it is kept.
- `recipes`: all of it by name. `bots`: the players. Equation 5 is in `gin_env.estimators.risk`.

Measured against ``simple``: 10,000 games a row, 90 % intervals ± 0.8, networks trained on 200,000 observations in 8 epochs of the fast schedule
(the paper: 1.0 to 1.6 million, 96 epochs); ``python examples/reproduce_hand_strength.py --observations 200000 --epochs 8``, 20 minutes of one core.
Mean squared errors of validation and games won in per cent:

=====================================  =====  =====  =====  =====
network                                error  paper  won    paper
=====================================  =====  =====  =====  =====
mlp-simple                             128.0  87.7   44.3   42.9
mlp-i-simple                           133.6  91.4   44.6   43.6
dual-inception-simple                  112.7  79.8   46.3   45.8
mlp-random-16                          141.7  159.4  53.5   44.0
mlp-i-random-16                        153.7  150.0  53.0   42.3
dual-inception-random-16               132.0  83.0   49.6   50.1
mlp-random-256                         112.2  107.4  17.2   48.1
mlp-i-random-256                       130.5  107.8  42.0   45.8
dual-inception-random-256              134.7  75.7   48.9   55.4
mlp-simple-all-stages                  166.6  154.5  28.7   34.3
mlp-i-simple-all-stages                168.3  155.7  28.1   29.3
dual-inception-simple-all-stages       155.3  146.5  48.9   19.7
dual-inception-random-16-augmented     132.1  181.4  49.7   42.8
dual-inception-16-random-16-augmented  120.6  132.0  51.0   51.2
card-messages-random-16                118.3  ..     54.3   ..
card-messages-random-256               93.8   ..     21.4   ..
dual-inception-flat-monte-carlo-256    118.9  ..     48.8   ..
=====================================  =====  =====  =====  =====

As in the paper, Dual Inception gains from Simple (46.3) to Random-16 (49.6), the 16 filters win 51 after augmentation, and the MLPs on all stages win 29.
Not as in the paper: Dual Inception on Random-256 wins 48.9, not 55.4; the MLPs on Random-16 win 53 and beat it; on all
stages Dual Inception keeps its strength. The best of 256 samples is mostly gin or an early big win: a hand of more than 30
points, which every hand begins with, hardly appears among them, so that the value of such hands is extrapolated, and small things
decide how: the MLP wins 17 % there. With the same stock in all samples, torch's initial weights and scaled inputs it was 24 to 45 % (2,000 games
each). Beyond the paper, message passing between cards on Random-16 is the best of all (54.3), and flat Monte Carlo as the
explorer (48.8) does about what Random-256 does.

Past the paper: ``balanced`` with Dual Inception on Random-16 wins 50.4, 46.9, 37.7 and 23.5 % with a risk weight of 2, 5, 10 and 20 (``offensive``: 49.6): looking at equation 5 as well does not pay
against a player who ignores what is discarded. ``defensive`` wins 17 % ("does not yield a superior player", the paper). A game of Dual
Inception takes 2 to 3 ms of one core in a batch (the paper: 500 ms), of the MLP 0.4 ms.

Nothing here imports torch until a network is made or loaded.
"""
