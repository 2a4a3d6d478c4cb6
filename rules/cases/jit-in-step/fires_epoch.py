"""Compiled in each pass of the loop around the steps, for that pass alone."""
import functools

import equinox as eqx
import jax


class Trainer:
    def train_epoch(self, params, loader):
        step = jax.jit(lambda p, b: self.update(p, b))  # expect: jit-in-step
        for batch in loader:
            params = step(params, batch)
            grads = jax.grad(self.loss)(params, batch)
            self.optimizer.update(grads)
        return params

    def fit(self, params, loader):
        for epoch in range(self.epochs):
            params = self.train_epoch(params, loader)


def sample(params, prompt):
    params = jax.jit(lambda x: x, out_shardings=None)(params)  # expect: jit-in-step
    return generate(params, prompt)


def train_policy(params, state, prompts):
    for iteration in range(1000):
        tokens = sample(params, prompts)
        for part in split(tokens):
            grads = eqx.filter_grad(loss)(params, part)
            params, state = update(params, state, grads)


if __name__ == "__main__":
    Trainer().fit(start(), load())
    train_policy(start(), None, load())
