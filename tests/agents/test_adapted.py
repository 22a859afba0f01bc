"""Agents of other libraries as bots: functions, networks, models and objects without a name."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from sb3_contrib import MaskablePPO

from gin_env import agents, play_match
from gin_env.game.actions import NUM_ACTIONS
from gin_env.matches.fixed_positions import fixed_views
from gin_env.observations.observation import OBSERVATION_SIZE
from gin_env.wrappers.candidate_policy import SB3CandidatePolicy
from gin_env.wrappers.sb3 import GinRummyVecEnv


def highest(observation: np.ndarray, mask: np.ndarray) -> int:
    assert observation.shape == (OBSERVATION_SIZE,)
    assert observation.dtype == np.float32
    return int(mask.nonzero()[0][-1])


class Nameless:
    def act(self, view):
        return view.masks().argmax(axis=1)


def test_function_plays_under_its_name():
    bot = agents.resolve(highest)
    view = fixed_views(2)
    masks = view.masks()
    assert bot.name == "highest"
    assert np.array_equal(bot.act(view), NUM_ACTIONS - 1 - masks[:, ::-1].argmax(axis=1))
    result = play_match(highest, "simple", 4, seed=1, episode="hand")
    assert result.bots == ("highest", "simple")


def test_object_without_a_name_has_that_of_its_class():
    result = play_match(Nameless(), "simple", 4, seed=1, episode="hand")
    assert result.bots == ("Nameless", "simple")


def test_network_says_what_it_reads():
    network = torch.nn.Linear(OBSERVATION_SIZE, NUM_ACTIONS)
    with pytest.raises(ValueError, match=r"network\.gin_env = env\.unwrapped\.describe_training\(\)"):
        agents.resolve(network)
    network.gin_env = GinRummyVecEnv(1).describe_training()
    view = fixed_views(2)
    assert agents.resolve(network).name == "Linear"
    network.name = "mine"
    assert agents.resolve(network).name == "mine"
    network.name = 7
    assert agents.resolve(network).name == "Linear", "a number is not a name"
    assert not view.array["public"]["scores"].any(), "it reads none: it was trained on single hands"
    with torch.no_grad():
        logits = network(torch.from_numpy(view.observations())).numpy()
    assert np.array_equal(
        agents.resolve(network).act(view), np.where(view.masks() == 1, logits, -np.inf).argmax(axis=1)
    )


@pytest.mark.parametrize(
    ("candidates", "policy", "settings"),
    [(False, "MlpPolicy", {"net_arch": [8]}), (True, SB3CandidatePolicy, {"hidden": 8})],
)
def test_model_in_memory_plays_its_most_probable_actions(candidates, policy, settings):
    env = GinRummyVecEnv(4, "random", candidates=candidates)
    model = MaskablePPO(policy, env, policy_kwargs=settings, device="cpu", seed=1)
    observation = env.reset()
    expected, _ = model.predict(observation, action_masks=env.action_masks(), deterministic=True)
    games = env.seat.games
    assert np.array_equal(agents.resolve(model).act(games.views(games.everyone)), expected)
    assert agents.resolve(model).name == "MaskablePPO"


@pytest.mark.parametrize("thing", [42, None, object(), Nameless, dict])
def test_other_things_are_not_bots(thing):
    with pytest.raises(TypeError, match="a bot must be a name, an object with"):
        agents.resolve(thing)


def test_policies_of_openspiel_play_what_they_would_play_in_its_game():
    policy = pytest.importorskip("open_spiel.python.policy")
    game = pytest.importorskip("gin_env.wrappers.openspiel").GinRummyGame()
    asked = []

    class Tensors(policy.Policy):
        def action_probabilities(self, state, player_id=None):
            tensor, text = state.information_state_tensor(player_id), state.information_state_string()
            asked.append((player_id, tensor, text))
            return {state.legal_actions(player_id)[-1]: 0.25, state.legal_actions(player_id)[0]: 0.75}

    state = game.new_initial_state()
    state.apply_action(5)
    bot = agents.resolve(Tensors(game, [0, 1]))
    view = state.games.views(state.games.everyone)
    actions = bot.act(view)
    player = state.current_player()
    tensor, text = state.information_state_tensor(player), state.information_state_string(player)
    assert asked == [(player, pytest.approx(tensor), text)]
    assert actions[0] in (state.legal_actions()[0], state.legal_actions()[-1])
    assert play_match(bot, "simple", 4, seed=1, episode="hand").bots == ("Tensors", "simple")


def test_probabilities_of_openspiel_are_followed():
    asked = []

    class Split:
        def action_probabilities(self, state, player_id=None):
            asked.append((state.current_player(), player_id, state.information_state_string()))
            legal = state.legal_actions()
            return {legal[0]: 0.25, legal[-1]: 0.75}

    view = fixed_views(4)
    several = view.masks().sum(axis=1) > 1
    chosen = agents.resolve(Split()).act(view)
    assert asked == [(player, player, str(view[i])) for i, player in enumerate(view.array["player"])]
    assert [agents.resolve(Split()).act(each)[0] for each in view] == chosen.tolist(), (
        "each by its own number"
    )
    last = chosen == NUM_ACTIONS - 1 - view.masks()[:, ::-1].argmax(axis=1)
    assert abs(last[several].mean() - 0.75) < 4 * (0.25 * 0.75 / several.sum()) ** 0.5
    assert last[~several].all()


def test_bots_of_openspiel_step():
    pyspiel = pytest.importorskip("pyspiel")

    class Lowest(pyspiel.Bot):
        def step(self, state):
            assert not state.is_terminal()
            return state.legal_actions_mask().index(1)

    view = fixed_views(2)
    assert np.array_equal(agents.resolve(Lowest()).act(view), view.masks().argmax(axis=1))
