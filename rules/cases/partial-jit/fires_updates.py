import jax
import jax.numpy as jnp
import optax

tx = optax.adam(1e-3)


@jax.jit
def loss_fn(params, batch):
    return jnp.mean((batch @ params) ** 2)


def train(params, opt_state, batches):
    for batch in batches:
        loss, grads = jax.value_and_grad(loss_fn)(params, batch)  # expect: partial-jit
        updates, new_state = tx.update(grads, opt_state)
        params = optax.apply_updates(params, updates)
        opt_state = new_state
    return params


def average(params, mean, batches):
    for batch in batches:
        grads = compute(params, batch)
        updates, _ = tx.update(grads, None)
        params = optax.apply_updates(params, updates)  # expect: partial-jit
        mean = optax.incremental_update(params, mean, 0.01)
    return mean


class Trainer:
    def fit(self, batches):
        for batch in batches:
            grads = jax.grad(loss_fn)(self.params, batch)  # expect: partial-jit
            updates, self.state = tx.update(grads, self.state, self.params)
            self.params = optax.apply_updates(self.params, updates)
