import jax
import jax.numpy as jnp
import optax


@jax.jit
def train_step(state, batch, rate):
    loss, grads = jax.value_and_grad(lambda p: jnp.mean((batch @ p) ** 2))(state.params)
    state.opt_state.hyperparams["learning_rate"] = jnp.array(rate)  # traced once
    return state.apply_gradients(grads=grads), loss


def prepare(state):
    state.opt_state.hyperparams["learning_rate"] = jnp.array(1e-3)
    return state


def train(state, batches):
    state = prepare(state)
    rate = jnp.float32(1e-3)
    for step, batch in enumerate(batches):
        state, loss = train_step(state, batch, rate)
        if step % 1000 == 0:
            state.opt_state.hyperparams["decay"] = jnp.array(0.5)
    return state
