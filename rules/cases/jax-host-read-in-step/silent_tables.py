import jax
import jax.numpy as jnp
import numpy as np
import optax


@jax.jit
def train_step(params, opt_state, batch):
    loss, grads = jax.value_and_grad(lambda p: jnp.mean((batch @ p) ** 2))(params)
    updates, opt_state = optax.adam(1e-3).update(grads, opt_state)
    return optax.apply_updates(params, updates), opt_state, loss


def train(params, opt_state, steps):
    table = np.random.rand(1000, 4)
    sizes = np.zeros(steps)
    rng = np.random.default_rng(0)
    for step in range(steps):
        rows = rng.integers(0, 1000, 32)
        batch = table[rows]  # both are NumPy's
        sizes[step] = batch.shape[0]
        params, opt_state, loss = train_step(params, opt_state, batch)
        if step % 100 == 0:
            sizes[step] = loss
    return params, sizes


def next_rows(data, generator, size):
    starts = generator.integers(0, len(data) - size, 32)
    return [data[i : i + size] for i in starts]


def pretrain(params, opt_state, data, generator, steps):
    for step in range(steps):
        params, opt_state, loss = train_step(params, opt_state, next_rows(data, generator, 64))
    return params
