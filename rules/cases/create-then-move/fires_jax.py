import jax
import jax.numpy as jnp


@jax.jit
def train_step(state, batch, noise):
    return state.apply_gradients(grads=jax.grad(loss_fn)(state.params, batch, noise))


def fit(state, loader, sharding):
    for step, batch in enumerate(loader):
        key = jax.random.PRNGKey(step)
        noise = jax.device_put(jax.random.normal(key, (128, 64)), sharding)  # expect: create-then-move
        state = train_step(state, batch, noise)
        weights = jax.device_put(jnp.ones(128), sharding)  # expect: create-then-move
        state = train_step(state, batch, weights)
    return state


fit(make_state(), make_loader(), make_sharding())
