import jax
import jax.numpy as jnp


def train(step, params, batches):
    for batch in batches:
        for d in jax.devices():  # expect: device-loop
            loss, params = step(jax.device_put(params, d), batch)
        params = jax.tree.map(jnp.mean, params)


class ReplicaTrainer:
    """One replica after the other, from one process."""

    def training_step(self, batch):
        parts = jnp.split(batch, jax.local_device_count())
        gradients = []
        for device in jax.local_devices():  # expect: device-loop
            part = jax.device_put(parts[len(gradients)], device)
            gradients.append(self.grad_fn(self.params[device], part))
        return jax.tree.map(lambda *g: sum(g) / len(g), *gradients)


def run(optimizer, state, loader, loss_fn):
    for step, batch in enumerate(loader):
        loss, grads = jax.value_and_grad(loss_fn)(state, batch)
        state = optimizer.update(grads, state)
        for dev in jax.devices():  # expect: device-loop
            state[dev.id] = jax.device_put(state[0], dev)
    return state
