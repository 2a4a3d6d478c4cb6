"""Which library a function was given is no question about an array."""

import jax
import jax.numpy as jnp


def cast_rays(points, intrinsics, xnp=jnp):
    matmul = jnp.matmul if xnp == jnp else xnp.matmul
    return matmul(points, intrinsics)


@jax.jit
def train_step(params, batch):
    return jax.grad(lambda p: jnp.mean(cast_rays(batch, p)))(params)


def train(params, batches):
    for batch in batches:
        params = jax.tree.map(lambda p, g: p - g, params, train_step(params, batch))
        rays = cast_rays(batch, params)
    return rays
