"""The scripts for other libraries (`examples/frameworks`), and what of ours they plug into."""

from __future__ import annotations

from pathlib import Path

import gymnasium
import numpy as np
import pytest
from sb3_contrib import MaskablePPO

from gin_env import agents
from gin_env.agents.policy import PolicyBot
from gin_env.batch import Games
from gin_env.wrappers.card_policy import CardPolicy
from gin_env.wrappers.sb3 import GinRummyVecEnv, save_policy
from gin_env.wrappers.sb3_archives import convert_archive

pytestmark = pytest.mark.compiled

SCRIPTS = Path(__file__).parent.parent / "examples" / "frameworks"
ID = "gin_env/GinRummy-v0"


def views(count: int, decisions: int = 5):
    """Of the players to move after some decisions of `random`."""
    games = Games(count)
    games.start(games.everyone, np.full(count, 3, np.uint64), np.arange(count, dtype=np.uint64))
    for _ in range(decisions):
        running = games.everyone[~games.done]
        games.play(running, agents.make("random").act(games.views(running)))
    return games.views(games.everyone[~games.done])


# --- Models of Stable-Baselines3, from any environment, are bots -------------------------------------------

FACES = {
    "MlpPolicy, flat=True": ("MlpPolicy", lambda: gymnasium.make(ID, flat=True)),
    "MultiInputPolicy": ("MultiInputPolicy", lambda: gymnasium.make(ID)),
    "CardPolicy": (CardPolicy, lambda: gymnasium.make(ID)),
    "CardPolicy, flat=True": (CardPolicy, lambda: gymnasium.make(ID, flat=True)),
}


@pytest.mark.parametrize("face", FACES)
def test_a_model_trained_on_gymnasium_make_is_a_bot_that_decides_as_it_predicts(face, tmp_path):
    policy, make = FACES[face]
    env = make()
    model = MaskablePPO(policy, env, n_steps=8, batch_size=8, seed=1, policy_kwargs={"net_arch": [8]})
    model.gin_env = env.unwrapped.describe_training()
    model.learn(8)
    save_policy(model, tmp_path / "saved.safetensors")
    model.save(tmp_path / "model.zip")
    convert_archive(tmp_path / "model.zip", tmp_path / "converted.safetensors")
    view = views(60)
    seen = view.observations()
    seen = seen if "flat" in face else {"observation": seen, "action_mask": view.masks()}
    expected, _ = model.predict(seen, action_masks=view.masks(), deterministic=True)
    for name in ("saved", "converted"):
        assert agents.make(str(tmp_path / f"{name}.safetensors")).act(view).tolist() == expected.tolist()
    assert PolicyBot.snapshot(model, deterministic=True).act(view).tolist() == expected.tolist()
    assert len(set(expected.tolist())) > 10


@pytest.mark.parametrize("flat", [True, False])
def test_a_card_policy_predicts_in_the_environments_it_was_not_trained_in(flat):
    model = MaskablePPO(CardPolicy, gymnasium.make(ID, flat=flat), policy_kwargs={"net_arch": [8]}, seed=1)
    observation, info = gymnasium.make(ID).reset(seed=4)
    mask = info["action_mask"]
    alone, _ = model.predict(observation["observation"], action_masks=mask, deterministic=True)
    in_dict, _ = model.predict(observation, action_masks=mask, deterministic=True)
    assert alone == in_dict
    assert mask[int(alone)]


def test_a_policy_on_everything_that_candidates_show_is_refused_with_what_to_take():
    model = MaskablePPO("MultiInputPolicy", GinRummyVecEnv(2, candidates=True), n_steps=8, batch_size=8)
    model.gin_env = model.env.describe_training()
    with pytest.raises(ValueError, match=r"reads .*candidate_rows.*CandidatePolicyBot\.snapshot"):
        save_policy(model, "never_written.safetensors")
