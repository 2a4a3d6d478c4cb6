import jax
import jax.numpy as jnp
import numpy as np
import optax


@jax.jit
def train_step(params, batch):
    return params, jnp.sum(params)


def train(params, batches):
    for i, batch in enumerate(batches):
        params, loss = train_step(params, batch)
        if i % 100 == 0:
            print(float(loss))
    return float(loss)


def train_with_host_batches(params, batches):
    for step, batch in enumerate(batches):
        batch = jax.tree_util.tree_map(np.asarray, batch)
        params, loss = train_step(params, batch)
        if step % 100 == 0:
            print(jax.tree_util.tree_map(np.asarray, loss))


def fetch_array(x):
    if isinstance(x, jax.Array):
        return np.asarray(x)  # for loggers and actors, who ask for it
    return x


def first_of(tree, as_numpy: bool = True):
    leaves = jax.tree_util.tree_map(lambda x: x[0], tree)
    return jax.device_get(leaves) if as_numpy else leaves


def learn(params, batches):
    for batch in batches:
        grads = jax.grad(train_step)(params, batch)
        params = optax.apply_updates(params, grads)
        first_of(params, as_numpy=False)
    return params


def describe_leaf(x):
    # Nobody is seen to call it: it may run once.
    if isinstance(x, jax.Array):
        return np.asarray(x).tolist()
    return x


class Feed:
    def next_seed(self, rng):
        if self._seed is None:
            self._seed = int(jax.random.fold_in(rng, 3)[0])  # made once
        return self._seed


def train_and_report(params, batches, config, total_steps):
    for step, batch in enumerate(batches):
        params = optax.apply_updates(params, jax.grad(train_step)(params, batch))
        if config.only_eval or utils.itstime(step, config.log_eval_steps, total_steps):
            norm = jnp.linalg.norm(params["w"])
            print(np.asarray(norm))
    return params


class Family:
    def mean(self, params):
        return jax.grad(self.log_partition)(params)  # a formula, no training

    def log_partition(self, params):
        return jax.nn.logsumexp(params)


def compare(family, params, other):
    distance = jnp.abs(family.mean(params) - family.mean(other)).sum()
    return float(distance)


def report_distances(family, found):
    return [compare(family, a, b) for a, b in found]
