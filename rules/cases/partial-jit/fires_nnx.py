import jax.numpy as jnp
import optax
from flax import nnx


@nnx.jit  # expect: partial-jit
def gradients(model, x, y):
    return nnx.value_and_grad(lambda m: jnp.mean((m(x) - y) ** 2))(model)


def train(model, batches):
    optimizer = nnx.Optimizer(model, optax.adam(1e-3))
    for x, y in batches:
        loss, grads = gradients(model, x, y)
        optimizer.update(grads)  # expect: partial-jit
    return model


def search(params, state, solver, value_and_grad, batches):
    for x in batches:
        value, grad = value_and_grad(params, x)
        updates, state = solver.update(grad, state, params, value=value, grad=grad)  # expect: partial-jit
        params = optax.apply_updates(params, updates)
    return params


class Trainer:
    def train_step(self, state, images, targets):
        loss, grads = nnx.value_and_grad(self.loss)(state.model, images, targets)  # expect: partial-jit
        state.update(state.model, grads)
        return loss

    def fit(self, state, batches):
        for images, targets in batches:
            self.train_step(state, images, targets)
