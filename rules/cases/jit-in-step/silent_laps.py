"""Whole trainings that are handed to a cluster, one after the other: each compiles once."""

from functools import partial

import jax


def train(lap):
    params, opt_state = load(lap)

    @jax.jit
    def sgd_step(params, opt_state, batch):
        grads = jax.grad(loss_fn)(params, batch)
        updates, opt_state = optimizer.update(grads, opt_state, params)
        return optax.apply_updates(params, updates), opt_state

    for batch in batches(lap):
        params, opt_state = sgd_step(params, opt_state, batch)
    save(lap, params)


if __name__ == "__main__":
    jobs = []
    for lap in range(32):
        jobs.append(job(partial(train, lap=lap), name=f"train_{lap}"))
    schedule(*jobs)
