import jax
import jax.numpy as jnp
import optax

tx = optax.adam(1e-3)


def loss_fn(params, batch):
    return jnp.mean((batch @ params) ** 2)


@jax.jit
def train_step(params, opt_state, batch):
    grads = jax.grad(loss_fn)(params, batch)
    updates, new_state = tx.update(grads, opt_state)
    params = optax.apply_updates(params, updates)
    return params, new_state


def train(params, opt_state, mean, batches):
    for step, batch in enumerate(batches):
        params, opt_state = train_step(params, opt_state, batch)
        if step % 100 == 0:
            mean = optax.incremental_update(params, mean, 0.01)
    return mean


def build():
    @jax.jit
    def step(params, updates):
        params = optax.apply_updates(params, updates)
        return params

    return step
