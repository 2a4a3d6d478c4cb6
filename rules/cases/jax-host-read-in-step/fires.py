from functools import partial

import chex
import jax
import jax.numpy as jnp
import numpy as np
import optax


@jax.jit
def train_step(params, batch):
    grads = jax.grad(lambda p: jnp.sum(p))(params)
    return optax.apply_updates(params, grads), jnp.sum(params)


def train(params, batches):
    for batch in batches:
        params, loss = train_step(params, batch)
        print(float(loss))  # expect: jax-host-read-in-step


def train_with_history(params, batches):
    history = []
    for batch in batches:
        params, loss = train_step(params, batch)
        history.append(loss.tolist())  # expect: jax-host-read-in-step
    return history


class Trainer:
    def train_epoch(self, batches):
        for batch in batches:
            self.state = self._execute_train_step(self.state, batch)

    def _execute_train_step(self, state, batch):
        batch, rewards = self._prepare_rewards(batch)
        return self.compiled_step(state, batch)

    def _prepare_rewards(self, batch):
        rewards = jnp.asarray(batch["rewards"])
        return batch, {"reward_mean": float(jnp.nanmean(rewards))}  # expect: jax-host-read-in-step


def train_with_tree(params, batches):
    history = []
    for batch in batches:
        params, loss = train_step(params, batch)
        history.append(jax.tree_util.tree_map(np.asarray, loss))  # expect: jax-host-read-in-step
        history.append(jax.tree.map(lambda v: v.item(), loss))  # expect: jax-host-read-in-step
    return history


def read_leaf(x):
    if isinstance(x, jax.Array):
        return np.asarray(x)  # expect: jax-host-read-in-step
    return x


def train_with_reads(params, batches):
    for batch in batches:
        params, loss = train_step(params, batch)
        print(read_leaf(loss).shape)


def parallel_step(state, batch):
    gradient = jax.value_and_grad(state.loss)
    loss, grads = gradient(state.params, batch)
    return state.apply_gradients(grads=grads), {"loss": loss}


def train_in_parallel(state, batches):
    p_parallel_step = jax.pmap(parallel_step, axis_name="batch")
    for step, batch in zip(range(1000), batches):
        state, metrics = p_parallel_step(state, batch)
        print(metrics["loss"].mean().item())  # expect: jax-host-read-in-step
    return state


def scanned_update(state, batch):
    gradient = jax.value_and_grad(state.loss)

    def one(carry, part):
        loss, grads = gradient(carry, part)
        return carry - 0.1 * grads, loss

    params, losses = jax.lax.scan(one, state.params, batch)
    return params, losses.mean()


def train_by_scans(state, batches):
    many_updates = jax.pmap(scanned_update, axis_name="devices")
    for batch in batches:
        state, loss = many_updates(state, batch)
        print(loss[-1].item())  # expect: jax-host-read-in-step


def train_with_metrics(params, batches, writer):
    best = []
    for batch in batches:
        params, loss = train_step(params, batch)
        metrics = {"loss": loss}
        writer.write({k: float(v) for k, v in metrics.items()})  # expect: jax-host-read-in-step
        best.append(np.mean(loss))  # expect: jax-host-read-in-step
    return best


class Agent:
    def train(self, batch):
        self.state, metrics = self._update(self.state, batch)
        return {name: value.item() for name, value in metrics.items()}  # expect: jax-host-read-in-step

    @partial(jax.jit, static_argnames="self")
    def _update(self, state, batch):
        loss, grads = jax.value_and_grad(self.loss)(state.params, batch)
        return state.apply_gradients(grads=grads), dict(loss=loss)


def run(config, replay):
    agent = Agent(config)
    for _ in range(config.steps):
        agent.train(replay.sample())


def train_with_norm(state, step, loader, logger):
    for batch in loader:
        state, grads = step(state, batch)
        logger.write({"norm": float(optax.global_norm(grads))})  # expect: jax-host-read-in-step
    return state


def train_with_state(step_fn, params, opt_state, data, steps):
    for _ in range(steps):
        result = step_fn(params, opt_state, data)
        params, opt_state, data, stats = result
        host_stats = jax.tree_util.tree_map(lambda x: jax.device_get(x)[0], stats)  # expect: jax-host-read-in-step
        print(host_stats)
    return params


class Learner:
    def __init__(self, sgd_step, iterator, state, logger):
        self._sgd_step = jax.jit(sgd_step)
        self._iterator, self._state, self._logger = iterator, state, logger

    def step(self):
        self._state, results = self._sgd_step(self._state, next(self._iterator))
        results = {k: np.array(v) for k, v in results.items()}  # expect: jax-host-read-in-step
        self._logger.write(results)


def run_learner(learner, steps):
    for _ in range(steps):
        learner.step()


def train_checked(params, batches, optim, state):
    for batch in batches:
        grads = jax.grad(loss_fn)(params, batch)
        updates, state = optim.update(grads, state)
        params = optax.apply_updates(params, updates)
        chex.assert_tree_all_finite(params)  # expect: jax-host-read-in-step


def take_rows(data, starts, length):
    return jnp.stack([data[i : i + length] for i in starts])  # expect: jax-host-read-in-step


def fit_rows(params, state, data, key, optim):
    for epoch in jnp.arange(100):  # expect: jax-host-read-in-step
        batch = take_rows(data, jax.random.randint(key, (8,), 0, 1000), 64)
        updates, state = optim.update(jax.grad(loss_fn)(params, batch), state)
        params = optax.apply_updates(params, updates)
    return params
