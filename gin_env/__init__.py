"""gin-env: Gin Rummy for reinforcement learning.

>>> from gin_env import gin_rummy_v0                      # PettingZoo AEC: gin_rummy_v0.env(), .raw_env()
>>> gymnasium.make("gin_env/GinRummy-v0", opponent="simple")                     # one seat, fixed opponent
>>> gymnasium.make_vec("gin_env/GinRummy-v0", num_envs=1024, opponent="simple")  # the same, batched
>>> gin_env.play_match("simple", "random", games=1000)
"""

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
    from gin_env.agents.search import belief

__all__ = [
    "Games",
    "IllegalActionError",
    "MatchResult",
    "PlayerView",
    "Rules",
    "__version__",
    "actions",
    "agents",
    "belief",
    "candidates",
    "cards",
    "estimators",
    "gin_rummy_v0",
    "gin_rummy_v4",
    "melds",
    "observation",
    "play_match",
    "play_tournament",
    "records",
]


def __getattr__(name: str) -> Any:
    if name == "belief":  # imported when it is first used, because it needs torch
        from gin_env.agents.search import belief

        return belief
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


gin_rummy_v0.register()
gymnasium.register(
    id="gin_env/GinRummy-v0",
    entry_point="gin_env.envs.gymnasium_env:GinRummyEnv",
    vector_entry_point="gin_env.envs.gymnasium_env:GinRummyVectorEnv",
)
