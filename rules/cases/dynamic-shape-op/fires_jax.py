import jax
import jax.numpy as jnp
import optax


def train(params, opt_state, tx, batches):
    for x in batches:
        grads = jax.grad(lambda p: jnp.mean((x @ p) ** 2))(params)
        updates, opt_state = tx.update(grads, opt_state)
        params = optax.apply_updates(params, updates)
        bad = jnp.argwhere(jnp.isnan(params))  # expect: dynamic-shape-op
        kinds = jnp.unique(params)  # expect: dynamic-shape-op
    return params, bad, kinds
