import random
from collections import deque

import jax
import jax.numpy as jnp


class Memory:
    def __init__(self, size):
        self.rows = deque(maxlen=size)

    def sample(self, size):
        obs, actions, rewards = zip(*random.sample(self.rows, size))
        return (
            jnp.stack(obs),  # expect: blocking-host-to-device
            jnp.asarray(actions),  # expect: blocking-host-to-device
            jnp.concatenate(rewards),  # expect: blocking-host-to-device
        )


@jax.jit
def learn(params, obs, actions, rewards):
    loss, grads = jax.value_and_grad(lambda p: jnp.mean((obs @ p - rewards) ** 2))(params)
    return params - 0.1 * grads, loss


def train(params, steps):
    memory = Memory(10000)
    for step in range(steps):
        params, loss = learn(params, *memory.sample(32))
    return params


train(make_params(), 1000)
