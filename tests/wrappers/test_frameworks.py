"""The scripts for other libraries (`examples/frameworks`) and the wrappers that they use."""

from __future__ import annotations

import ast
import re
import runpy
import sys
import warnings
from itertools import islice
from pathlib import Path

import gymnasium
import numpy as np
import pytest
import torch
from gymnasium.utils.env_checker import check_env
from hands_in_words import started
from sb3_contrib import MaskablePPO

from gin_env import agents, gin_rummy_v0
from gin_env.agents.policies.policy import PolicyBot
from gin_env.agents.policies.sb3_archives import convert_archive
from gin_env.game.actions import DRAW_STOCK
from gin_env.observations.candidates import ENTRIES
from gin_env.wrappers.card_policy import CardPolicy
from gin_env.wrappers.names import rename_entries
from gin_env.wrappers.sb3 import GinRummyVecEnv, save_policy

with warnings.catch_warnings():  # PettingZoo's test module imports its deprecated games
    warnings.simplefilter("ignore")
    from pettingzoo.test import api_test

pytestmark = pytest.mark.compiled

SCRIPTS = Path(__file__).parents[2] / "examples" / "frameworks"
ID = "gin_env/GinRummy-v0"


def views(count: int, decisions: int = 5):
    """Return the views of the players to move after some decisions of `random`."""
    games = started(count, seed=3)
    for running in islice(games.until_over(), decisions):
        games.play(running, agents.make("random").act(games.views(running)))
    return games.views(games.everyone[~games.done])


# --- Stable-Baselines3 models as bots -------------------------------------------------------------------

FACES = {
    "MlpPolicy, flat=True": ("MlpPolicy", lambda: gymnasium.make(ID, flat=True)),
    "MultiInputPolicy": ("MultiInputPolicy", lambda: gymnasium.make(ID)),
    "CardPolicy": (CardPolicy, lambda: gymnasium.make(ID)),
    "CardPolicy, flat=True": (CardPolicy, lambda: gymnasium.make(ID, flat=True)),
}


@pytest.mark.parametrize("face", FACES)
def test_model_trained_with_gymnasium_make_is_a_bot(face, tmp_path):
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
def test_card_policy_predicts_on_flat_and_dict_observations(flat):
    model = MaskablePPO(CardPolicy, gymnasium.make(ID, flat=flat), policy_kwargs={"net_arch": [8]}, seed=1)
    observation, info = gymnasium.make(ID).reset(seed=4)
    mask = info["action_mask"]
    alone, _ = model.predict(observation["observation"], action_masks=mask, deterministic=True)
    in_dict, _ = model.predict(observation, action_masks=mask, deterministic=True)
    assert alone == in_dict
    assert mask[int(alone)]


def test_new_card_policy_draws_and_passes_at_random():
    """Sure of an action from the start, it would explore little."""
    model = MaskablePPO(CardPolicy, GinRummyVecEnv(64), policy_kwargs={"net_arch": [64, 64]}, seed=1)
    with torch.no_grad():
        logits = model.policy.mlp_extractor.forward_actor(torch.as_tensor(model.env.reset()))[:, DRAW_STOCK:]
    assert logits.shape == (64, 3)
    assert (logits.amax(1) - logits.amin(1)).max() < 0.05
    with torch.no_grad():
        seen, layers = torch.as_tensor(model.env.reset()), model.policy.mlp_extractor
        before = model.policy.predict_values(seen)
        for weights in layers.trunk.parameters():
            weights.zero_()
        assert torch.equal(model.policy.predict_values(seen), before), "values have a trunk of their own"
        assert before.std() > 0


def test_policy_that_reads_candidate_entries_is_refused():
    model = MaskablePPO("MultiInputPolicy", GinRummyVecEnv(2, candidates=True), n_steps=8, batch_size=8)
    model.gin_env = model.env.describe_training()
    with pytest.raises(ValueError, match=r"reads .*candidate_rows.*write a bot"):
        save_policy(model, "never_written.safetensors")


# --- Renamed entries ------------------------------------------------------------------------------------


def test_renamed_entries_match_the_wrapped_environment():
    env = gymnasium.make(ID)
    renamed = rename_entries(gymnasium.make(ID), "obs", "mask", bool_mask=True)
    seen, told = env.reset(seed=5)
    other, told_too = renamed.reset(seed=5)
    for _ in range(20):
        assert set(other) == {"obs", "mask"}
        assert other["mask"].dtype == np.bool_
        assert (other["obs"] == seen["observation"]).all()
        assert (other["mask"] == seen["action_mask"]).all()
        assert (told["action_mask"] == told_too["action_mask"]).all()
        assert renamed.observation_space.contains(other)
        action = int(seen["action_mask"].argmax())
        seen, reward, over, _, told = env.step(action)
        other, reward_too, over_too, _, told_too = renamed.step(action)
        assert (reward, over) == (reward_too, over_too)
        if over:
            break


