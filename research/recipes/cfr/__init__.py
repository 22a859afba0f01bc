"""Monte Carlo CFR+ over abstractions of the full game (Gallucci et al. 2021 and extensions)."""
