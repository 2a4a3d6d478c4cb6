import jax
import optax


def loss_fn(params, batch):
    return ((params * batch) ** 2).mean()


@jax.jit
def step(params, state, batch):
    grads = jax.grad(loss_fn)(params, batch)
    return optax.apply_updates(params, grads), state


evaluate = jax.jit(loss_fn)
vmapped = jax.jit(jax.vmap(loss_fn))


class Trainer:
    """All that a step does lies in one compiled function."""

    def __init__(self, optimizer):
        self.optimizer = optimizer
        self.update = jax.jit(self.update_once, donate_argnums=(0, 1))

    def update_once(self, params, state, batch):
        loss, grads = jax.value_and_grad(loss_fn)(params, batch)
        updates, state = self.optimizer.update(grads, state, params)
        return optax.apply_updates(params, updates), state, loss


def sensitivity(params, image):
    """A gradient that nothing is updated with, once."""
    gradient = jax.grad(loss_fn, argnums=1)
    return abs(gradient(params, image)).sum(-1)


def check_gradients(params, batch):
    exact = jax.grad(loss_fn)(params, batch)
    near = (loss_fn(params + 1e-3, batch) - loss_fn(params - 1e-3, batch)) / 2e-3
    return abs(exact.sum() - near)


class Model:
    """All of its step is compiled."""

    def __init__(self):
        self.step = jax.jit(self._step)

    def _step(self, params, state, batch):
        loss, grads = jax.value_and_grad(self.loss)(params, batch)
        updates, state = self.optimizer.update(grads, state, params)
        return optax.apply_updates(params, updates), state, loss


def fit(model, batches, params, state):
    for batch in batches:
        params, state, loss = model.step(params, state, batch)
    return params


class Compiled:
    def __init__(self, network):
        self.network = network
        self.act = jax.jit(self._act)

    def _act(self, params, observation):
        return self.network.apply(params, observation)


def learn(player, params, step, batches):
    for batch in batches:
        params = step(params, player.act(params, batch))
    return params
