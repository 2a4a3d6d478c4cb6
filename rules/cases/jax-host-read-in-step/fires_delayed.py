import jax
import jax.numpy as jnp


@jax.jit
def update_critic(params, batch):
    loss, grads = jax.value_and_grad(lambda p: jnp.mean((batch @ p) ** 2))(params)
    return params - 0.1 * grads, loss


@jax.jit
def improve(params, batch):
    loss, grads = jax.value_and_grad(lambda p: jnp.mean(batch @ p))(params)
    return params - 0.1 * grads, loss


def train(actor, critic, batches, delay):
    for step, batch in enumerate(batches):
        critic, loss = update_critic(critic, batch)
        if step % delay == 0:
            for _ in range(delay):  # as often as the critic, only later
                actor, gain = improve(actor, batch)
                note(float(gain))  # expect: jax-host-read-in-step
    return actor, critic


train(make_actor(), make_critic(), load(), 2)
