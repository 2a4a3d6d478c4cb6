import jax
import jax.numpy as jnp
import optax


@jax.jit
def train_step(params, opt_state, x):
    grads = jax.grad(lambda p: jnp.mean((jnp.where(x > 0, x, 0.0) * p) ** 2))(params)
    updates, opt_state = optax.adam(1e-3).update(grads, opt_state)
    return optax.apply_updates(params, updates), opt_state


def train(params, opt_state, batches):
    for step, x in enumerate(batches):
        params, opt_state = train_step(params, opt_state, x)
        first = jnp.tanh(x)[step == 0]
        if step % 100 == 0:
            print(jnp.tanh(x)[x > 0].mean(), first)
    return params
