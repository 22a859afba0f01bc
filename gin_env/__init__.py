"""gin-env: Gin Rummy for reinforcement learning.

>>> from gin_env import gin_rummy_v0                      # PettingZoo AEC: gin_rummy_v0.env(), .raw_env()
>>> gymnasium.make("gin_env/GinRummy-v0", opponent="simple")                     # one seat, fixed opponent
>>> gymnasium.make_vec("gin_env/GinRummy-v0", num_envs=1024, opponent="simple")  # the same, batched
>>> gin_env.play_match("simple", "random", games=1000)
"""

import gymnasium

from gin_env import agents, cards, estimators, gin_rummy_v0, melds, observation
from gin_env.actions import IllegalActionError
from gin_env.play.matches import MatchResult, play_match
from gin_env.rules import Rules
from gin_env.support.version import __version__
from gin_env.views import PlayerView

__all__ = [
    "IllegalActionError",
    "MatchResult",
    "PlayerView",
    "Rules",
    "__version__",
    "agents",
    "cards",
    "estimators",
    "gin_rummy_v0",
    "melds",
    "observation",
    "play_match",
]

gin_rummy_v0.register()
gymnasium.register(
    id="gin_env/GinRummy-v0",
    entry_point="gin_env.gymnasium_env:GinRummyEnv",
    vector_entry_point="gin_env.gymnasium_env:GinRummyVectorEnv",
)
