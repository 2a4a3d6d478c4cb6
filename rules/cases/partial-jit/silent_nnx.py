import jax.numpy as jnp
import optax
from flax import nnx


@nnx.jit
def train_step(model, optimizer, x, y):
    loss, grads = nnx.value_and_grad(lambda m: jnp.mean((m(x) - y) ** 2))(model)
    optimizer.update(grads)  # compiled with all the step
    return loss


def train(model, batches):
    optimizer = nnx.Optimizer(model, optax.adam(1e-3))
    for x, y in batches:
        train_step(model, optimizer, x, y)
    return model
