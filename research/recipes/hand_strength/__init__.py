"""Paper 002: simulated hands, data sets, training and selection of the hand-strength networks."""
