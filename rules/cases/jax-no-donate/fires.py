import jax


def train_step(state, batch):
    return state


def update_step(state, batch):
    return state


step = jax.jit(train_step)  # expect: jax-no-donate
parallel = jax.pmap(train_step, axis_name="batch")  # expect: jax-no-donate
update = jax.jit(update_step, static_argnums=(1,))  # expect: jax-no-donate
