import jax
from flax import nnx


@nnx.jit
def train_step(model, optimizer, batch):
    loss, grads = nnx.value_and_grad(loss_fn)(model, batch)
    optimizer.update(model, grads)
    return loss


def run(optimizer, model, loader, steps):
    while optimizer.step.value.item() < steps:  # expect: jax-host-read-in-step
        train_step(model, optimizer, next(loader))


def count(optimizer, model, batches):
    for batch in batches:
        train_step(model, optimizer, batch)
        step = int(optimizer.step.value)  # expect: jax-host-read-in-step
        if step > 1000:
            return step
    return 0


class Solver:
    @jax.jit
    def _step(self, graph, state):
        return state.replace(cost=cost_of(graph, state))

    def solve(self, graph, state, limit):
        for i in range(limit):
            state = self._step(graph, state)
            print(f"{i}: {state.cost}")  # expect: jax-host-read-in-step
        return state
