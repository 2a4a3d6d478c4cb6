import jax
import jax.numpy as jnp
import optax


@jax.jit
def train_step(state, batch):
    grads = jax.grad(lambda p: jnp.mean((batch["x"] @ p) ** 2))(state.params)
    return state.apply_gradients(grads=grads), {"norm": optax.global_norm(grads)}


def train(state, train_ds, steps):
    step = 0
    while step < steps:
        batch = jax.device_put(next(train_ds))  # expect: no-prefetch
        state, metrics = train_step(state, batch)
        step += 1
    return state


def finetune(state, batches, steps, sharding):
    for _ in range(steps):
        batch = jax.tree.map(jnp.asarray, next(batches))  # expect: no-prefetch
        state, metrics = train_step(state, batch)
        batch = jax.device_put(next(batches), sharding)  # expect: no-prefetch
        state, metrics = train_step(state, batch)
    return state


class Task:
    def __init__(self, loader):
        self.loader = loader

    def evaluate(self, state, steps):
        for _ in range(steps):
            state, metrics = train_step(state, next(iter(self.loader)))  # expect: no-prefetch
        return state
