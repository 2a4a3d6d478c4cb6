import equinox as eqx
import jax
import optax


def loss_fn(params, batch):
    return ((params * batch) ** 2).mean()


def train(params, batches, optim, state):
    for batch in batches:
        grads = jax.jit(jax.grad(loss_fn))(params, batch)  # expect: jit-in-step
        updates, state = optim.update(grads, state)
        params = optax.apply_updates(params, updates)


def fit(step, params, batches):
    for batch in batches:
        fast = jax.jit(step)  # expect: jit-in-step
        params = fast(params, batch)


def run(model, data):
    for x in data:
        model = eqx.filter_jit(update)(model, x)  # expect: jit-in-step
    return model


def descend(params, batches, scale):
    for batch in batches:
        def scaled(p, x):
            return scale * loss_fn(p, x)

        value = jax.jit(scaled)(params, batch)  # expect: jit-in-step
        params = optax.apply_updates(params, jax.grad(loss_fn)(params, batch))
    return params, value
