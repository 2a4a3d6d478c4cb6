"""Loops whose steps are made elsewhere, compiled under a second name, or called by keywords."""

import jax
import numpy as np
import wandb
from flax import nnx


class Workspace:
    def run(self):
        update_fn = self.trainer.create_update_fn()
        while self.iteration < self.trainer.iterations:
            loss, extra, *self.states = update_fn(self.sample(), *self.states)
            self.meter.update(loss.item())  # expect: jax-host-read-in-step
            self.iteration += 1


def main(params, batches, rate):
    gradient = jax.value_and_grad(loss_fn)
    compiled = jax.jit(gradient)
    for batch in batches:
        loss, grads = compiled(params, batch)
        # loss.item() would do the same
        wandb.log({"loss": loss})  # expect: jax-host-read-in-step
        params = jax.tree.map(lambda p, g: p - rate * g, params, grads)


def fit(update, params, opt_state, loader):
    for batch in loader:
        loss, params, opt_state = update(params=params, opt_state=opt_state, batch=batch)
        print(f"loss {loss}")  # expect: jax-host-read-in-step


def act(agent, params, opt_state, loader):
    for batch in loader:
        params, opt_state = update(params, opt_state, batch)
        actions = np.asarray(agent.choose(batch.observations))  # expect: jax-host-read-in-step
        keep(actions, float(agent.mean_loss))  # expect: jax-host-read-in-step


class Convolution(nnx.Module):
    def __call__(self, messages, receivers, nodes):
        gathered = jax.ops.segment_sum(messages, receivers)  # expect: jax-host-read-in-step
        return gathered + jax.ops.segment_max(messages, receivers, num_segments=nodes)


if __name__ == "__main__":
    Workspace().run()
    main(make(), load(), 0.1)
    fit(make_update(), make(), None, load())
    act(make_agent(), make(), None, load())
