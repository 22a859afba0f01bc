"""Environments that others no longer ship, over our engine: `gin_env.compat.gin_rummy_v4`."""
