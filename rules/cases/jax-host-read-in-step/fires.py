import jax
import jax.numpy as jnp
import optax


@jax.jit
def train_step(params, batch):
    grads = jax.grad(lambda p: jnp.sum(p))(params)
    return optax.apply_updates(params, grads), jnp.sum(params)


def train(params, batches):
    for batch in batches:
        params, loss = train_step(params, batch)
        print(float(loss))  # expect: jax-host-read-in-step
