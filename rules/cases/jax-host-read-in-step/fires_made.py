"""Steps that were made elsewhere: what they replace says what they are."""
import jax
import numpy as np

import trees
from steps import make_loss, make_step


def train(params, opt_state, batches):
    step = make_step()
    for i in range(1000):
        params, opt_state, loss, norm, scale = step(params, opt_state, next(batches))
        log(loss.item())  # expect: jax-host-read-in-step
        history.append(np.asarray(norm))  # expect: jax-host-read-in-step
        print(f"step {i}: {scale}")  # expect: jax-host-read-in-step


def train_state(state, batches):
    update_step = make_step()
    for i in range(1000):
        state, metrics = update_step(state, next(batches))
        log(float(metrics["loss"]))  # expect: jax-host-read-in-step
        keep(trees.to_numpy(metrics))  # expect: jax-host-read-in-step


def train_in_parts(params, opt_state, optimizer, batches, accumulate_steps):
    loss_fn = make_loss()
    for i in range(1000):
        for _ in range(accumulate_steps):
            loss, grads = loss_fn(params, next(batches))
            updates, opt_state = optimizer.update(grads, opt_state)
            params = apply(params, updates)
        print(float(loss))  # expect: jax-host-read-in-step


class Trainer:
    def __init__(self):
        self.step = jax.jit(self.update)

    def update(self, state, batch):
        loss, grads = jax.value_and_grad(self.loss)(state.params, batch)
        return state.apply_gradients(grads=grads), loss

    def fit(self, loader):
        for i, batch in enumerate(loader):
            self.state, loss = self.step(self.state, batch)
            print("step", i, loss)  # expect: jax-host-read-in-step


class Agent:
    def __init__(self):
        self.compiled = jax.jit(self.learn)

    def train(self, loader):
        for batch in loader:
            self.state, outputs = self.compiled(self.state, batch)
            loss, grads = jax.value_and_grad(self.loss)(self.state.params, batch)
            outputs = self.take_out(outputs)

    def take_out(self, value):
        value = jax.device_get(value)  # expect: jax-host-read-in-step
        return value


if __name__ == "__main__":
    Agent().train(load())
    train(start(), None, load())
    train_state(start(), load())
    train_in_parts(start(), None, None, load(), 4)
    Trainer().fit(load())
