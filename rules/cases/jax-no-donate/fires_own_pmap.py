import jax
import optax

from package.parallel import pmap, replicate


class Trainer:
    def __init__(self, model):
        self.train_step = pmap(make_training_step(model, optax.adam(1e-3)))  # expect: jax-no-donate
        self.evaluate = pmap(make_evaluation(model))
