"""Bots of the retraining loop (`gin_env.training.generations`).

`candidates` describes the decisions, `network` values them, `bot` plays.
"""
