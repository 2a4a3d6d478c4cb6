import equinox as eqx
import jax
import optax
from flax import nnx


def loss_fn(params, batch):
    return ((params * batch) ** 2).mean()


grad_fn = jax.jit(jax.value_and_grad(loss_fn))  # expect: partial-jit
only_grad = jax.jit(jax.grad(loss_fn, argnums=0))  # expect: partial-jit
filtered = eqx.filter_jit(eqx.filter_value_and_grad(loss_fn))  # expect: partial-jit


class Model:
    """Nothing of its step is compiled."""

    def train(self, batch):
        loss, grads = jax.value_and_grad(self.loss)(self.params, batch)
        updates, self.state = self.optimizer.update(grads, self.state)  # expect: partial-jit
        self.params = optax.apply_updates(self.params, updates)
        return loss


def fit(model, batches):
    for batch in batches:
        model.train(batch)


class Discriminator:
    def train(self, state, batch):
        grads = jax.grad(self.loss)(state.params, batch)
        state = state.apply_gradients(grads=grads)  # expect: partial-jit
        return state


def alternate(discriminator, state, batches):
    for batch in batches:
        state = discriminator.train(state, batch)
    return state


def make_update(net, tx):
    gradients = nnx.jit(nnx.value_and_grad(loss_fn))  # expect: partial-jit
    apply = jax.jit(optax.apply_updates)
    return gradients, apply


def eager_step(state, batch):
    grads = jax.grad(loss_fn)(state.params, batch)
    return state.apply_gradients(grads=grads)  # expect: partial-jit


def fit_eagerly(state, batches):
    for batch in batches:
        state = eager_step(state, batch)
    return state


class Player:
    """What it reads of itself is no argument of a compiled function."""

    def guess(self, observation):
        return self.network.apply(self.params, observation)  # expect: partial-jit

    def learn(self, params, batches):
        for batch in batches:
            target = self.guess(batch)
            loss, grads = jax.value_and_grad(loss_fn)(params, target)  # expect: partial-jit
            updates, self.state = self.optimizer.update(grads, self.state)
            params = optax.apply_updates(params, updates)
        return params
