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


@jax.jit
def rollout(params, state, steps):
    for step in range(steps):  # expect: python-loop-in-jit
        state = advance(params, state)
    return state


@jax.jit
def smooth(signal, weights):
    for t in range(1, signal.shape[0]):  # expect: python-loop-in-jit
        signal = signal.at[t].set(weights[0] * signal[t] + weights[1] * signal[t - 1])
    return signal


@jax.jit
def accumulate(params, batches):
    total = 0.0
    for batch in batches:  # expect: python-loop-in-jit
        total += loss_of(params, batch)
    return total


@jax.jit
def candidates(params, key, count):
    drawn = []
    for i in range(count):  # expect: python-loop-in-jit
        point = draw(params, jax.random.fold_in(key, i))
        drawn.append(point)
    return jnp.stack(drawn)


def observe(state, times, snapshots):
    for when in times:  # expect: python-loop-in-jit
        snapshots = jax.lax.cond(state.time < when, keep, take, snapshots)
    return snapshots


class Encoder(nn.Module):
    def __call__(self, hidden, mask):
        for i, layer in enumerate(self.layers):  # expect: python-loop-in-jit
            outputs = layer(hidden, mask)
            hidden = outputs[0]
        return hidden


def recurrent_layer(params, rows):
    outputs, hidden = [], jnp.zeros(params.size)
    for row in rows:  # expect: python-loop-in-jit
        hidden = cell(params, row, hidden)
        outputs.append(hidden)
    return jnp.vstack(outputs)


class Decoder(eqx.Module):
    def __call__(self, x, y):
        for block in self.cells:  # expect: python-loop-in-jit
            x, _ = block.forward(x, y)
        return x
