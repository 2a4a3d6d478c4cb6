import jax
import jax.numpy as jnp
import numpy as np


def batches(files, size):
    while True:
        rows = [np.load(name) for name in np.random.choice(files, size)]
        yield np.stack(rows)


@jax.jit
def train_step(params, batch):
    loss, grads = jax.value_and_grad(lambda p: jnp.mean((batch @ p) ** 2))(params)
    return params - 0.1 * grads, loss


def train(params, files, steps):
    train_gen = batches(files, 32)
    for step in range(steps):
        batch = next(train_gen)  # expect: no-prefetch
        params, loss = train_step(params, batch)
    return params


class Trainer:
    def __init__(self, files):
        self.train_stream = batches(files, 64)

    def fit(self, params, steps):
        for step in range(steps):
            params, loss = train_step(params, next(self.train_stream))  # expect: no-prefetch
        return params


def finetune(params, files, steps):
    data_generator = batches(files, 16)
    for _ in range(steps):
        batch = next(data_generator)  # expect: no-prefetch
        params, _ = train_step(params, batch)
    return params