@pytest.mark.parametrize("bool_mask", [False, True])
def test_renamed_aec_environment_keeps_candidates_and_has_the_mask_type(bool_mask):
    env = rename_entries(gin_rummy_v0.raw_env(candidates=True), "observations", bool_mask=bool_mask)
    env.reset(seed=2)
    seen = env.last()[0]
    assert set(seen) == {"observations", "action_mask", *ENTRIES}
    assert seen["action_mask"].dtype == (np.bool_ if bool_mask else np.int8)
    assert env.observation_space("player_0").contains(seen)
    assert (seen["observations"] == env.unwrapped.observe(env.agent_selection)["observation"]).all()


@pytest.mark.filterwarnings("ignore:.*is different from the unwrapped version:UserWarning")
@pytest.mark.filterwarnings("ignore:.*Casting input x to numpy array:UserWarning")
def test_renamed_environments_pass_the_api_checks():
    single = rename_entries(gymnasium.make(ID, illegal_action="lose"), "obs", "mask", bool_mask=True)
    check_env(single, skip_render_check=True)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # it does not expect a dict
        api_test(rename_entries(gin_rummy_v0.env()), num_cycles=50)


@pytest.mark.parametrize(
    ("make", "names", "error", "message"),
    [
        (lambda: gymnasium.make(ID, flat=True), {}, ValueError, "make the environment without flat=True"),
        (lambda: gymnasium.make(ID), {"observation": "action_mask"}, ValueError, "need different names"),
        (lambda: gymnasium.make(ID), {"bool_mask": 1}, TypeError, "bool_mask"),
        (
            lambda: gymnasium.make(ID, candidates=True),
            {"observation": ENTRIES[0]},
            ValueError,
            "choose another",
        ),
        (lambda: gymnasium.make_vec(ID), {}, TypeError, "takes an environment of Gymnasium or an AECEnv"),
    ],
)
def test_invalid_renames_raise(make, names, error, message):
    with pytest.raises(error, match=message):
        rename_entries(make(), **names)


def test_environment_id_with_module_imports_the_package():
    """Worker processes need this form of the id because they have not imported gin_env."""
    assert gymnasium.make("gin_env:gin_env/GinRummy-v0").spec.id == ID


# --- Scripts --------------------------------------------------------------------------------------------

NEEDS = {
    "cleanrl": "torch",
    "dqn": "torch",
    "sb3": "sb3_contrib",
    "rllib_ppo": "ray",
    "rllib_league": "ray",
    "torchrl_ppo": "torchrl",
    "tianshou_ppo": "tianshou",
    "agilerl_ppo": "agilerl",
    "openspiel_deep_cfr": "tree",  # dm-tree
    "openspiel_dqn": "tree",
    "openspiel_bots": "pyspiel",
    "jax_ppo": "jax",
}
LINE = (
    r"\S+ \S+: [\d,]+ steps, [\d,]+ steps/s, masked actions chosen: 0, "
    r"return against .+ before [+-]\d\.\d+, after [+-]\d\.\d+\n"
)


UNCHANGED = SCRIPTS.parents[1] / "benchmarks" / "unchanged.py"
PAGE = SCRIPTS.parents[1] / "docs" / "frameworks.md"


def test_page_lists_what_works_as_it_is_checked():
    """`make compatibility` runs each function and writes its docstring into the page."""
    functions = [
        node
        for node in ast.parse(UNCHANGED.read_text()).body
        if isinstance(node, ast.FunctionDef) and node.decorator_list
    ]
    rows = re.findall(r"^\| (\S+) \S+ \| (.*) \| (.*) \|$", PAGE.read_text(), re.MULTILINE)
    listed = {(package, f"{what} | {needs}") for package, what, needs in rows}
    checked = {(each.decorator_list[0].args[0].value, ast.get_docstring(each)) for each in functions}
    assert len(checked) > 10
    assert checked <= listed


@pytest.mark.long
@pytest.mark.parametrize("package", ["gymnasium", "pettingzoo", "stable-baselines3"])
def test_wrappers_and_tests_of_other_libraries_work(package, monkeypatch, capsys):
    monkeypatch.setattr(sys, "argv", [UNCHANGED.name, package])
    monkeypatch.syspath_prepend(UNCHANGED.parent)  # as for a script
    runpy.run_path(str(UNCHANGED), run_name="__main__")
    assert capsys.readouterr().out.count(f"| {package} ") > 1


def test_every_script_is_short_and_tested():
    files = {file.stem: file for file in SCRIPTS.glob("*.py")}
    assert set(files) == {*NEEDS, "measure"}
    for name in NEEDS:
        assert len(files[name].read_text().splitlines()) <= 80, name


@pytest.mark.parametrize(
    "options",
    [
        ["cleanrl"],
        ["sb3", "--face", "vec"],
        ["sb3", "--face", "gym"],
        *[[name] for name in NEEDS if name not in ("cleanrl", "sb3")],
    ],
    ids=" ".join,
)
def test_script_learns_and_chooses_no_masked_action(options, monkeypatch, tmp_path, capsys):
    name, *options = options
    pytest.importorskip(
        NEEDS[name], reason=f"needs {NEEDS[name]}: make compatibility runs it in an environment of its own"
    )
    monkeypatch.syspath_prepend(SCRIPTS)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "argv", [f"{name}.py", *options, "--steps", "1", "--games", "20", "--seed", "3"])
    runpy.run_path(str(SCRIPTS / f"{name}.py"))
    assert re.search(LINE, capsys.readouterr().out)
