"""A memory on the device, and rows of it that NumPy draws."""

import jax
import jax.numpy as jnp
import numpy as np


class Memory:
    def __init__(self, size):
        self.states = jnp.zeros((size, 4))
        self.size = size

    def sample(self, count):
        rows = np.random.choice(self.size, size=count)
        return self.states[rows]  # expect: host-index-on-device


@jax.jit
def train_step(state, batch):
    return state.apply_gradients(grads=jax.grad(loss_fn)(state.params, batch))


def fit(state, steps):
    memory = Memory(1000)
    for _ in range(steps):
        state = train_step(state, memory.sample(32))
    return state


if __name__ == "__main__":
    fit(make_state(), 100)
