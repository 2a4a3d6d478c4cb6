import jax


def run(loss_fn, params, batches):
    for batch in batches:
        loss = jax.jit(loss_fn)(params, batch)  # expect: jit-in-step
    return loss
