"""RLlib (new API stack): self-play of one learning module against a league of frozen copies of itself.

The module scores candidates, which learns from far fewer games than an output for each action. On a cluster:
see `rllib_ppo.py`.
"""

import ray
from measure import Run
from ray.rllib.algorithms.ppo import PPOConfig
from ray.rllib.callbacks.callbacks import RLlibCallback
from ray.rllib.core.columns import Columns
from ray.rllib.core.rl_module.apis import ValueFunctionAPI
from ray.rllib.core.rl_module.multi_rl_module import MultiRLModuleSpec
from ray.rllib.core.rl_module.rl_module import RLModuleSpec
from ray.rllib.core.rl_module.torch import TorchRLModule
from ray.rllib.env.wrappers.pettingzoo_env import PettingZooEnv
from ray.tune.registry import register_env

from gin_env import gin_rummy_v0
from gin_env.agents.policies.candidate_network import CandidateScorer
from gin_env.agents.policies.candidate_policy import CandidatePolicyBot
from gin_env.observations.candidates import ENTRIES

run = Run("ray", opponent="random", address="local", runners=0, freeze=5)
LEAGUE = [f"frozen_{number}" for number in range(4)]  # the newest takes the place of the oldest


def who_plays(agent, episode, **_):
    number = int(episode.id_[:8], 16)
    return "main" if agent == f"player_{number % 2}" else LEAGUE[number // 2 % len(LEAGUE)]


class Candidates(TorchRLModule, ValueFunctionAPI):
    """Logits that the network has already masked, because only legal actions are candidates."""

    def setup(self):
        self.network = CandidateScorer(hidden=64)

    def _forward(self, batch, **_):
        logits, _ = self.network.action_logits(*(batch[Columns.OBS][name] for name in ENTRIES))
        return {Columns.ACTION_DIST_INPUTS: logits}

    def compute_values(self, batch, embeddings=None):
        return self.network.action_logits(*(batch[Columns.OBS][name] for name in ENTRIES))[1]


class Count(RLlibCallback):
    def on_sample_end(self, *, samples, metrics_logger, **_):
        masked = 0
        for episode in (one for both in samples for one in both.agent_episodes.values()):
            for step in range(len(episode)):
                mask = episode.get_observations(step)["action_mask"]
                masked += int(mask[episode.get_actions(step)] == 0)
        metrics_logger.log_value("masked_actions", masked, reduce="lifetime_sum")


register_env("gin_rummy", lambda settings: PettingZooEnv(gin_rummy_v0.raw_env(candidates=True, **settings)))
ray.init(address=run.options.address, include_dashboard=False, log_to_driver=False)
modules = {name: RLModuleSpec(module_class=Candidates) for name in ("main", *LEAGUE)}
config = (
    PPOConfig()
    .environment("gin_rummy", disable_env_checking=True)  # the check ignores masks
    .callbacks(Count)
    .env_runners(num_env_runners=run.options.runners, num_envs_per_env_runner=16)
    .multi_agent(policies=set(modules), policy_mapping_fn=who_plays, policies_to_train=["main"])
    .rl_module(rl_module_spec=MultiRLModuleSpec(rl_module_specs=modules))
    .training(train_batch_size_per_learner=1024, minibatch_size=128, num_epochs=4, lr=1e-3)
    .debugging(seed=run.seed)
)
algorithm = config.build_algo()
run.begin(act=lambda view: CandidatePolicyBot(algorithm.get_module("main").network, episode="hand").act(view))
while not run.over():
    metrics = algorithm.train()["env_runners"]
    run.steps, run.masked = int(metrics["num_env_steps_sampled_lifetime"]), int(metrics["masked_actions"])
    times, remainder = divmod(algorithm.iteration, run.options.freeze)
    if remainder == 0:
        learners, name = algorithm.learner_group, LEAGUE[times % len(LEAGUE)]
        learners.set_weights({name: learners.get_weights(["main"])["main"]})
        algorithm.env_runner_group.sync_weights(policies=[name], from_worker_or_learner_group=learners)
run.finish()
