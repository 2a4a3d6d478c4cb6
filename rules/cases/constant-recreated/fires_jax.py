"""Constants of JAX in the loop around a compiled step."""

import jax
import jax.numpy as jnp


@jax.jit
def train_step(state, batch, rows, lengths=None):
    grads = jax.grad(loss_fn)(state.params, batch, rows)
    return state.apply_gradients(grads=grads), grads


def descend(state, batches):
    for batch in batches:
        state, loss = train_step(state, batch, jnp.arange(64))  # expect: constant-recreated
    return state


if __name__ == "__main__":
    descend(make(), load())
