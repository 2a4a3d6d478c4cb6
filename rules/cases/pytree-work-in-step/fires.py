import equinox as eqx
import jax
import optax


def train(model, optim, opt_state, batches):
    for x in batches:
        params, static = eqx.partition(model, eqx.is_array)  # expect: pytree-work-in-step
        params, opt_state = step(params, opt_state, x)
        model = eqx.combine(params, static)  # expect: pytree-work-in-step
        leaves, tree = jax.tree_util.tree_flatten(model)  # expect: pytree-work-in-step
        updates, opt_state = optim.update(leaves, opt_state)
        model = optax.apply_updates(model, updates)
