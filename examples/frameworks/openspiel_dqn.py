"""OpenSpiel's DQN learns our game, `python_gin_env`, against OpenSpiel's random player."""

import numpy as np
import torch
from measure import Run
from open_spiel.python import rl_environment
from open_spiel.python.algorithms import random_agent
from open_spiel.python.pytorch import dqn

import gin_env.wrappers.openspiel  # noqa: F401 (registers the game)

run = Run("open_spiel", opponent="random")
torch.set_num_threads(1)
env = rl_environment.Environment("python_gin_env")
env.seed(run.seed)
np.random.seed(run.seed)  # noqa: NPY002 (OpenSpiel's players draw from it)
size, actions = env.game.information_state_tensor_size(), env.game.num_distinct_actions()
learner = dqn.DQN(
    0,
    size,
    actions,
    hidden_layers_sizes=[128],
    replay_buffer_capacity=50_000,
    batch_size=64,
    learning_rate=1e-3,
    optimizer_str=dqn.Optimiser.ADAM,
    discount_factor=0.97,
    learn_every=4,
    epsilon_decay_duration=5_000,
    seed=run.seed,
)
opponent = random_agent.RandomAgent(1, actions)


def choose(observations, masks):
    with torch.no_grad():
        values = learner._q_network(torch.from_numpy(observations))
    return values.masked_fill(~torch.from_numpy(masks), -torch.inf).argmax(1)


run.begin(choose)
while not run.over():
    now = env.reset()
    while not now.last():
        player = now.observations["current_player"]
        action = (learner, opponent)[player].step(now).action
        mask = np.zeros(actions)
        mask[now.observations["legal_actions"][player]] = 1
        run.count(mask, action)
        now = env.step([action])
    learner.step(now)  # shows it how the hand ended
run.finish()
