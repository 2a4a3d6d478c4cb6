"""A model with many small leaves, and its jitted training step, shared by the samples."""
import equinox as eqx
import jax
import jax.numpy as jnp

WIDTH, BATCH, STEPS, CHANGED = 4, 8, 8, 10


class Layer(eqx.Module):
    weight: jax.Array
    scale: jax.Array


class Model(eqx.Module):
    layers: list

    def __init__(self, leaves):
        self.layers = [Layer(jnp.eye(WIDTH) * 0.99, jnp.ones(WIDTH)) for _ in range(leaves // 2)]


def loss_of(model, x):
    for layer in model.layers[:4]:
        x = (x @ layer.weight) * layer.scale
    return jnp.mean(x**2)


@eqx.filter_jit  # stallscope: ignore[jax-no-donate] layers may share an array, and that is donated once
def train_step(model, x):
    """One step of gradient descent: the loss and the new model."""
    loss, gradients = eqx.filter_value_and_grad(loss_of)(model, x)
    return loss, eqx.apply_updates(model, jax.tree_util.tree_map(lambda g: -0.01 * g, gradients))


def batches():
    """STEPS inputs, the same every time."""
    for step in range(STEPS):
        yield jnp.full((BATCH, WIDTH), 1.0 + 0.01 * step)
