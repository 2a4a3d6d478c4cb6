import jax
import jax.numpy as jnp


@jax.jit
def forward(layers, x):
    def body(x, layer):
        return jnp.tanh(x @ layer), None

    return jax.lax.scan(body, x, layers)[0]


def build(sizes):
    return [jnp.zeros((a, b)) for a, b in zip(sizes, sizes[1:])]
