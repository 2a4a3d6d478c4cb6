import jax
import jax.numpy as jnp
import optax


def train(step, params, opt_state, batches):
    for batch in batches:
        params, opt_state, loss = step(params, opt_state, batch)
        loss.block_until_ready()  # expect: jax-block-in-loop
        params = optax.apply_updates(params, opt_state)


def learner(agent, replay):
    for i in range(1000):
        batch = next(replay)
        agent, info = agent.update(batch)
        agent = jax.block_until_ready(agent)  # expect: jax-block-in-loop


def fit(update, state, data):
    for x in data:
        state, metrics = update(state, x)
        jax.block_until_ready((state, metrics))  # expect: jax-block-in-loop
    return state
