import jax


def run(loss_fn, params, batches):
    loss_fn = jax.jit(loss_fn)
    for batch in batches:
        loss = loss_fn(params, batch)
    return loss
