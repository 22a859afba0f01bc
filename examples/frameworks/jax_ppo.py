"""JAX: masked PPO compiled as one program, which steps the games of `make_vec` by `io_callback`."""

import gymnasium
import jax
import jax.numpy as jnp
import numpy as np
from jax.experimental import io_callback
from measure import Run

from gin_env.observations.observation import OBSERVATION_SIZE as SIZE

jax.config.update("jax_cpu_enable_async_dispatch", False)  # else a callback on a CPU may wait for itself
GAMES, STEPS, EPOCHS, RATE, DISCOUNT, LAMBDA = 256, 32, 8, 1e-3, 0.99, 0.95
run = Run("jax", opponent="simple")
env = gymnasium.make_vec("gin_env/GinRummy-v0", num_envs=GAMES, opponent="simple")
shape = jax.ShapeDtypeStruct  # of what env.step returns
SEEN = {"observation": shape((GAMES, SIZE), jnp.float32), "action_mask": shape((GAMES, 107), jnp.int8)}
STEPPED = SEEN, shape((GAMES,), jnp.float32), shape((GAMES,), jnp.bool_)


@jax.jit
def network(weights, seen):
    results = jnp.tanh(jnp.tanh(seen["observation"] @ weights["first"]) @ weights["second"]) @ weights["last"]
    return jax.nn.log_softmax(jnp.where(seen["action_mask"] > 0, results[..., :107], -1e8)), results[..., 107]


def one_step(carried, key):
    weights, seen = carried
    chances, value = network(weights, seen)
    actions = jax.random.categorical(key, chances)
    after, *won = io_callback(lambda a: env.step(np.array(a))[:3], STEPPED, actions, ordered=True)
    return (weights, after), (seen, actions, chances[jnp.arange(GAMES), actions], value, *won)


def one_step_back(carried, played):
    (advantage, following), (*_, value, reward, over) = carried, played
    advantage = reward - value + DISCOUNT * ~over * (following + LAMBDA * advantage)
    return (advantage, value), advantage


def loss(weights, played, gains):
    seen, actions, before, old_values, *_ = played
    chances, values = network(weights, seen)
    ratio = jnp.exp(jnp.take_along_axis(chances, actions[..., None], -1)[..., 0] - before)
    scaled = (gains - gains.mean()) / (gains.std() + 1e-8)
    gained = jnp.minimum(ratio * scaled, jnp.clip(ratio, 0.8, 1.2) * scaled)
    return (jnp.square(values - gains - old_values) - gained).mean()


@jax.jit
def play(weights, squares, seen, key):
    (_, seen), played = jax.lax.scan(one_step, (weights, seen), jax.random.split(key, STEPS))
    end = jnp.zeros(GAMES), network(weights, seen)[1]
    gains = jax.lax.scan(one_step_back, end, played, reverse=True)[1]

    def learn(_, carried):  # RMSprop, which needs no other library
        weights, squares = carried
        slope = jax.grad(loss)(weights, played, gains)
        squares = jax.tree.map(lambda s, g: 0.99 * s + 0.01 * g**2, squares, slope)
        return jax.tree.map(lambda w, g, s: w - RATE * g / (s**0.5 + 1e-5), weights, slope, squares), squares

    weights, squares = jax.lax.fori_loop(0, EPOCHS, learn, (weights, squares))
    return weights, squares, seen, played[0]["action_mask"], played[1]


def choose(vectors, masks):  # of one shape, since each shape is compiled separately
    rows = {"observation": np.resize(vectors, (2048, SIZE)), "action_mask": np.resize(masks, (2048, 107))}
    return np.asarray(network(weights, rows)[0])[: len(masks)].argmax(1)


key, *keys = jax.random.split(jax.random.key(run.seed), 4)
sizes = zip(("first", "second", "last"), keys, ((SIZE, 128), (128, 128), (128, 108)), strict=True)
weights = {name: jax.random.normal(one, size) / size[0] ** 0.5 for name, one, size in sizes}
squares = jax.tree.map(jnp.zeros_like, weights)
run.begin(choose)
seen, _ = env.reset(seed=run.seed)
while not run.over():
    weights, squares, seen, masks, actions = play(weights, squares, seen, jax.random.fold_in(key, run.steps))
    run.count(masks, actions)
run.finish()
