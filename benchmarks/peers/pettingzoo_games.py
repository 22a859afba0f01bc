"""The last PettingZoo that had gin_rummy (1.26): RLCard's game behind PettingZoo's AEC interface.

The loops are those of `benchmarks/workloads.py`, word for word. With torch and sb3-contrib installed also
MaskablePPO through the wrapper of PettingZoo's own tutorial: one stream in which the seats alternate.
"""

import importlib.util
import random

from worker import bytes_each, main


def load():
    """See `worker`."""
    from pettingzoo.classic import gin_rummy_v4

    uniform = random.Random(0).random

    def choose(mask):
        legal = mask.nonzero()[0]
        return legal[int(uniform() * len(legal))]

    def aec_last(make):
        env = make()

        def work(rounds):
            steps = 0
            for number in range(rounds):
                env.reset(seed=number)
                for _ in env.agent_iter():
                    observation, _, termination, truncation, _ = env.last()
                    if termination or truncation:
                        env.step(None)
                        continue
                    env.step(choose(observation["action_mask"]))
                    steps += 1
            return {"steps": steps}

        return work

    def aec_observe(make):
        env = make()
        env.reset(seed=0)

        def work(rounds):
            for _ in range(20 * rounds):
                if env.terminations[env.agent_selection]:
                    env.reset()
                env.step(choose(env.observe(env.agent_selection)["action_mask"]))
            return {"steps": 20 * rounds}

        return work

    class OneSeat:
        """One seat against a random opponent, from the AEC game: the usual adapter."""

        def __init__(self):
            self.env = gin_rummy_v4.raw_env()

        def observe(self):
            """Let the opponent move; (observation, over)."""
            env = self.env
            while True:
                over = any(env.terminations.values())
                if over or env.agent_selection == env.possible_agents[0]:
                    return env.observe(env.possible_agents[0]), over
                env.step(choose(env.observe(env.agent_selection)["action_mask"]))

        def reset(self):
            self.env.reset()
            return self.observe()

        def step(self, action):
            self.env.step(action)
            return self.observe()

    def single():
        env = OneSeat()
        observation, over = env.reset()

        def work(rounds):
            nonlocal observation, over
            for _ in range(20 * rounds):
                while over:
                    observation, over = env.reset()
                observation, over = env.step(choose(observation["action_mask"]))
            return {"steps": 20 * rounds}

        return work

    def training():
        return train_masked_ppo(gin_rummy_v4)

    def memory():
        def half_played(index):
            env = gin_rummy_v4.env()
            env.reset(seed=index)
            for _ in range(20):
                if any(env.terminations.values()):
                    break
                env.step(choose(env.observe(env.agent_selection)["action_mask"]))
            return env

        return {"bytes": bytes_each(half_played, 500)}

    rates = {
        "aec": lambda: aec_last(gin_rummy_v4.env),
        "aec_observe": lambda: aec_observe(gin_rummy_v4.env),
        "aec_raw": lambda: aec_last(gin_rummy_v4.raw_env),
        "aec_raw_observe": lambda: aec_observe(gin_rummy_v4.raw_env),
        "single": single,
    }
    if importlib.util.find_spec("sb3_contrib"):
        rates["training"] = training
    return rates, {"memory": memory}


def train_masked_ppo(gin_rummy_v4):
    """Train MaskablePPO with PettingZoo's tutorial wrapper (SB3/connect_four); a round is 512 steps.

    The tutorial trains on one environment in a DummyVecEnv; net, batch size and epochs are those of our side.
    """
    import torch
    from sb3_contrib import MaskablePPO
    from sb3_contrib.common.wrappers import ActionMasker
    from tutorial_wrapper import SB3ActionMaskWrapper

    torch.set_num_threads(1)

    env = SB3ActionMaskWrapper(gin_rummy_v4.env())
    env.reset(seed=1)
    model = MaskablePPO(
        "MlpPolicy",
        ActionMasker(env, lambda env: env.action_mask()),
        n_steps=512,
        batch_size=256,
        n_epochs=4,
        policy_kwargs={"net_arch": [64, 64]},
        device="cpu",
        seed=1,
    )

    def work(rounds):
        model.learn(rounds * 512)
        return {"steps": rounds * 512}

    return work


if __name__ == "__main__":
    main(load)
