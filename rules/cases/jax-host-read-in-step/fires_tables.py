import jax
import jax.numpy as jnp
import numpy as np
import optax


@jax.jit
def train_step(params, opt_state, batch):
    loss, grads = jax.value_and_grad(lambda p: jnp.mean((batch @ p) ** 2))(params)
    updates, opt_state = optax.adam(1e-3).update(grads, opt_state)
    return optax.apply_updates(params, updates), opt_state, loss


def train(params, opt_state, key, steps):
    table = np.zeros((1000, 4))
    losses = np.zeros(steps)
    recent = []
    warmup = optax.cosine_decay_schedule(1.0, 1000)
    for step in range(steps):
        key, sub = jax.random.split(key)
        rows = jax.random.randint(sub, (32,), 0, 1000)
        batch = table[rows]  # expect: jax-host-read-in-step
        params, opt_state, loss = train_step(params, opt_state, batch)
        losses[step] = loss  # expect: jax-host-read-in-step
        recent.append(loss)
        mean = np.mean(recent)  # expect: jax-host-read-in-step
        spread = np.abs(loss)  # expect: jax-host-read-in-step
        if float(warmup(step)) > 0.5:  # expect: jax-host-read-in-step
            steps -= 1
    return params, losses, spread, mean


def next_batch(data, key, size):
    starts = jax.random.randint(key, (32,), 0, len(data) - size)
    x = jnp.stack([jnp.array(data[i : i + size]) for i in starts])  # expect: jax-host-read-in-step
    y = jnp.stack([jnp.array(data[i + 1 : i + 1 + size]) for i in starts])  # expect: jax-host-read-in-step
    return x, y


def pretrain(params, opt_state, data, key, steps):
    for step in range(steps):
        key, sub = jax.random.split(key)
        x, y = next_batch(data, sub, 64)
        params, opt_state, loss = train_step(params, opt_state, x)
    return params
