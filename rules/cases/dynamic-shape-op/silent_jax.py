import jax
import jax.numpy as jnp
import optax


@jax.jit
def train_step(params, opt_state, x):
    grads = jax.grad(lambda p: jnp.mean((x @ p) ** 2))(params)
    updates, opt_state = optax.adam(1e-3).update(grads, opt_state)
    bad = jnp.argwhere(jnp.isnan(params), size=4)
    return optax.apply_updates(params, updates), opt_state, bad


def train(params, opt_state, batches):
    for x in batches:
        params, opt_state, bad = train_step(params, opt_state, x)
    return params, jnp.unique(bad)
