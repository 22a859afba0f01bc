"""The verifiers and OpenEnv environments, if those suites are installed."""

from __future__ import annotations

import asyncio
import tomllib
from contextlib import asynccontextmanager
from types import SimpleNamespace

import pytest
from example_scripts import EXAMPLES

from gin_env.wrappers.text import TextGinRummy

FOLDER = EXAMPLES / "language_models"


def scripted_hand(seed, opponent="simple"):
    """Return the rewards and number of decisions of a hand in which the last legal action is always taken."""
    env = TextGinRummy(opponent)
    info = env.reset(seed=seed)[1]
    total, steps, over = 0.0, 0, False
    while not over:
        _, reward, over, _, info = env.step(info["legal"][-1])
        total, steps = total + reward, steps + 1
    return total, steps


@pytest.mark.parametrize("suite", ["verifiers", "openenv"])
def test_package_contains_the_module_that_it_names(suite):
    project = tomllib.loads((FOLDER / suite / "pyproject.toml").read_text())
    (module,) = project["tool"]["hatch"]["build"]["targets"]["wheel"]["packages"]
    assert (FOLDER / suite / module / "__init__.py").is_file()
    assert project["project"]["name"].replace("-", "_") == module
    required = [each.split(">=")[0] for each in project["project"]["dependencies"]]
    assert required == ["gin-env", suite]


def test_openenv_plays_the_same_hand_as_the_text_environment(monkeypatch):
    pytest.importorskip("openenv")
    monkeypatch.syspath_prepend(FOLDER / "openenv")
    import gin_env_openenv as suite

    env = suite.GinRummyOpenEnv(opponent="tonic")
    seen = env.reset(seed=4)
    assert "Gin Rummy for two players" in seen.prompt
    total = 0.0
    while not seen.done:
        seen = env.step(suite.GinRummyAction(message=f"I will {seen.legal_actions[-1]}."))
        total += seen.reward
    assert (total, env.state.step_count) == scripted_hand(4, "tonic")


def test_verifiers_plays_the_same_hand_as_the_text_environment(monkeypatch):
    pytest.importorskip("verifiers.v1")
    monkeypatch.syspath_prepend(FOLDER / "verifiers")
    import gin_env_verifiers as suite
    from gin_env_verifiers.taskset import GinRummyConfig

    tasks = iter(suite.GinRummyTaskset(GinRummyConfig(opponent="tonic", first_seed=4)))
    recorded, asked = {}, []

    async def turn(text):
        asked.append(text)
        answer = text.splitlines()[-1].removesuffix(".").split("; ")[-1].removeprefix("You may: ")
        return SimpleNamespace(terminated=False, last_reply=answer)

    @asynccontextmanager
    async def interaction(task):
        trace = SimpleNamespace(record_reward=recorded.__setitem__, record_metric=recorded.__setitem__)
        yield SimpleNamespace(turn=turn, trace=trace)

    agents = SimpleNamespace(agent=SimpleNamespace(interaction=interaction))
    asyncio.run(suite.GinRummyVerifiersEnv.run(None, next(tasks), agents))
    total, steps = scripted_hand(4, "tonic")
    assert (recorded["points"], len(asked)) == (total, steps)
    assert recorded["finished"]
    assert recorded["illegal_answers"] == 0
