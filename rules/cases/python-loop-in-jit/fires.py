import equinox as eqx
import jax
import jax.numpy as jnp
from flax import linen as nn


@jax.jit
def forward(layers, x):
    for layer in layers:  # expect: python-loop-in-jit
        x = jnp.tanh(x @ layer)
    return x


@eqx.filter_jit
def apply(model, x):
    for block in model.layers:  # expect: python-loop-in-jit
        x = block(x)
    return x


class Stack(eqx.Module):
    @eqx.filter_jit
    def __call__(self, x):
        for block in self.blocks:  # expect: python-loop-in-jit
            x = x + block(x)
        return x


class Transformer(nn.Module):
    num_layers: int

    @nn.compact
    def __call__(self, x):
        for i in range(self.num_layers):  # expect: python-loop-in-jit
            x = Block(name=f"block_{i}")(x)
        return x
