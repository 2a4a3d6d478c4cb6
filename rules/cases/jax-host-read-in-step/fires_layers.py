import jax
import jax.numpy as jnp
from flax import nnx


class GraphNorm(nnx.Module):
    def __call__(self, x: jax.Array, batch: jax.Array):
        graphs = int(batch.max()) + 1  # expect: jax-host-read-in-step
        sums = jnp.zeros((graphs, x.shape[1]))
        return x - sums.at[batch].add(x)[batch]


class Pool(nnx.Module):
    def __call__(self, x: jax.Array, counts: jax.Array):
        last = counts[-1].item()  # expect: jax-host-read-in-step
        return x[:last].mean(0)


class Bins(nnx.Module):
    def __call__(self, ids: jax.Array):
        size = int(jnp.max(ids))  # expect: jax-host-read-in-step
        return jnp.zeros(size + 1).at[ids].add(1.0)
