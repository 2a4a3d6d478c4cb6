import functools

import jax


def setup():
    for d in jax.devices():
        print(d)


def train(step, params, batches):
    names = [d.platform for d in jax.devices()]
    for batch in batches:
        params = step(params, batch)
    return params, names


def replicate(params):
    """Once, before the first step."""
    copies = []
    for device in jax.local_devices():
        copies.append(jax.device_put(params, device))
    return copies


def fit(train_step, state, batches, mesh):
    sharding = jax.sharding.NamedSharding(mesh, jax.sharding.PartitionSpec("data"))
    for batch in batches:
        state = train_step(state, jax.device_put(batch, sharding))
    for device in jax.devices():
        print(device, device.memory_stats())
    return state


class Experiment:
    @functools.cached_property
    def grid(self):
        return placed(jax.devices())

    def train_step(self, state, batch):
        with self.grid:
            return self.update(state, batch)


def placed(devices):
    out = {}
    for device in jax.devices():
        out[tuple(device.coords)] = device
    return out
