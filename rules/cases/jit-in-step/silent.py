import functools

import jax
import optax


def loss_fn(params, batch):
    return ((params * batch) ** 2).mean()


def train_and_evaluate(config, params, batches, state, optim):
    step = jax.jit(train_step)
    evaluate = jax.pmap(eval_step)
    for batch in batches:
        params, state = step(params, state, batch)
    return evaluate(params)


def train_step(params, state, batch):
    grads = jax.grad(loss_fn)(params, batch)
    return optax.apply_updates(params, grads), state


def eval_step(params):
    return params.mean()


@functools.lru_cache
def compiled(shape):
    return jax.jit(loss_fn)


@jax.jit
def decorated(x):
    return x


class Learner:
    def __init__(self, params, num_steps):
        gradient = jax.value_and_grad(loss_fn)

        def update(params, batch):
            loss, grads = gradient(params, batch)
            return optax.apply_updates(params, grads), loss

        self.params = params
        self.update = jax.jit(update)  # built once, with the learner


class Model:
    def train_step(self, batch, key):
        step = self.steps.get(key)
        if step is None:
            step = jax.jit(self.update, static_argnames=key)
            self.steps[key] = step
        return jax.grad(loss_fn)(self.params, step(batch))


def get_gradient_fn(loss, compiled=True):
    gradient = jax.grad(loss)
    if compiled:
        gradient = jax.jit(gradient)

    def of_pair(pair):
        return gradient(pair)

    return of_pair


def decay(params):
    return jax.tree.map(lambda p: 0.99 * p, params)


def fit(params, batches, state, optim):
    average = optim.init(params)
    for batch in batches:
        grads = jax.grad(loss_fn)(params, batch)
        updates, state = optim.update(grads, state)
        params = optax.apply_updates(params, updates)
        average = jax.jit(decay)(average)  # the same function each time: compiled once
        start = jax.pmap(optim.init)(params)
    return params, average, start


def staged(method, compiled, key):
    def decorated(instance, state, batch):
        step = compiled.get(key)
        if step is None:
            step = jax.pmap(method)
            compiled[key] = step
        return optax.apply_updates(state, step(instance, batch))

    return decorated


def compare(optimizers, params, batch, steps):
    for optimizer in optimizers:
        state = optimizer.init(params)

        @jax.jit  # once per optimizer, before its steps
        def step(p, s):
            updates, s = optimizer.update(jax.grad(loss_fn)(p, batch), s)
            return optax.apply_updates(p, updates), s

        for _ in range(steps):
            params, state = step(params, state)


def sweep(blocks, x, repeats):
    for block in blocks:
        compiled = jax.jit(lambda y: y.reshape(block, -1))
        for _ in range(repeats):
            compiled(x)


@jax.jit
def compiled_step(params, batch):
    @jax.jit  # a part of what is compiled around it
    def inner(p):
        return loss_fn(p, batch)

    return jax.grad(inner)(params)


def run_optax(loss_fn, optimizer, params, steps):
    value_and_grad = jax.jit(jax.value_and_grad(loss_fn))  # once, before its loop
    state = optimizer.init(params)

    @jax.jit
    def step(params, state):
        value, grad = value_and_grad(params)
        updates, state = optimizer.update(grad, state, params)
        return optax.apply_updates(params, updates), state, value

    for _ in range(steps):
        params, state, value = step(params, state)
    return params


def pretrain(loss_fn, optimizer, steps, params, state):
    loss_and_grad = jax.value_and_grad(loss_fn, has_aux=True)

    @functools.partial(jax.pmap, axis_name="devices")
    def step(params, state, batch):
        (_, losses), grads = jax.vmap(loss_and_grad, (None, 0))(params, batch)
        updates, state = optimizer.update(grads, state, params)
        return optax.apply_updates(params, updates), state, losses

    for batch in steps:
        params, state, losses = step(params, state, batch)
        yield params


class Normed(nn.Module):
    def __call__(self, x, train):
        normalize = lambda x: nn.BatchNorm(use_running_average=not train)(x)
        return normalize(x)


def make_learner(network):
    def learn(params, batch):
        return jax.grad(network)(params, batch)

    return jax.jit(learn)


def train(network, params, batches):  # none that the module's flag of that name calls
    learn = make_learner(network)
    for batch in batches:
        params = learn(params, batch)
    return params


class SpectraTrainer:
    def _compute_loss(self, params, x):
        return jnp.mean(self.apply(params, x))

    def train(self, params, state, batches, held_out):
        def train_step(params, state, x):
            loss, grads = jax.value_and_grad(self._compute_loss)(params, x)
            updates, state = self.optimizer.update(grads, state, params)
            return optax.apply_updates(params, updates), state, loss

        train_step = jax.jit(train_step)
        for batch in batches:
            params, state, loss = train_step(params, state, batch)
        return params, self._compute_loss(params, held_out)  # once, behind its steps


def refit(trainer, data):
    return trainer.train(data.params, data.state, data.batches, data.held_out)


def start_training(self, params, opt_state, epochs):
    apply = jax.jit(lambda params, inputs: self.model.apply(params, inputs))
    update = jax.jit(lambda grads, state: optimizer.update(grads, state))
    for epoch in range(epochs):
        grads = gradient(apply, params, sample(epoch))
        updates, opt_state = update(grads, opt_state)
        params = optax.apply_updates(params, updates)
    return params


class Field(nn.Module):
    """Traced when the step that applies it is."""

    @nn.compact
    def __call__(self, rays, samples):
        sample = jax.jit(functools.partial(sample_along, samples=samples))
        return nn.Dense(4)(sample(rays))
