"""gin-env: Gin Rummy for reinforcement learning.

>>> from gin_env import gin_rummy_v0                      # PettingZoo AEC: gin_rummy_v0.env(), .raw_env()
>>> gymnasium.make("gin_env/GinRummy-v0", opponent="simple")                     # one seat, fixed opponent
>>> gymnasium.make_vec("gin_env/GinRummy-v0", num_envs=1024, opponent="simple")  # the same, batched
>>> gin_env.play_match("simple", "random", games=1000)
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

import gymnasium

from gin_env import agents, estimators, records
from gin_env.batch import Games
from gin_env.envs import gin_rummy_v0, gin_rummy_v4
from gin_env.game import actions, cards, melds
from gin_env.game.actions import IllegalActionError
from gin_env.game.rules import Rules
from gin_env.matches.matches import MatchResult, play_match
from gin_env.matches.tournaments import play_tournament
from gin_env.observations import candidates, observation
from gin_env.observations.views import PlayerView
from gin_env.support.version import __version__

if TYPE_CHECKING:
    from gin_env.agents.policies import candidate_network
    from gin_env.agents.protocol import serve
    from gin_env.agents.search import belief
    from gin_env.agents.turns import play_bot
    from gin_env.game import words
    from gin_env.matches import differences
    from gin_env.matches.benchmark import benchmark
    from gin_env.observations import memory
    from gin_env.support.workers import Workers
    from gin_env.training import ppo
    from gin_env.training.estimators.evaluation import evaluate_estimators
    from gin_env.ui import opinions, picture

__all__ = [
    "Games",
    "IllegalActionError",
    "MatchResult",
    "PlayerView",
    "Rules",
    "Workers",
    "__version__",
    "actions",
    "agents",
    "belief",
    "benchmark",
    "candidate_network",
    "candidates",
    "cards",
    "differences",
    "estimators",
    "evaluate_estimators",
    "gin_rummy_v0",
    "gin_rummy_v4",
    "melds",
    "memory",
    "observation",
    "opinions",
    "picture",
    "play_bot",
    "play_match",
    "play_tournament",
    "ppo",
    "records",
    "serve",
    "words",
]


_LAZY = {
    "Workers": "gin_env.support.workers",
    "belief": "gin_env.agents.search",
    "benchmark": "gin_env.matches.benchmark",
    "candidate_network": "gin_env.agents.policies",
    "differences": "gin_env.matches",
    "evaluate_estimators": "gin_env.training.estimators.evaluation",
    "memory": "gin_env.observations",
    "opinions": "gin_env.ui",
    "picture": "gin_env.ui",
    "play_bot": "gin_env.agents.turns",
    "ppo": "gin_env.training",
    "serve": "gin_env.agents.protocol",
    "words": "gin_env.game",
}
"""Names that are imported when they are first used: few programs need them, and some need an extra."""


def __getattr__(name: str) -> Any:
    if name not in _LAZY:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    module = import_module(_LAZY[name])
    return getattr(module, name, None) or import_module(f"{_LAZY[name]}.{name}")


gin_rummy_v0.register()
gymnasium.register(
    id="gin_env/GinRummy-v0",
    entry_point="gin_env.envs.gymnasium_env:GinRummyEnv",
    vector_entry_point="gin_env.envs.vector_env:GinRummyVectorEnv",
)
