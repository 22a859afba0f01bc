"""Double DQN: off-policy learning from a replay buffer, with masks and returns of several steps."""

import gymnasium
import numpy as np
import torch
from measure import Run
from torch import nn

import gin_env  # noqa: F401 (registers the id)
from gin_env.observations.observation import OBSERVATION_SIZE as SIZE

GAMES, STEPS, BATCH, UPDATES, AHEAD = 128, 1500, 256, 2, 6
"""Games, steps kept of each, decisions of an update, updates after each step, steps of a return."""
PARTS = [("seen", "f4", SIZE), ("mask", "?", 107), ("action", "i8"), ("reward", "f4"), ("over", "?")]

run = Run("torch", opponent="simple")
torch.manual_seed(run.seed)
torch.set_num_threads(1)
random = np.random.default_rng(run.seed)
games = gymnasium.make_vec("gin_env/GinRummy-v0", GAMES, opponent="simple")
kept = {name: np.zeros((STEPS, GAMES, *size), kind) for name, kind, *size in PARTS}


def layers():
    return nn.Sequential(nn.Linear(SIZE, 256), nn.ReLU(), nn.Linear(256, 256), nn.ReLU(), nn.Linear(256, 107))


online, target = layers(), layers()
target.load_state_dict(online.state_dict())
optimizer = torch.optim.Adam(online.parameters(), lr=5e-4)


def choose(vectors, masks):
    with torch.no_grad():
        values = online(torch.from_numpy(vectors))
    return values.masked_fill(~torch.from_numpy(masks), -torch.inf).argmax(1)


def learn(now):
    """Update both networks with decisions drawn from those whose next `AHEAD` steps are known."""
    at = now - AHEAD - random.integers(0, min(now - AHEAD, STEPS - AHEAD), BATCH)
    game, goals, running = random.integers(0, GAMES, BATCH), np.zeros(BATCH, "f4"), np.ones(BATCH, "?")
    for step in ((at + ahead) % STEPS for ahead in range(AHEAD)):
        goals += running * kept["reward"][step, game]
        running &= kept["over"][step, game] == 0
    first, last = at % STEPS, (at + AHEAD) % STEPS
    vectors = kept["seen"][last, game]
    best = choose(vectors, kept["mask"][last, game])[:, None]
    with torch.no_grad():
        future = target(torch.from_numpy(vectors)).gather(1, best)[:, 0] * torch.from_numpy(running)
    values = online(torch.from_numpy(kept["seen"][first, game]))
    values = values.gather(1, torch.from_numpy(kept["action"][first, game])[:, None])[:, 0]
    optimizer.zero_grad()
    nn.functional.smooth_l1_loss(values, torch.from_numpy(goals) + future).backward()
    optimizer.step()
    with torch.no_grad():
        for slow, quick in zip(target.parameters(), online.parameters(), strict=True):
            slow.lerp_(quick, 0.01)


run.begin(choose)
observed, now = games.reset(seed=run.seed)[0], 0
while not run.over():
    seen, mask = observed["observation"], observed["action_mask"].astype(bool)
    tries = (random.random(mask.shape) * mask).argmax(1)
    explores = random.random(GAMES) < max(0.05, 1 - now / 200)
    action = np.where(explores, tries, choose(seen, mask))
    run.count(mask, action)
    observed, reward, over, _, _ = games.step(action)
    for (name, *_), values in zip(PARTS, (seen, mask, action, reward, over), strict=True):
        kept[name][now % STEPS] = values
    now += 1
    for _ in range(UPDATES if now > 50 else 0):
        learn(now - 1)
run.finish()
