"""Truong and Neller 2021: simulated hands, data sets, training and selection of the hand-strength networks.

The seed matters as much as the kind of network, and longer training lowers the error without improving the
play (docs/results/truong2021.md, "Length of training"). Training therefore takes three epochs instead of the
paper's 96, trains five networks of each kind, and selects one by its games.
"""
