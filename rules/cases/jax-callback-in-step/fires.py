from functools import partial

import equinox as eqx
import jax
import jax.numpy as jnp
import optax
from sampler.util import host_callback


@jax.jit
def train_step(params, opt_state, batch):
    loss, grads = jax.value_and_grad(loss_fn)(params, batch)
    jax.debug.print("loss {}", loss)  # expect: jax-callback-in-step
    updates, opt_state = optimizer.update(grads, opt_state)
    jax.debug.callback(log, loss)  # expect: jax-callback-in-step
    return optax.apply_updates(params, updates), opt_state, loss


def loss_fn(params, batch):
    y = jax.pure_callback(host_fn, batch, batch)  # expect: jax-callback-in-step
    return jnp.mean(y)


def main(params, opt_state, batches):
    for batch in batches:
        params, opt_state, loss = train_step(params, opt_state, batch)


class Agent:
    """Rewards go to the host inside the compiled update."""

    @jax.jit
    def update(self, params, batch):
        loss, grads = jax.value_and_grad(self.loss)(params, batch)
        jax.experimental.io_callback(self.record, None, loss)  # expect: jax-callback-in-step
        return optax.apply_updates(params, grads)

    def fit(self, params, batches):
        for batch in batches:
            params = self.update(params, batch)
        return params


def make_loss(local_energy):
    @jax.custom_jvp
    def total_energy(params, data):
        energy = jnp.mean(local_energy(params, data))
        jax.debug.print("energy {}", energy)  # expect: jax-callback-in-step
        return energy

    return total_energy


@partial(jax.jit, static_argnames=("config",))
def regret_step(regrets, strategy, key, config):
    payoffs = simulate(regrets, strategy, key)
    jax.debug.print("payoffs {}", payoffs[0])  # expect: jax-callback-in-step
    return regrets + payoffs, strategy


class RegretTrainer:
    def train(self, iterations):
        for i in range(self.iteration + 1, iterations + 1):
            self.key, key = jax.random.split(self.key)
            self.regrets, self.strategy = regret_step(self.regrets, self.strategy, key, self.config)


if __name__ == "__main__":
    RegretTrainer().train(10)


def update(state, size):
    energy = kinetic(state) + potential(state)
    host_callback.id_print(energy, what="energy")  # expect: jax-callback-in-step
    return advance(state, size)


def make_losses(network):
    def policy_loss(params, data):
        jax.debug.print("reward {}", data.reward)  # expect: jax-callback-in-step
        return network.loss(params, data)

    return policy_loss


class Trainer:
    @eqx.filter_jit
    def train_batch(self, policy, opt_state, batch):
        loss, grads = eqx.filter_value_and_grad(self.loss)(policy, batch)
        updates, opt_state = self.optimizer.update(grads, opt_state)
        updates = eqx.error_if(updates, any_nan(updates), "not finite")  # expect: jax-callback-in-step
        return eqx.apply_updates(policy, updates), opt_state, loss

    def learn(self, policy, opt_state, batches):
        for batch in batches:
            policy, opt_state, loss = self.train_batch(policy, opt_state, batch)
        return policy
