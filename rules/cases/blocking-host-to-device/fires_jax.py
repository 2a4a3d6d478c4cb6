"""Batches of NumPy's that the step itself hands to the device."""

import jax
import jax.numpy as jnp
import numpy as np
from flax.training.common_utils import shard


@jax.jit
def train_step(state, batch):
    return state.apply_gradients(grads=jax.grad(loss_fn)(state.params, batch))


def fit(state, loader):
    for batch in loader:
        arrays = {name: jnp.array(value) for name, value in batch.items()}  # expect: blocking-host-to-device
        state = train_step(state, arrays)
    return state


def fit_rows(state, data, steps):
    for _ in range(steps):
        rows = np.random.randint(0, 100, 32)
        state = train_step(state, jnp.asarray(np.stack([data[i] for i in rows])))  # expect: blocking-host-to-device
    return state


def fit_put(state, loader, sharding):
    for batch in loader:
        state = train_step(state, jax.device_put(batch, sharding))  # expect: blocking-host-to-device
        state = train_step(state, shard(batch))  # expect: blocking-host-to-device
    return state


if __name__ == "__main__":
    fit_put(make_state(), make_loader(), make_sharding())
    fit(make_state(), make_loader())
    fit_rows(make_state(), load(), 100)


def collate_fn(samples):
    return jnp.array([sample["tokens"] for sample in samples])  # expect: blocking-host-to-device
