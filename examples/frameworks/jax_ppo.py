"""JAX: masked PPO compiled as one program, which steps the games of `make_vec` by `io_callback`."""

import gymnasium
import jax
import jax.numpy as jnp
import numpy as np
from jax.experimental import io_callback
from measure import Run

import gin_env  # noqa: F401 (registers the id)

jax.config.update("jax_cpu_enable_async_dispatch", False)  # else a callback on a CPU may wait for itself
GAMES, STEPS, EPOCHS, DISCOUNT, LAMBDA = 256, 32, 8, 0.99, 0.95

run = Run("jax", opponent="simple")
env = gymnasium.make_vec("gin_env/GinRummy-v0", num_envs=GAMES, opponent="simple")
SEEN = {
    "observation": jax.ShapeDtypeStruct((GAMES, 532), jnp.float32),
    "action_mask": jax.ShapeDtypeStruct((GAMES, 107), jnp.int8),
}
NUMBERS, SWITCHES = (jax.ShapeDtypeStruct((GAMES,), kind) for kind in (jnp.float32, jnp.bool_))


def step(actions):
    seen, rewards, terminated, truncated, _ = env.step(np.asarray(actions))
    return seen, rewards, terminated | truncated


def network(weights, seen):
    """The logarithms of the chances of all actions, and the value."""
    hidden = seen["observation"]
    for layer in ("first", "second"):
        hidden = jnp.tanh(hidden @ weights[layer])
    results = hidden @ weights["last"]
    return jax.nn.log_softmax(jnp.where(seen["action_mask"] > 0, results[..., :107], -1e8)), results[..., 107]


def one_step(carried, key):
    weights, seen = carried
    chances, value = network(weights, seen)
    actions = jax.random.categorical(key, chances)
    following, rewards, over = io_callback(step, (SEEN, NUMBERS, SWITCHES), actions, ordered=True)
    before = jnp.take_along_axis(chances, actions[:, None], 1)[:, 0]
    return (weights, following), (seen, actions, before, value, rewards, over)


def one_step_back(carried, played):
    advantage, following = carried
    *_, value, reward, over = played
    advantage = reward - value + DISCOUNT * ~over * (following + LAMBDA * advantage)
    return (advantage, value), advantage


def loss(weights, played, gains):
    seen, actions, before, old_values, *_ = played
    chances, values = network(weights, seen)
    ratio = jnp.exp(jnp.take_along_axis(chances, actions[..., None], -1)[..., 0] - before)
    scaled = (gains - gains.mean()) / (gains.std() + 1e-8)
    gained = jnp.minimum(ratio * scaled, jnp.clip(ratio, 0.8, 1.2) * scaled).mean()
    return jnp.square(values - gains - old_values).mean() - gained


@jax.jit
def play_and_learn(weights, moments, seen, key):
    (_, seen), played = jax.lax.scan(one_step, (weights, seen), jax.random.split(key, STEPS))
    start = jnp.zeros(GAMES), network(weights, seen)[1]
    _, gains = jax.lax.scan(one_step_back, start, played, reverse=True)
    for _ in range(EPOCHS):  # Adam without its correction of the first steps
        slope = jax.grad(loss)(weights, played, gains)
        moments = (
            jax.tree.map(lambda m, g: 0.9 * m + 0.1 * g, moments[0], slope),
            jax.tree.map(lambda v, g: 0.999 * v + 0.001 * g**2, moments[1], slope),
        )
        weights = jax.tree.map(lambda w, m, v: w - 1e-3 * m / (v**0.5 + 1e-5), weights, *moments)
    return weights, moments, seen, played[0]["action_mask"], played[1]


def choose(observations, masks):
    return network(weights, {"observation": observations, "action_mask": masks})[0].argmax(1)


keys = jax.random.split(jax.random.key(run.seed), 4)
sizes = {"first": (532, 128), "second": (128, 128), "last": (128, 108)}
weights = {
    name: jax.random.normal(key, size) / size[0] ** 0.5
    for key, (name, size) in zip(keys, sizes.items(), strict=False)
}
moments = (jax.tree.map(jnp.zeros_like, weights),) * 2
run.begin(choose)
seen, _ = env.reset(seed=run.seed)
while not run.over():
    key, now = jax.random.split(key)
    weights, moments, seen, masks, actions = play_and_learn(weights, moments, seen, now)
    run.count(np.asarray(masks).reshape(-1, 107), actions)
run.finish()
