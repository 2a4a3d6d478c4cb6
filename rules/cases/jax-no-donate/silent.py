from functools import partial

import jax


def train_step(state, batch):
    return state


def eval_fn(params, batch):
    return params


step = jax.jit(train_step, donate_argnums=(0,))
named = jax.jit(train_step, donate_argnames=("state",))
evaluate = jax.jit(eval_fn)


def compiled(train_step, **options):
    return jax.jit(train_step, **options)


@partial(jax.jit, donate_argnums=(0,))
def train_step_that_donates(state, batch):
    return state


@partial(jax.pmap, axis_name="batch", donate_argnames=("state",))
def train_step_on_all(state, batch):
    return state


@jax.jit
def eval_step(params, batch):
    return params


class Runner:
    """The state is donated where it is replaced; evaluation needs it again."""

    def __init__(self, update, evaluate):
        self.update = jax.jit(update, donate_argnums=0)
        self.evaluate = jax.jit(evaluate)

    def fit(self, state, batches):
        for batch in batches:
            state = self.update(state, batch)
        return state, self.evaluate(state.params, batches[0])


def gradients_only(loss_fn):
    grad_fn = jax.jit(jax.grad(loss_fn))
    return lambda params, batch: grad_fn(params, batch)


def sample(generate, params, key):
    generate = jax.jit(generate, static_argnames="length")
    return generate(params, key, length=128)


@partial(jax.jit, static_argnums=2)
def valid_step_fn(state, batch, model):
    return metrics_of(model.apply(state.params, batch["x"]), batch["y"])


def play(update, environment, batches, params, state):
    act = jax.jit(update)
    donated = jax.jit(update, donate_argnums=0)
    for batch in batches:
        action = act(params, batch)
        state, reward = environment(state, action)
        params = donated(params, batch)
    return params


@jax.jit
def soft_target_update(critic, target_critic, tau):
    new_target_critic = jax.tree.map(lambda a, b: tau * a + (1 - tau) * b, critic, target_critic)
    return new_target_critic


class Sampler:
    @jax.jit
    def sample_actions(self, observations):
        key, used = jax.random.split(self.key)
        return act(self.params, observations, used), self.replace(key=key)

    @partial(jax.jit, donate_argnums=0)
    def update(self, batch):
        return self.replace(network=learn(self.network, batch)), {}


def prepare(settings, env):
    train_jit = jax.jit(make_train(settings))
    env_step = jax.jit(jax.vmap(env.step))
    evaluate_batch = jax.jit(make_evaluation(settings))
    return train_jit, env_step, evaluate_batch


def fit_donated(params, opt_state, batches, rng):
    update = jax.pmap(make_update(), axis_name="batch", donate_argnums=(0, 1))
    for batch in batches:
        params, opt_state, loss, rng = update(params, opt_state, batch, rng)
    return params
