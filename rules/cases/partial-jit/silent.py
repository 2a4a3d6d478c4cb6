import jax
import optax


def loss_fn(params, batch):
    return ((params * batch) ** 2).mean()


@jax.jit
def step(params, state, batch):
    grads = jax.grad(loss_fn)(params, batch)
    return optax.apply_updates(params, grads), state


evaluate = jax.jit(loss_fn)
vmapped = jax.jit(jax.vmap(loss_fn))
