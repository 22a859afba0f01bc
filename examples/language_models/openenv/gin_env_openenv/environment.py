"""`TextGinRummy` with OpenEnv's interface."""

from __future__ import annotations

import uuid
from typing import Any

from openenv.core.env_server.interfaces import Environment
from openenv.core.env_server.types import Action, Observation, State
from pydantic import Field

from gin_env.wrappers.text import TextGinRummy


class GinRummyAction(Action):
    """The model's answer; the last action that it names counts."""

    message: str


class GinRummyObservation(Observation):
    """The rules (once) and the position, in words."""

    prompt: str = ""
    legal_actions: list[str] = Field(default_factory=list)
    illegal_answers: int = 0


class GinRummyOpenEnv(Environment[GinRummyAction, GinRummyObservation, State]):
    """One seat against a bot; each session has an environment of its own.

    Parameters are those of `TextGinRummy`.
    """

    SUPPORTS_CONCURRENT_SESSIONS = True

    def __init__(self, **arguments: Any) -> None:
        super().__init__()
        self._env = TextGinRummy(**arguments)
        self._state = State(episode_id=None, step_count=0)

    def reset(self, seed: int | None = None, episode_id: str | None = None, **_: Any) -> GinRummyObservation:
        """Begin an episode: number 0 of `seed`, or the one after the last."""
        self._state = State(episode_id=episode_id or str(uuid.uuid4()), step_count=0)
        text, info = self._env.reset(seed=seed)
        return self._observation(text, info, 0.0, False)

    def step(self, action: GinRummyAction, timeout_s: float | None = None, **_: Any) -> GinRummyObservation:
        """Play what the message says."""
        self._state.step_count += 1
        text, reward, over, _truncated, info = self._env.step(action.message)
        return self._observation(text, info, reward, over)

    @property
    def state(self) -> State:
        """Episode and number of steps; the cards stay here."""
        return self._state

    def _observation(self, text: str, info: dict[str, Any], reward: float, over: bool) -> GinRummyObservation:
        return GinRummyObservation(
            prompt=text, legal_actions=info["legal"], illegal_answers=info["misses"], reward=reward, done=over
        )
