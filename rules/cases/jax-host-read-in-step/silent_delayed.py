import jax
import jax.numpy as jnp


@jax.jit
def improve(params, batch):
    loss, grads = jax.value_and_grad(lambda p: jnp.mean((batch @ p) ** 2))(params)
    return params - 0.1 * grads, loss


def train(params, batches, every):
    for step, batch in enumerate(batches):
        params, loss = improve(params, batch)
        if step % every == 0:
            for part in range(3):
                note(part, float(loss))
    return params


train(make_params(), load(), 100)
