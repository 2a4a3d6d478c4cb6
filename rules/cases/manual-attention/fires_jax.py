"""Attention written out in functions that a compiled step of JAX calls."""

import math

import jax
import jax.numpy as jnp
from flax import nnx


def attend(layer, x, mask, settings):
    query, key, value = x @ layer.query, x @ layer.key, x @ layer.value
    scores: jax.Array = query @ key.T + mask
    weights = jax.nn.softmax(settings.temperature * scores, axis=1)  # expect: manual-attention
    return weights @ value


def loss_fn(layer, x, mask, settings):
    return jnp.mean(attend(layer, x, mask, settings) ** 2)


@jax.jit
def train_step(layer, x, mask, settings):
    loss, grads = jax.value_and_grad(loss_fn)(layer, x, mask, settings)
    return jax.tree.map(lambda w, g: w - 0.1 * g, layer, grads), loss


def fit(layer, batches, mask, settings):
    for batch in batches:
        layer, loss = train_step(layer, batch, mask, settings)
    return layer


if __name__ == "__main__":
    fit(make(), load(), None, None)


class TransposedAttention(nn.Module):
    def __call__(self, q, k, v):
        weights = jax.nn.softmax(q @ k.T / 8.0)  # expect: manual-attention
        return weights @ v


class MovedAttention(nn.Module):
    def __call__(self, q, k, v, mask):
        scores = jnp.matmul(q, jnp.moveaxis(k, 2, 3)) / math.sqrt(self.head_dim)
        scores = scores + jnp.where(mask == 0, -jnp.inf, 0)
        scores = nnx.softmax(scores.astype("float32"), axis=-1).astype(q.dtype)  # expect: manual-attention
        return jnp.einsum("...hqk,...hkd->...qhd", scores, v)
