"""AgileRL: masked PPO over `gymnasium.make_vec` with ``flat=True``; it takes the masks from the infos."""

import gymnasium
import torch
from agilerl.algorithms import PPO
from agilerl.rollouts import collect_rollouts
from measure import Run

import gin_env  # noqa: F401 (registers the id)

GAMES, STEPS = 128, 64

run = Run("agilerl", opponent="simple")
torch.manual_seed(run.seed)
torch.set_num_threads(1)
env = gymnasium.make_vec("gin_env/GinRummy-v0", num_envs=GAMES, opponent="simple", flat=True)
env.reset(seed=run.seed)
agent = PPO(
    env.single_observation_space,
    env.single_action_space,
    net_config={
        "encoder_config": {"hidden_size": [128], "activation": "Tanh"},
        "head_config": {"hidden_size": [128], "activation": "Tanh"},
    },
    batch_size=1024,
    lr=1e-3,
    learn_step=GAMES * STEPS,
    update_epochs=2,
    num_envs=GAMES,
)


def choose(observations, masks):
    return agent.get_action(observations, action_mask=masks)[0]


class Counted(gymnasium.vector.VectorWrapper):
    """Counts decisions, and those that the mask forbade."""

    def step(self, actions):
        run.count(self.env.action_masks(), actions)
        return super().step(actions)


run.begin(choose)
env, now = Counted(env), {}
while not run.over():
    _, *last = collect_rollouts(agent, env, STEPS, **now)
    now = dict(zip(("last_obs", "last_done", "last_scores", "last_info"), last, strict=True))
    agent.learn()
run.finish()
