import jax
import optax
from flax import nnx

from package import common
from package.parallel import pmap, replicate


class Trainer:
    def __init__(self, model):
        self.train_step = pmap(make_training_step(model, optax.adam(1e-3)))  # expect: jax-no-donate
        self.evaluate = pmap(make_evaluation(model))


@common.jit_with(static_argnames=["samples"])  # expect: jax-no-donate
def train_step(key, state, samples):
    return state.apply_gradients(grads=gradients(state, key, samples)), {}


class Estimator:
    @jax.jit(static_argnames=["self"])  # expect: jax-no-donate
    def _multi_step(self, state, targets):
        return jax.lax.scan(lambda s, _: (self.step(s, targets), None), state, None, length=10)[0]


def compiled(algorithm):
    train = nnx.jit(algorithm.train, static_argnames=("steps",))  # expect: jax-no-donate
    act = nnx.jit(algorithm.act)
    return train, act
