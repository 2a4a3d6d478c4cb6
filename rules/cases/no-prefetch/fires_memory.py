"""Batches that are drawn from a memory when the step asks for them."""
import jax


@jax.jit
def update(state, batch):
    loss, grads = jax.value_and_grad(loss_fn)(state.params, batch)
    return state.apply_gradients(grads=grads), loss


def train(state, rb, args):
    for _ in range(args.total_timesteps):
        batch = rb.sample(args.batch_size)  # expect: no-prefetch
        state, loss = update(state, batch)
        batch = offline_dataset.sample(batch_size=args.batch_size, idxs=None)  # expect: no-prefetch
        state, loss = update(state, batch)
    return state
