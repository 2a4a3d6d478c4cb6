import jax
import jax.numpy as jnp
import numpy as np


def choose(scores, n):
    x = np.asarray(jnp.cumsum(scores))
    return [i for i in range(n) if x[i] > 0.5]


@jax.jit
def clip(x):
    for i in range(3):
        x = jnp.where(x > i, i, x)
    return x


def shapes(x):
    for i in range(jnp.ndim(x)):
        if jnp.shape(x)[i] > 3 and jnp.issubdtype(x.dtype, jnp.integer):
            return i
    return jnp.size(x)


def train(state, batches, every):
    best = jnp.inf
    for step, batch in enumerate(batches):
        state, grads = jax.value_and_grad(loss_of)(state, batch)
        if step % every == 0:
            loss = jnp.mean(grads)
            if loss < best:
                best = loss
    return state


def report(step, state, batches, done=None):
    step = jax.jit(step)
    for batch in batches:
        state, metrics = step(state, batch)
        if metrics:
            print(len(metrics))
        if done:
            done(state)
    return state
