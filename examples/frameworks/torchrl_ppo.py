"""TorchRL: masked PPO over `gymnasium.make_vec`, ``autoreset_mode="Disabled"``: TorchRL resets the games."""

import gymnasium
import torch
from measure import Run
from tensordict.nn import TensorDictModule
from torch import nn
from torchrl.collectors import Collector
from torchrl.envs import DTypeCastTransform, GymWrapper, TransformedEnv
from torchrl.modules import MaskedCategorical, ProbabilisticActor, ValueOperator
from torchrl.objectives import ClipPPOLoss
from torchrl.objectives.value import GAE

import gin_env  # noqa: F401 (registers the id)

GAMES, FRAMES, EPOCHS, BATCHES = 128, 8192, 2, 8

run = Run("torchrl", opponent="simple")
torch.manual_seed(run.seed)
torch.set_num_threads(1)
games = gymnasium.make_vec("gin_env/GinRummy-v0", GAMES, opponent="simple", autoreset_mode="Disabled")
env = TransformedEnv(
    GymWrapper(games, categorical_action_encoding=True),
    DTypeCastTransform(torch.int8, torch.bool, in_keys=["action_mask"]),  # MaskedCategorical wants bools
)
env.set_seed(run.seed)


def layers(outputs):
    return nn.Sequential(
        nn.Linear(games.single_observation_space["observation"].shape[0], 128),
        nn.Tanh(),
        nn.Linear(128, 128),
        nn.Tanh(),
        nn.Linear(128, outputs),
    )


network = layers(107)
actor = ProbabilisticActor(
    TensorDictModule(network, in_keys=["observation"], out_keys=["logits"]),
    in_keys={"logits": "logits", "mask": "action_mask"},
    distribution_class=MaskedCategorical,
    return_log_prob=True,
    spec=env.action_spec,
)
critic = ValueOperator(layers(1), in_keys=["observation"])
advantage = GAE(gamma=0.99, lmbda=0.95, value_network=critic, average_gae=True)
loss_module = ClipPPOLoss(actor, critic, clip_epsilon=0.2, entropy_coeff=0.01)
optimizer = torch.optim.Adam(loss_module.parameters(), lr=1e-3)


def choose(observations, masks):
    with torch.no_grad():
        logits = network(torch.from_numpy(observations))
    return logits.masked_fill(~torch.from_numpy(masks), -torch.inf).argmax(1)


run.begin(choose)
collector = Collector(
    env, actor, frames_per_batch=FRAMES, total_frames=-1, auto_register_policy_transforms=True
)
for data in collector:
    run.count(data["action_mask"], data["action"])
    for _ in range(EPOCHS):
        with torch.no_grad():
            advantage(data)
        rows = data.reshape(-1)
        for indices in torch.randperm(FRAMES).chunk(BATCHES):
            losses = loss_module(rows[indices])
            loss = losses["loss_objective"] + losses["loss_critic"] + losses["loss_entropy"]
            optimizer.zero_grad()
            loss.backward()
            nn.utils.clip_grad_norm_(loss_module.parameters(), 0.5)
            optimizer.step()
    collector.update_policy_weights_()
    if run.over():
        break
collector.shutdown()
run.finish()
