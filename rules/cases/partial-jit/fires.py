import equinox as eqx
import jax
import optax


def loss_fn(params, batch):
    return ((params * batch) ** 2).mean()


grad_fn = jax.jit(jax.value_and_grad(loss_fn))  # expect: partial-jit
only_grad = jax.jit(jax.grad(loss_fn, argnums=0))  # expect: partial-jit
filtered = eqx.filter_jit(eqx.filter_value_and_grad(loss_fn))  # expect: partial-jit
