import jax
import jax.numpy as jnp


@jax.jit
def train_step(state, batch, noise):
    return state.apply_gradients(grads=jax.grad(loss_fn)(state.params, batch, noise))


def fit(state, loader, sharding):
    weights = jax.device_put(jnp.ones(128), sharding)
    for step, batch in enumerate(loader):
        noise = jax.random.normal(jax.random.PRNGKey(step), (128, 64))
        state = train_step(state, batch, noise * weights)
        if step % 1000 == 0:
            report(state, jax.device_put(jnp.zeros(128), sharding))
    return state


fit(make_state(), make_loader(), make_sharding())
