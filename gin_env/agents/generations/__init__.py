"""Bots of the retraining loop (`gin_env.training.generations`).

`gin_env.observations.candidates` describes the candidates, which `bot` values by a network.
"""
