"""Gin Rummy in words against a bot, as an OpenEnv server and its client."""

from gin_env_openenv.environment import GinRummyAction, GinRummyObservation, GinRummyOpenEnv

__all__ = ["GinRummyAction", "GinRummyObservation", "GinRummyOpenEnv"]
