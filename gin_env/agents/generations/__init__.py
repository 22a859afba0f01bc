"""Bots of the retraining loop (`gin_env.training.generations`).

`gin_env.observations.candidates` describes the candidates, `network` values them, and `bot` plays the best.
"""
