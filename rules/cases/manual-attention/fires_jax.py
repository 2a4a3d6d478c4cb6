"""Attention written out in functions that a compiled step of JAX calls."""

import jax
import jax.numpy as jnp


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
