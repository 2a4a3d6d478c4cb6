import jax
import jax.numpy as jnp
from flax import linen as nn


@jax.jit
def rollout(params, x):
    h, outs = jnp.zeros(3), []
    for t in range(x.shape[0]):  # expect: python-loop-in-jit
        outs.append(jnp.tanh(params @ h + x[t]))
    return jnp.stack(outs)


class Encoder(nn.Module):
    @nn.compact
    def __call__(self, frames):
        cells = []
        for t in range(frames.shape[1]):  # expect: python-loop-in-jit
            cells.append(nn.Dense(32)(frames[:, t]))
        return jnp.stack(cells, axis=1)


@jax.jit
def returns(rewards, discount):
    out = []
    for t in range(rewards.shape[0]):  # expect: python-loop-in-jit
        out.append(jnp.sum(rewards[t:] * discount))
    return jnp.stack(out)
