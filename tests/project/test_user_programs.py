"""Programs that a user would write, each in a new folder with the installed wheel."""

from __future__ import annotations

import os
import shutil
import site
import subprocess
import sys
from pathlib import Path
from textwrap import dedent

import pytest
from python_programs import run_python

pytest.importorskip("sb3_contrib")
pytestmark = pytest.mark.long

ROOT = Path(__file__).parents[2]
ESTIMATOR = """
import numpy as np
from gin_env.estimators.base import Memoryless

class Mine(Memoryless):
    name = "mine"

    def estimate(self, view):
        return np.full((len(view), 52), 0.2, np.float32)
"""
NETWORK = """
from torch import nn
from gin_env.observations.observation import OBSERVATION_SIZE

class Net(nn.Sequential):
    def __init__(self):
        super().__init__(nn.Linear(OBSERVATION_SIZE, 32), nn.ReLU(), nn.Linear(32, 107))
"""
TRAIN = """
from sb3_contrib import MaskablePPO
from gin_env.wrappers import GinRummyVecEnv, save_policy
def train(env, kind="MlpPolicy"):
    return MaskablePPO(kind, env, n_steps=8, batch_size=32, n_epochs=1, device="cpu").learn(128)
"""
PROGRAMS = {
    "five bots with intervals": """
        bots = ["simple", "random", "random-discard", "gold-standard", "medium"]
        assert "simple" in str(gin_env.play_tournament(bots, 20, seed=1))
    """,
    "a CFR bot against a policy": """
        assert gin_env.play_match("cfr", "policy", games=10, seed=1).games == 10
    """,
    "a league of single environments in processes": TRAIN
    + """
        from stable_baselines3.common.env_util import make_vec_env
        from stable_baselines3.common.vec_env import SubprocVecEnv
        if __name__ == "__main__":
            ID, options = "gin_env:gin_env/GinRummy-v0", {"flat": True, "opponent": "random"}
            env = make_vec_env(ID, 2, env_kwargs=options, vec_env_cls=SubprocVecEnv)
            model = train(env)
            save_policy(model, "past.safetensors")
            env.env_method("set_opponents", ["past.safetensors", "simple"], [2, 1])
            model.learn(128)
            env.close()
    """,
    "cloning a bot": """
        import torch
        from networks import Net
        games, bot, net = gin_env.Games(100), gin_env.agents.make("simple"), Net()
        games.start(seed=1)
        optimizer = torch.optim.Adam(net.parameters(), 1e-2)
        for waiting in games.until_over():
            views = games.views(waiting)
            actions = bot.act(views)
            loss = torch.nn.functional.cross_entropy(
                net(torch.from_numpy(views.observations())), torch.from_numpy(actions))
            optimizer.zero_grad(); loss.backward(); optimizer.step()
            games.play(waiting, actions)
        gin_env.agents.save_network("clone.safetensors", net)
        assert gin_env.play_match("networks:Net:weights=clone.safetensors", "random", 20, seed=1).wins[0] > 0
    """,
    "a reward of your own": """
        class Fast(gymnasium.RewardWrapper):
            def reward(self, reward):
                return reward - 0.01
        env = Fast(gymnasium.make("gin_env/GinRummy-v0", rules={"knock_limit": 5}))
        _, info = env.reset(seed=1)
        assert env.step(int(info["action_mask"].argmax()))[1] == -0.01
    """,
    "an observation of your own": TRAIN
    + """
        class Hand(gymnasium.ObservationWrapper):
            observation_space = gymnasium.spaces.Box(0, 1, (52,))
            def observation(self, observation):
                return observation[:52]
        model = train(Hand(gymnasium.make("gin_env/GinRummy-v0", flat=True)))
        class Bot:
            def act(self, view):
                return model.predict(view.observations()[:, :52], action_masks=view.masks())[0]
        assert gin_env.play_match(Bot(), "random", games=4, seed=1).games == 4
    """,
    "an estimator of your own": TRAIN
    + """
        model = train(GinRummyVecEnv(4, estimator="own_estimator:Mine"))
        save_policy(model, "mine.safetensors")
        name = "mine.safetensors:estimator=own_estimator:Mine"
        assert gin_env.play_match(name, "random", games=4, seed=1).games == 4
    """,
    "one model from a small to the whole deck": TRAIN
    + """
        small = gin_env.Rules(ranks=6, suits=4, hand_size=5)
        model = train(GinRummyVecEnv(4, rules=small))
        model.set_env(GinRummyVecEnv(4))
        model.learn(64)
    """,
    "a match in several processes": """
        if __name__ == "__main__":
            one, two = (gin_env.play_match("simple", "random", 200, seed=1, workers=n) for n in (1, 2))
            assert one.wins == two.wins
    """,
    "win rates by opponent on a board": TRAIN
    + """
        from collections import Counter
        env = gymnasium.make_vec("gin_env/GinRummy-v0", 32, opponent=["simple", "random"])
        games, won = Counter(), Counter()
        _, infos = env.reset(seed=1)
        for _ in range(60):
            *_, over, _, infos = env.step(infos["action_mask"].argmax(axis=1))
            if over.any():
                final = infos["final_info"]
                games.update(final["opponent"][over].tolist())
                won.update(final["opponent"][over & final["won"]].tolist())
        assert set(games) == {"simple", "random"}
        MaskablePPO("MlpPolicy", GinRummyVecEnv(4), n_steps=8, batch_size=32, device="cpu",
                    tensorboard_log="board").learn(64)
        import os
        assert os.listdir("board")
    """,
}
"""What the program is -> its lines."""


@pytest.fixture(scope="module")
def installed(tmp_path_factory) -> Path:
    """Return a folder that holds the package as the wheel installs it, and nothing else of the checkout."""
    folder = tmp_path_factory.mktemp("installed")
    files = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, check=True, capture_output=True, text=True)
    for name in filter(None, files.stdout.split("\0")):
        if (ROOT / name).exists():
            (folder / "checkout" / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(ROOT / name, folder / "checkout" / name, follow_symlinks=False)
    options = ["--no-deps", "--no-build-isolation", "--quiet", "--target", str(folder / "site")]
    subprocess.run([sys.executable, "-m", "pip", "install", folder / "checkout", *options], check=True)
    return folder / "site"


@pytest.mark.parametrize("what", PROGRAMS)
def test_program_runs_from_the_wheel(what, installed, tmp_path):
    program = PROGRAMS[what]
    head, _, body = program.partition("\n        ")
    lines = f"import gymnasium\nimport gin_env\nassert gin_env.__file__.startswith({str(installed)!r})\n"
    (tmp_path / "program.py").write_text(lines + dedent(head) + dedent("        " + body))
    (tmp_path / "own_estimator.py").write_text(ESTIMATOR)
    (tmp_path / "networks.py").write_text(NETWORK)
    # Before the checkout of an editable installation.
    paths = os.pathsep.join([str(installed), *site.getsitepackages()])
    run_python("program.py", cwd=tmp_path, timeout=600, PYTHONPATH=paths, OMP_NUM_THREADS="1")
