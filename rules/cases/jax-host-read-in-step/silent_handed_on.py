import jax
import jax.numpy as jnp
import numpy as np
import wandb


@jax.jit
def improve(actor, batch):
    loss, grads = jax.value_and_grad(lambda p: jnp.mean((p * batch) ** 2))(actor)
    return actor - 0.1 * grads, {"loss": loss, "error": grads}


def batches(key, data):
    while True:
        key, part = jax.random.split(key)
        order = np.asarray(jax.random.permutation(part, len(data)))  # once for all that it yields
        for i in range(0, len(data), 32):
            yield data[order[i : i + 32]]


def report(step, metrics):
    wandb.log({f"train/{k}": v for k, v in metrics.items()})


def write(step, **scalars):
    return {k: round(float(v), 6) for k, v in scalars.items()}


class Memory:
    def __init__(self):
        self.rewards = np.zeros(100)

    def keep(self, index, reward):
        self.rewards[index] = reward


class PauseCallback:
    def __call__(self, step, rate):
        self.last = float(rate)


def train(actor, data, env, rate):
    memory, callbacks = Memory(), [PauseCallback()]
    for step, batch in enumerate(batches(jax.random.PRNGKey(0), data)):
        actor, info = improve(actor, batch)
        _, reward, done, _ = env.step(step)
        memory.keep(step, reward)  # the environment runs on the host
        for callback in callbacks:
            callback(step, rate)
        if step % 100 == 0:
            report(step, info)
            write(step, loss=info["loss"])
    return actor
