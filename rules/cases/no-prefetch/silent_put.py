import flax
import jax
import jax.numpy as jnp
import optax


@jax.jit
def train_step(state, batch):
    grads = jax.grad(lambda p: jnp.mean((batch["x"] @ p) ** 2))(state.params)
    return state.apply_gradients(grads=grads), {"norm": optax.global_norm(grads)}


def train(state, train_ds, steps):
    train_ds = flax.jax_utils.prefetch_to_device(train_ds, 2)
    for _ in range(steps):
        batch = next(train_ds)  # two batches ahead
        state, metrics = train_step(state, batch)
    return state


def begin(state, train_ds):
    example = jax.device_put(next(train_ds))  # shapes are asked for once
    return state.init(example)


def report(state, test_ds, steps):
    for step in range(steps):
        if step % 100 == 0:
            metrics = eval_step(state, jax.device_put(next(test_ds)))
            print(metrics)
