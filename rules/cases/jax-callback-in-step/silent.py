import equinox as eqx
import jax
import jax.numpy as jnp


def report(x):
    jax.debug.print("shape {}", x.shape)


def wrap(fn):
    return lambda x: jax.pure_callback(fn, x, x)


@jax.jit
def train_step(params, batch, debug=False):
    loss, grads = jax.value_and_grad(loss_fn)(params, batch)
    if debug:
        jax.debug.print("loss {}", loss)
    return jax.tree.map(lambda p, g: p - 0.1 * g, params, grads)


def loss_fn(params, batch):
    return jnp.mean(params * batch)


def inspect(state, batch):
    """Called by hand, on one batch."""
    hidden = jnp.tanh(batch @ state)
    jax.debug.print("hidden {}", hidden.mean())
    return hidden


def train(params, batches, every):
    for step, batch in enumerate(batches):
        params = train_step(params, batch)
        if step % every == 0:
            jax.debug.callback(print, params)
    return params


@jax.jit
def reporting_step(state, batch):
    state = advance(state, batch)
    jax.lax.cond(
        state.step % 100 == 0,
        lambda s: jax.debug.print("loss {}", s.loss),
        lambda s: None,
        state,
    )
    return state


def solve(matrix, rhs):
    """Of a library: whoever trains with it decides whether it is checked."""
    matrix = eqx.error_if(matrix, jnp.any(jnp.isnan(matrix)), "not a number")
    return jnp.linalg.solve(matrix, rhs)
