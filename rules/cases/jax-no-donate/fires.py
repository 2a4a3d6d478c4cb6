from functools import partial

import equinox as eqx
import jax
import optax
from flax import nnx
from jax.experimental.pjit import pjit


def train_step(state, batch):
    return state


def update_step(state, batch):
    return state


step = jax.jit(train_step)  # expect: jax-no-donate
parallel = jax.pmap(train_step, axis_name="batch")  # expect: jax-no-donate
update = jax.jit(update_step, static_argnums=(1,))  # expect: jax-no-donate


def build(train_step):
    return pjit(train_step, in_axis_resources=None, out_axis_resources=None)  # expect: jax-no-donate


@jax.jit  # expect: jax-no-donate
def train_step_of_model(state, batch):
    return state


@partial(jax.pmap, axis_name="batch")  # expect: jax-no-donate
def train_step_on_all(state, batch):
    return state


@jax.jit  # expect: jax-no-donate
def update_epoch(state, batches):
    return state


@nnx.jit  # expect: jax-no-donate
def train_step(optimizer, inputs):
    loss, grads = nnx.value_and_grad(loss_of)(optimizer.model, inputs)
    optimizer.update(grads)
    return loss


def train_partly(update, cost, batches, params, opt_state):
    compiled = jax.jit(partial(update, cost=cost))  # expect: jax-no-donate
    for batch in batches:
        params, opt_state = compiled(params, opt_state, batch)
    return params


class Learner:
    def learn(self, update, batches):
        self.compiled = jax.pmap(update, axis_name="batch")  # expect: jax-no-donate
        for batch in batches:
            self.params, loss = self.compiled(self.params, batch)


class Agent:
    @checked
    @partial(jax.jit, static_argnums=0)  # expect: jax-no-donate
    def _learn(self, state, batch):
        grads = jax.grad(self.loss)(state.params, batch)
        return state.apply_gradients(grads=grads)


def make(optim):
    def sgd(params, state, batch):
        updates, state = optim.update(jax.grad(loss)(params, batch), state)
        return optax.apply_updates(params, updates), state

    return jax.jit(sgd)  # expect: jax-no-donate


def make_kept(optim):
    def sgd(params, state, batch):
        updates, state = optim.update(jax.grad(loss)(params, batch), state)
        return optax.apply_updates(params, updates), state

    compiled = jax.jit(sgd, donate_argnums=())  # expect: jax-no-donate
    return compiled


@jax.jit  # expect: jax-no-donate
def _update_jit(rng, actor, critic, target_critic, batch):
    new_critic, info = update_q(critic, target_critic, batch)
    new_actor, more = update_actor(actor, new_critic, batch)
    return rng, new_actor, new_critic, soft_update(new_critic, target_critic), {**info, **more}


class Learner:
    @jax.jit  # expect: jax-no-donate
    def update(self, batch):
        network, info = self.network.apply_loss_fn(self.loss)
        return self.replace(network=network), info

    @classmethod
    @partial(jax.jit, static_argnames=["cls", "steps"])  # expect: jax-no-donate
    def _train(cls, steps, data, critic_state, actor_state, key):
        for _ in range(steps):
            critic_state, key = cls.update_critic(critic_state, data, key)
            actor_state, key = cls.update_actor(actor_state, data, key)
        return critic_state, actor_state, key


@nnx.jit  # expect: jax-no-donate
def tune(model, optimizer, batch):
    loss, grads = nnx.value_and_grad(loss_fn)(model, batch)
    optimizer.update(model, grads)
    return loss


class Runner:
    def __init__(self, settings):
        self.update_fn = jax.pmap(partial(jax.lax.scan, update))  # expect: jax-no-donate


def prepare(settings):
    train_batch_fn = eqx.filter_jit(make_computer(settings))  # expect: jax-no-donate
    return train_batch_fn


def fit_rest(params, opt_state, batches, rng):
    """The key is donated, and what is large is not."""
    update = jax.pmap(make_update(), axis_name="batch", donate_argnums=(3,))  # expect: jax-no-donate
    for batch in batches:
        params, opt_state, loss, rng = update(params, opt_state, batch, rng)
    return params
