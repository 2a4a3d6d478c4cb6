import equinox as eqx
import jax
from flax import jax_utils
import optax


def flatten(tree):
    return jax.tree_util.tree_flatten(tree)


@eqx.filter_jit
def step(model, opt_state, x):
    params, static = eqx.partition(model, eqx.is_array)
    loss, grads = eqx.filter_value_and_grad(loss_fn)(eqx.combine(params, static), x)
    return eqx.apply_updates(model, grads), opt_state


def main(model, opt_state, batches):
    params, static = eqx.partition(model, eqx.is_array)
    for i, x in enumerate(batches):
        model, opt_state = step(model, opt_state, x)
        if i % 100 == 0:
            leaves = jax.tree_util.tree_flatten(model)
    return params, static


class Trainer:
    """The tree is taken apart when the trainer is made."""

    def __init__(self, model, optimizer):
        self.leaves, self.treedef = jax.tree_util.tree_flatten(model)
        self.params, self.static = eqx.partition(model, eqx.is_inexact_array)
        self.state = optimizer.init(self.params)

    def fit(self, batches):
        for batch in batches:
            self.params, self.state = self.update(self.params, self.state, batch)
        return eqx.combine(self.params, self.static)


@jax.jit
def update(params, ema, batch):
    grads = jax.grad(loss_fn)(params, batch)
    params = jax.tree.map(lambda p, g: p - 0.1 * g, params, grads)
    return params, average(ema, params)


def average(ema, params):
    return jax.tree_util.tree_map(lambda a, b: 0.99 * a + 0.01 * b, ema, params)


def descend(params, batches):
    ema = jax.tree.map(lambda p: p, params)
    for batch in batches:
        params, ema = update(params, ema, batch)
    return params, sum(p.size for p in jax.tree_util.tree_leaves(ema))


def learn(state, rollout, rows, steps):
    rollout = jax.tree.map(lambda x: x[rows], rollout)
    for step in range(steps):
        state, loss = train_step(state, rollout)
    return state


def learn_logged(state, batches, every):
    state = jax_utils.replicate(state)
    for step, batch in enumerate(batches):
        state, metrics = train_step(state, batch)
        if step % every == 0:
            print(jax_utils.unreplicate(metrics))
    return jax_utils.unreplicate(state)
