import functools

import equinox as eqx
import jax
import optax


def loss_fn(params, batch):
    return ((params * batch) ** 2).mean()


def train(params, batches, optim, state):
    for batch in batches:
        grads = jax.jit(jax.grad(loss_fn))(params, batch)  # expect: jit-in-step
        updates, state = optim.update(grads, state)
        params = optax.apply_updates(params, updates)


def fit(step, params, batches):
    for batch in batches:
        fast = jax.jit(step)  # expect: jit-in-step
        params = fast(params, batch)


def run(model, data):
    for x in data:
        model = eqx.filter_jit(update)(model, x)  # expect: jit-in-step
    return model


def descend(params, batches, scale):
    for batch in batches:
        def scaled(p, x):
            return scale * loss_fn(p, x)

        value = jax.jit(scaled)(params, batch)  # expect: jit-in-step
        params = optax.apply_updates(params, jax.grad(loss_fn)(params, batch))
    return params, value


class Simulator(eqx.Module):
    scale: jax.Array

    def forces(self, x):
        @eqx.filter_jit  # expect: jit-in-step
        def pulled(y):
            return y * self.scale

        return pulled(x)


def train_nested(params, batches, optim, state):
    for batch in batches:
        @functools.partial(jax.jit, static_argnums=0)  # expect: jit-in-step
        def scaled(n, p):
            return n * loss_fn(p, batch)

        grads = jax.grad(lambda p: scaled(2, p))(params)
        updates, state = optim.update(grads, state)
        params = optax.apply_updates(params, updates)


def train_simulator(simulator, batches, optim, state):
    for batch in batches:
        grads = jax.grad(lambda m: simulator.forces(batch).sum())(simulator)
        updates, state = optim.update(grads, state)
        simulator = eqx.apply_updates(simulator, updates)


class Algorithm:
    def update_params(self, params, batch, model):
        update_fn = functools.partial(update_with, cost=model.cost)
        compiled = jax.jit(update_fn)  # expect: jit-in-step
        return compiled(params, batch)

    def learn(self, batches, params, model):
        for step in range(100):
            params = self.update_params(params, next(batches), model)
        return params


def update_with(params, batch, cost):
    grads = jax.grad(cost)(params, batch)
    return jax.tree_util.tree_map(lambda p, g: p - 0.1 * g, params, grads)


def run_chains(kernel, keys, states):
    drawn = []
    for key in keys:
        states = jax.jit(jax.vmap(kernel))(key, states)  # expect: jit-in-step
        drawn.append(states)
    return drawn


def cell(kernel, weights, times):
    return jax.jit(jax.vmap(functools.partial(kernel, weights)))(times)  # expect: jit-in-step
