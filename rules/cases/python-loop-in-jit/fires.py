import equinox as eqx
import jax
import jax.numpy as jnp


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
