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
