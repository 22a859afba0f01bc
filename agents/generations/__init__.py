"""Bots of the retraining loop (`gin_env.training.generations`).

`gin_env.observations.candidates` describes the decisions, `network` values them, `bot` plays.
"""
