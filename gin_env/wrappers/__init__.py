"""Adapters to RL frameworks. Each name is imported when it is first used, and needs its framework."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from gin_env.wrappers.candidate_policy import SB3CandidatePolicy
    from gin_env.wrappers.card_policy import CardPolicy
    from gin_env.wrappers.names import rename_entries
    from gin_env.wrappers.sb3 import GinRummyVecEnv, save_policy
    from gin_env.wrappers.sb3_callbacks import SelfPlayCallback
    from gin_env.wrappers.text import TextGinRummy

__all__ = [
    "CardPolicy",
    "GinRummyVecEnv",
    "SB3CandidatePolicy",
    "SelfPlayCallback",
    "TextGinRummy",
    "rename_entries",
    "save_policy",
]

_MODULES = {
    "CardPolicy": "card_policy",
    "GinRummyVecEnv": "sb3",
    "SB3CandidatePolicy": "candidate_policy",
    "SelfPlayCallback": "sb3_callbacks",
    "TextGinRummy": "text",
    "rename_entries": "names",
    "save_policy": "sb3",
}


def __getattr__(name: str) -> Any:
    if name not in _MODULES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    try:
        return getattr(import_module(f"{__name__}.{_MODULES[name]}"), name)
    except ImportError as error:
        raise ImportError(f'{name} needs more packages: pip install "gin-env[train]" ({error})') from error
