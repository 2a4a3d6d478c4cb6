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


class Flow(eqx.Module):
    def __call__(self, x):
        log_det = 0.0
        for i in range(len(self.couplings)):  # expect: python-loop-in-jit
            x, change = self.couplings[i](x)
            log_det += change
        return self.decode(x), log_det

    def decode(self, x):
        for upsampling in self.upsamplings[1:]:  # expect: python-loop-in-jit
            x = upsampling(x, scale=2)
        return x


class Decoder(nn.Module):
    def __call__(self, x, mask):
        for decoder_layer in self.decoder_layers:  # expect: python-loop-in-jit
            x, attention = decoder_layer(x, mask)
        return x


@jax.jit
def apply_blocks(weights, x):
    for inner, outer in weights["blocks"]:  # expect: python-loop-in-jit
        x = x + jax.nn.gelu(x @ inner) @ outer
    return x
