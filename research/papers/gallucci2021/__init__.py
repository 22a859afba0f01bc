"""Gallucci et al., Estimating Card Fitness for Discard in Gin Rummy (2021)."""
