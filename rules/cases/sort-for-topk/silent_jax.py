import jax
import jax.numpy as jnp
import numpy as np


@jax.jit
def elite(scores, population):
    _, best = jax.lax.top_k(scores, 10)
    return population[best].mean(0)


@jax.jit
def ranked(scores):
    return jnp.argsort(-scores)  # all of them are wanted


def split(data, size):
    order = np.argsort(data)[:size]  # once, on the host
    return data[order]


@jax.jit
def quantile(scores):
    return jnp.sort(scores)[scores.shape[0] // 2]
