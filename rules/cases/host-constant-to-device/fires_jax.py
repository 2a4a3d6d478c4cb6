import jax
import jax.numpy as jnp
import optax


@jax.jit
def train_step(state, batch):
    loss, grads = jax.value_and_grad(lambda p: jnp.mean((batch @ p) ** 2))(state.params)
    return state.apply_gradients(grads=grads), loss


def set_rate(state, rate):
    state.opt_state.hyperparams["learning_rate"] = jnp.array(rate, dtype=jnp.float32)  # expect: host-constant-to-device
    return state


def train(state, batches, schedule):
    for step, batch in enumerate(batches):
        state, loss = train_step(state, batch)
        state = set_rate(state, schedule(step))
        inner = state.opt_state.inner_states["regular"].inner_state
        inner.hyperparams["decay"] = jnp.asarray(schedule(step) / 2)  # expect: host-constant-to-device
        state.opt_state.hyperparams["momentum"] = jnp.array(0.9)  # expect: host-constant-to-device
    return state


train(make_state(), load(), optax.cosine_decay_schedule(1e-3, 1000))
