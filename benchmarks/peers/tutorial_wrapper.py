"""The wrapper of PettingZoo's tutorial "SB3: Action Masked PPO"."""

import gymnasium
import pettingzoo.utils


class SB3ActionMaskWrapper(pettingzoo.utils.BaseWrapper, gymnasium.Env):
    """As in the tutorial: an AEC game as a Gymnasium environment whose player changes with every step."""

    def reset(self, seed=None, options=None):
        """Return the observation of the first player, and no infos."""
        super().reset(seed, options)
        self.observation_space = super().observation_space(self.possible_agents[0])["observation"]
        self.action_space = super().action_space(self.possible_agents[0])
        return self.observe(self.agent_selection), {}

    def step(self, action):
        """Return the observation of the next player, and the reward and end of the one who acted."""
        current_agent = self.agent_selection
        super().step(action)
        next_agent = self.agent_selection
        return (
            self.observe(next_agent),
            self._cumulative_rewards[current_agent],
            self.terminations[current_agent],
            self.truncations[current_agent],
            self.infos[current_agent],
        )

    def observe(self, agent):
        """Return the observation without the mask."""
        return super().observe(agent)["observation"]

    def action_mask(self):
        """Return the legal actions of the player to move."""
        return super().observe(self.agent_selection)["action_mask"]
