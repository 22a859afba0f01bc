"""Monte Carlo CFR+ over abstractions of the full game (paper 000 and extensions)."""
