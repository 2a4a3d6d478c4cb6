"""The first read of an array waits; what is read again has been kept."""

import jax
import numpy as np


@jax.jit
def update(params, opt_state, batch):
    return params, opt_state, loss_fn(params, batch)


def train(params, opt_state, batches):
    for batch in batches:
        params, opt_state, loss = update(params, opt_state, batch)
        history.append(float(loss))  # expect: jax-host-read-in-step
        print(f"loss {loss} and again {np.asarray(loss)}")
        params, opt_state, loss = update(params, opt_state, batch)
        print(f"loss {loss}")  # expect: jax-host-read-in-step


def train_and_choose(params, opt_state, batches, verbose):
    for batch in batches:
        params, opt_state, loss = update(params, opt_state, batch)
        if batch.tells:
            tell(float(loss))  # expect: jax-host-read-in-step
        history.append(loss.item())  # expect: jax-host-read-in-step


if __name__ == "__main__":
    train(make(), None, load())
    train_and_choose(make(), None, load(), False)
