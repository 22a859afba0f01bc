"""gin-env: Gin Rummy for reinforcement learning.

>>> from gin_env import gin_rummy_v0                      # PettingZoo AEC: gin_rummy_v0.env(), .raw_env()
>>> gymnasium.make("gin_env/GinRummy-v0", opponent="simple")                     # one seat, fixed opponent
>>> gymnasium.make_vec("gin_env/GinRummy-v0", num_envs=1024, opponent="simple")  # the same, batched
>>> gin_env.play_match("simple", "random", games=1000)
"""

from pathlib import Path

import gymnasium

# Python started in the folder of a checkout imports this folder, not the installed package. There the
# sub-packages agents and wrappers lie beside it.
if not Path(__file__).with_name("agents").is_dir():
    __path__.append(str(Path(__file__).parent.parent))

from gin_env import agents, cards, estimators, gin_rummy_v0, melds, observation
from gin_env.actions import IllegalActionError
from gin_env.matches import MatchResult, play_match
from gin_env.rules import Rules
from gin_env.views import PlayerView

__all__ = [
    "IllegalActionError",
    "MatchResult",
    "PlayerView",
    "Rules",
    "agents",
    "cards",
    "estimators",
    "gin_rummy_v0",
    "melds",
    "observation",
    "play_match",
]
__version__ = "0.1.0"

gin_rummy_v0.register()
gymnasium.register(
    id="gin_env/GinRummy-v0",
    entry_point="gin_env.gymnasium_env:GinRummyEnv",
    vector_entry_point="gin_env.gymnasium_env:GinRummyVectorEnv",
)
