"""CleanRL style: masked PPO in one loop over `gymnasium.make_vec`, nothing between you and the tensors."""

import gymnasium
import torch
from measure import Run
from torch import nn

import gin_env  # noqa: F401 (registers the id)

GAMES, STEPS, EPOCHS, BATCHES, DISCOUNT, LAMBDA, CLIP = 256, 32, 2, 8, 0.99, 0.95, 0.2

run = Run("torch", opponent="simple")
torch.manual_seed(run.seed)
torch.set_num_threads(1)
env = gymnasium.make_vec("gin_env/GinRummy-v0", num_envs=GAMES, opponent="simple")
size = env.single_observation_space["observation"].shape[0]
body = nn.Sequential(nn.Linear(size, 128), nn.Tanh(), nn.Linear(128, 128), nn.Tanh())
actor, critic = nn.Linear(128, 107), nn.Linear(128, 1)
nn.init.orthogonal_(actor.weight, 0.01)
parameters = [*body.parameters(), *actor.parameters(), *critic.parameters()]
optimizer = torch.optim.Adam(parameters, lr=1e-3, eps=1e-5)


def evaluate(observations, masks):
    """Return the distribution over the legal actions, and the values."""
    latent = body(torch.as_tensor(observations))
    logits = actor(latent).masked_fill(~torch.as_tensor(masks, dtype=torch.bool), -1e8)
    return torch.distributions.Categorical(logits=logits), critic(latent)[:, 0]


def choose(observations, masks):
    with torch.no_grad():
        return evaluate(observations, masks)[0].probs.argmax(1)


run.begin(choose)
seen, _ = env.reset(seed=run.seed)
while not run.over():
    kept, values, rewards, ends = [], [], [], []
    for _ in range(STEPS):
        with torch.no_grad():
            distribution, value = evaluate(seen["observation"], seen["action_mask"])
        action = distribution.sample()
        run.count(seen["action_mask"], action)
        kept.append((seen["observation"], seen["action_mask"], action, distribution.log_prob(action)))
        seen, reward, terminated, truncated, _ = env.step(action.numpy())
        values.append(value)
        rewards.append(torch.as_tensor(reward))
        ends.append(torch.as_tensor(terminated | truncated).float())
    with torch.no_grad():
        following = evaluate(seen["observation"], seen["action_mask"])[1]
    advantages, advantage = [], torch.zeros(GAMES)
    for reward, end, value in zip(rewards[::-1], ends[::-1], values[::-1], strict=True):
        surprise = reward + DISCOUNT * following * (1 - end) - value
        advantage = surprise + DISCOUNT * LAMBDA * (1 - end) * advantage
        advantages.insert(0, advantage)
        following = value
    columns = [torch.cat([torch.as_tensor(each) for each in column]) for column in zip(*kept, strict=True)]
    advantages = torch.cat(advantages)
    returns = advantages + torch.cat(values)
    for _ in range(EPOCHS):
        for rows in torch.randperm(GAMES * STEPS).chunk(BATCHES):
            observations, masks, actions, before = (column[rows] for column in columns)
            distribution, value = evaluate(observations, masks)
            gain = advantages[rows]
            gain = (gain - gain.mean()) / (gain.std() + 1e-8)
            ratio = (distribution.log_prob(actions) - before).exp()
            gained = torch.minimum(ratio * gain, ratio.clamp(1 - CLIP, 1 + CLIP) * gain).mean()
            loss = (value - returns[rows]).square().mean() - gained - 0.01 * distribution.entropy().mean()
            optimizer.zero_grad()
            loss.backward()
            nn.utils.clip_grad_norm_(parameters, 0.5)
            optimizer.step()
run.finish()
