"""pgx's card games: not Gin Rummy, but what "fast" means for batched card games (JAX, here on one core).

Random legal play of the whole batch inside one compiled loop, mask and observation computed by each step,
ended games restarted; nothing goes through Python. Small games: six cards in Leduc, three in Kuhn poker.
"""

from worker import main

STEPS = 50
"""Steps of the whole batch in one compiled call."""


def load():
    """See `worker`."""
    import jax
    import jax.numpy as jnp
    import pgx
    from pgx.experimental import auto_reset

    def batched(game, num_games):
        env = pgx.make(game)
        step = jax.vmap(auto_reset(env.step, env.init))

        def one_step(carry, key):
            state, observed = carry
            choose_key, step_key = jax.random.split(key)
            logits = jnp.where(state.legal_action_mask, 0.0, -jnp.inf)
            actions = jax.random.categorical(choose_key, logits)
            state = step(state, actions, jax.random.split(step_key, num_games))
            # the observations are used, so that they are computed
            return (state, observed + state.observation.sum()), state.terminated.sum()

        @jax.jit
        def run(state, key):
            return jax.lax.scan(one_step, (state, jnp.float32(0)), jax.random.split(key, STEPS))

        state = jax.jit(jax.vmap(env.init))(jax.random.split(jax.random.PRNGKey(0), num_games))
        key = jax.random.PRNGKey(1)

        def work(rounds):
            nonlocal state, key
            hands = 0
            for _ in range(rounds):
                key, mine = jax.random.split(key)
                (state, observed), ended = run(state, mine)
                hands += int(ended.sum())
                observed.block_until_ready()
            return {"decisions": rounds * STEPS * num_games, "hands": hands}

        return work

    rates = {
        f"{game}_{num_games}": lambda game=game, num_games=num_games: batched(game, num_games)
        for game in ("leduc_holdem", "kuhn_poker")
        for num_games in (1024, 16384)
    }
    return rates, {}


if __name__ == "__main__":
    main(load)
