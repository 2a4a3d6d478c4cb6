import jax


def train_step(state, batch):
    return state


def eval_fn(params, batch):
    return params


step = jax.jit(train_step, donate_argnums=(0,))
named = jax.jit(train_step, donate_argnames=("state",))
evaluate = jax.jit(eval_fn)
