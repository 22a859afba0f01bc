"""RLlib (new API stack): masked PPO from one seat, on this machine or on a cluster.

On a cluster: `ray start --head` here, `ray start --address=HOST:6379` on the other machines, where the same
packages are installed, and then this script with `--address auto --runners 16`.
"""

import ray
import torch
from measure import Run
from ray.rllib.algorithms.ppo import PPOConfig
from ray.rllib.callbacks.callbacks import RLlibCallback
from ray.rllib.core.rl_module.rl_module import RLModuleSpec
from ray.rllib.examples.rl_modules.classes.action_masking_rlm import ActionMaskingTorchRLModule
from ray.tune.registry import register_env

run = Run("ray", opponent="simple", address="local", runners=0)


def make(settings):
    """Called in each worker process, which knows the id only if it imports gin_env: hence ``gin_env:``."""
    import gymnasium

    from gin_env.wrappers import rename_entries

    env = gymnasium.make("gin_env:gin_env/GinRummy-v0", **settings)
    return rename_entries(env, observation="observations")


class Count(RLlibCallback):
    """Counts decisions where they are made, and those that the mask forbade."""

    def on_sample_end(self, *, samples, metrics_logger, **_):
        masked = 0
        for episode in samples:
            for step in range(len(episode)):
                mask = episode.get_observations(step)["action_mask"]
                masked += int(mask[episode.get_actions(step)] == 0)
        metrics_logger.log_value("masked_actions", masked, reduce="lifetime_sum")


register_env("gin_rummy", make)
ray.init(address=run.options.address, include_dashboard=False, log_to_driver=False)
config = (
    PPOConfig()
    .environment("gin_rummy", env_config={"opponent": "simple"})
    .callbacks(Count)
    .env_runners(num_env_runners=run.options.runners, num_envs_per_env_runner=16)
    .rl_module(
        rl_module_spec=RLModuleSpec(
            module_class=ActionMaskingTorchRLModule,
            model_config={"head_fcnet_hiddens": [128, 128], "head_fcnet_activation": "tanh"},
        )
    )
    .training(
        train_batch_size_per_learner=2048, minibatch_size=256, num_epochs=4, lr=5e-4, entropy_coeff=0.01
    )
    .debugging(seed=run.seed)
)
algorithm = config.build_algo()


def choose(observations, masks):
    batch = {"observations": torch.from_numpy(observations), "action_mask": torch.from_numpy(masks).float()}
    with torch.no_grad():
        return algorithm.get_module().forward_inference({"obs": batch})["action_dist_inputs"].argmax(1)


run.begin(choose)
while not run.over():
    metrics = algorithm.train()["env_runners"]
    run.steps = int(metrics["num_env_steps_sampled_lifetime"])
    run.masked = int(metrics["masked_actions"])
run.finish()
algorithm.stop()
ray.shutdown()
