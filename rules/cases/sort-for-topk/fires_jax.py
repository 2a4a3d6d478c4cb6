import jax
import jax.numpy as jnp


@jax.jit
def elite(scores, population):
    best = jnp.argsort(-scores)[:10]  # expect: sort-for-topk
    return population[best].mean(0)


@jax.jit
def neighbours(distances):
    return jnp.argsort(distances, axis=-1)[:, :8]  # expect: sort-for-topk


@jax.jit
def update(params, batch):
    loss, grads = jax.value_and_grad(lambda p: jnp.mean((p * batch) ** 2))(params)
    return params - 0.1 * grads, batch


def train(params, batches):
    for batch in batches:
        params, scores = update(params, batch)
        worst = jnp.sort(scores)[-10:]  # expect: sort-for-topk
        elite(scores, batch), neighbours(batch), keep(worst)
    return params


train(load_params(), load())
