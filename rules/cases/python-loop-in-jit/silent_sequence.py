import jax
import jax.numpy as jnp
import numpy as np


@jax.jit
def rollout(params, x):
    def cell(h, xt):
        h = jnp.tanh(params @ h + xt)
        return h, h

    return jax.lax.scan(cell, jnp.zeros(3), x)[1]


def show(images):
    for i in range(images.shape[0]):
        draw(np.asarray(images[i]))


@jax.jit
def pair(x):
    return jnp.stack([x[0], x[1]])
