import time

import jax
import optax


def train(step, params, opt_state, batches):
    for i, batch in enumerate(batches):
        params, opt_state, loss = step(params, opt_state, batch)
        params = optax.apply_updates(params, opt_state)
        if i % 100 == 0:
            jax.block_until_ready(loss)
    jax.block_until_ready(params)
    return params


def benchmark_step(step, x):
    for _ in range(10):
        start = time.perf_counter()
        jax.block_until_ready(step(x))
    return start


def run_experiment(learn, state, config):
    for eval_step in range(config.num_evaluations):
        state = learn(state)  # thousands of steps in one call
        jax.block_until_ready(state)


class ScoreEvaluator:
    def run(self):
        while not self.stopped():
            params = jax.block_until_ready(self.next_params())  # once an evaluation
            self.report(self.evaluate(params))


def train_bounded(step, params, opt_state, batches, pending_queue):
    for batch in batches:
        params, opt_state, loss = step(params, opt_state, batch)
        params = optax.apply_updates(params, opt_state)
        if pending_queue.full():
            jax.block_until_ready(pending_queue.get())  # the oldest of what is under way
        pending_queue.put(loss)
    return params


def train_epochs(epoch, state, evaluator, eval_timer, n):
    for _ in range(n):
        with eval_timer:
            metrics = evaluator.run_evaluation(state.params)
            jax.block_until_ready(metrics)
        state = epoch(state)
        state = state.replace(params=optax.apply_updates(state.params, state.updates))
