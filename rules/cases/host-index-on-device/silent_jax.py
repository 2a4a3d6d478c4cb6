"""Rows that the device draws, and a memory of the host's."""

import jax
import jax.numpy as jnp
import numpy as np


class Memory:
    def __init__(self, size):
        self.states = np.zeros((size, 4))
        self.size = size

    def sample(self, count):
        rows = np.random.choice(self.size, size=count)
        return self.states[rows]


@jax.jit
def train_step(state, batch):
    return state.apply_gradients(grads=jax.grad(loss_fn)(state.params, batch))


def fit(state, data, key, steps):
    memory, kept = Memory(1000), jnp.asarray(data)
    for _ in range(steps):
        key, draw = jax.random.split(key)
        rows = jax.random.randint(draw, (32,), 0, 1000)
        state = train_step(state, (memory.sample(32), kept[rows]))
    return state


if __name__ == "__main__":
    fit(make_state(), load(), jax.random.key(0), 100)
