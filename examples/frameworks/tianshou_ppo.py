"""Tianshou: masked PPO from one seat; its batches want the entries ``obs`` and ``mask``, of bools."""

import gymnasium
import torch
from measure import Run
from tianshou.algorithm import PPO
from tianshou.algorithm.modelfree.reinforce import ProbabilisticActorPolicy
from tianshou.algorithm.optim import AdamOptimizerFactory
from tianshou.data import Collector, VectorReplayBuffer
from tianshou.env import DummyVectorEnv
from tianshou.trainer import OnPolicyTrainerParams
from torch import nn

from gin_env.observations.observation import OBSERVATION_SIZE as SIZE
from gin_env.wrappers import rename_entries

GAMES, STEPS = 32, 2048

run = Run("tianshou", opponent="simple")
torch.manual_seed(run.seed)


class Counted(gymnasium.Wrapper):
    """Counts decisions."""

    def step(self, action):
        run.count(self.env.unwrapped.action_masks(), action)
        return super().step(action)


def make():
    env = gymnasium.make("gin_env/GinRummy-v0", opponent="simple")
    return rename_entries(Counted(env), "obs", "mask", bool_mask=True)


class Masked(nn.Module):
    def __init__(self, outputs):
        super().__init__()
        self.outputs = outputs
        layers = nn.Linear(SIZE, 128), nn.Tanh(), nn.Linear(128, 128), nn.Tanh(), nn.Linear(128, outputs)
        self.layers = nn.Sequential(*layers)

    def forward(self, batch, state=None, info=None):
        values = self.layers(torch.as_tensor(batch.obs))
        return (
            values if self.outputs == 1 else (values.masked_fill(~torch.as_tensor(batch.mask), -1e8), state)
        )


def choose(vectors, masks):
    with torch.no_grad():
        logits = actor.layers(torch.from_numpy(vectors))
        return logits.masked_fill(~torch.from_numpy(masks), -torch.inf).argmax(1)


envs, actor = DummyVectorEnv([make for _ in range(GAMES)]), Masked(107)
settings = {"action_scaling": False, "action_bound_method": None, "action_space": envs.action_space[0]}
chances = lambda logits: torch.distributions.Categorical(logits=logits)  # noqa: E731
policy = ProbabilisticActorPolicy(actor=actor, dist_fn=chances, **settings)
algorithm = PPO(policy=policy, critic=Masked(1), optim=AdamOptimizerFactory(lr=1e-3), max_grad_norm=0.5)
collector = Collector(algorithm, envs, VectorReplayBuffer(2 * STEPS, GAMES))
trainer = algorithm.create_trainer(
    OnPolicyTrainerParams(
        training_collector=collector,
        verbose=False,
        epoch_num_steps=STEPS,
        collection_step_num_env_steps=STEPS,
        batch_size=256,
        update_step_num_repetitions=2,
        show_progress=False,
    )
)
run.begin(choose)
trainer.reset()
while not run.over():
    trainer.execute_epoch()
run.finish()
