"""Gin Rummy in words against a bot, as a verifiers (v1) environment: ``vf-eval gin-env-verifiers``."""

from gin_env_verifiers.taskset import GinRummyTaskset, GinRummyVerifiersEnv

__all__ = ["GinRummyTaskset", "GinRummyVerifiersEnv"]
