import equinox as eqx
import flax
import jax
import optax


def train(model, optim, opt_state, batches):
    for x in batches:
        params, static = eqx.partition(model, eqx.is_array)  # expect: pytree-work-in-step
        params, opt_state = step(params, opt_state, x)
        model = eqx.combine(params, static)  # expect: pytree-work-in-step
        leaves, tree = jax.tree_util.tree_flatten(model)  # expect: pytree-work-in-step
        updates, opt_state = optim.update(leaves, opt_state)
        model = optax.apply_updates(model, updates)


class Trainer:
    """The model is taken apart and put together around each step."""

    def training_step(self, batch):
        params = eqx.filter(self.model, eqx.is_inexact_array)  # expect: pytree-work-in-step
        grads = self.grad_fn(params, batch)
        flat, restore = jax.flatten_util.ravel_pytree(grads)  # expect: pytree-work-in-step
        self.state = self.update(self.state, flat)
        return restore(flat)


@jax.jit
def train_step(state, batch):
    loss, grads = jax.value_and_grad(loss_fn)(state, batch)
    return jax.tree.map(lambda p, g: p - 0.1 * g, state, grads), loss


def fit(state, batches):
    for batch in batches:
        state, loss = train_step(state, batch)
        leaves, _ = jax.tree.flatten(state)  # expect: pytree-work-in-step
        print(len(leaves), loss)
        average = optax.incremental_update(state, average, 0.01)  # expect: pytree-work-in-step
        metrics = metrics.merge(gather(loss))  # expect: pytree-work-in-step


def ema_update(ema, state, decay):
    return jax.tree_util.tree_map(lambda a, b: a * decay + b * (1 - decay), ema, state)  # expect: pytree-work-in-step


def fit_averaged(state, batches):
    ema = state
    for batch in batches:
        state, loss = train_step(state, batch)
        ema = ema_update(ema, state, 0.99)
    return ema


def follow(params, state, loader, limit):
    for batch in loader:
        params, state, change = train_step(params, state, batch)
        small = jax.tree_util.tree_map(lambda p, d: norm(d) < limit * norm(p), *(params, change))  # expect: pytree-work-in-step
        if jax.tree_util.tree_all(small):
            break
    return params


def learn(state, rollout, key, epochs):
    for _ in range(epochs):
        rows = jax.random.permutation(key, 1024)
        minibatch = jax.tree.map(lambda x: x[rows], rollout)  # expect: pytree-work-in-step
        state, loss = train_step(state, minibatch)
    return state


class Averager:
    def update(self, average, params, decay):
        return jax.tree_util.tree_map(lambda a, p: a * decay + p * (1.0 - decay), average, params)  # expect: pytree-work-in-step


def fit_smoothed(state, average, averager, batches):
    for batch in batches:
        state, loss = train_step(state, batch)
        average = averager.update(average, state, 0.99)
    return average


def learn_replicated(state, batches, schedule):
    for step, batch in enumerate(batches):
        rate = flax.jax_utils.replicate(schedule(step))  # expect: pytree-work-in-step
        state, metrics = train_step(state, batch, rate)
    return state, metrics


class Adam:
    def __init__(self):
        self._step_jit = jax.jit(self._step)

    def update(self, grads, states):
        return jax.tree_map(self._step_jit, grads, states)  # expect: pytree-work-in-step


def learn_by_leaf(params, states, batches):
    adam = Adam()
    for batch in batches:
        loss, grads = jax.value_and_grad(loss_fn)(params, batch)
        states = adam.update(grads, states)
    return states
