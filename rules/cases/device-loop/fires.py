import jax
import jax.numpy as jnp


def train(step, params, batches):
    for batch in batches:
        for d in jax.devices():  # expect: device-loop
            loss, params = step(jax.device_put(params, d), batch)
        params = jax.tree.map(jnp.mean, params)
