import jax
import jax.numpy as jnp
from flax import linen as nn


class SelfAttention(nn.Module):
    rate: float = 0.1

    @nn.compact
    def __call__(self, q, k, v, deterministic):
        weights = jax.nn.softmax(jnp.einsum("...qhd,...khd->...hqk", q, k))
        weights = nn.Dropout(self.rate)(weights, deterministic=deterministic)
        return jnp.einsum("...hqk,...khd->...qhd", weights, v)
