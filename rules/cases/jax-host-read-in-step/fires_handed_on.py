import jax
import jax.numpy as jnp
import numpy as np
import wandb


@jax.jit
def improve(actor, batch):
    loss, grads = jax.value_and_grad(lambda p: jnp.mean((p * batch) ** 2))(actor)
    return actor - 0.1 * grads, {"loss": loss, "error": grads}


@jax.jit
def judge(actor, batch):
    return actor * batch


class Agent:
    def __init__(self):
        self.actor = jnp.zeros((3,))

    def update(self, batch):
        self.actor, info = improve(self.actor, batch)
        return info

    def values(self, batch):
        return judge(self.actor, batch)


def report(step, metrics):
    print(metrics["loss"])  # expect: jax-host-read-in-step
    wandb.log({f"train/{k}": v for k, v in metrics.items()})  # expect: jax-host-read-in-step


def write(step, **scalars):
    return {k: round(float(v), 6) for k, v in scalars.items()}  # expect: jax-host-read-in-step


class StopCallback:
    def __call__(self, step, metrics):
        self.last = float(metrics["loss"])  # expect: jax-host-read-in-step


class Memory:
    def __init__(self):
        self.errors = np.zeros(100)
        self.key = "loss"

    def keep(self, index, error):
        self.errors[index] = error  # expect: jax-host-read-in-step

    def best(self, metrics):
        return float(metrics[self.key])  # expect: jax-host-read-in-step


def train(batches):
    agent, memory, callbacks = Agent(), Memory(), [StopCallback()]
    for step, batch in enumerate(batches):
        info = agent.update(batch)
        if float(agent.values(batch).max()) > 1e5:  # expect: jax-host-read-in-step
            break
        first = float(info["error"][0])  # expect: jax-host-read-in-step
        report(step, info)
        write(step, loss=info["loss"])
        for callback in callbacks:
            callback(step, info)
        memory.keep(step, info["loss"])
        memory.best(info)
    return first


if __name__ == "__main__":
    train(load())
