"""An agent that acts in each step, and learns now and then; a name that is compiled elsewhere."""
import gymnasium as gym
import jax
import jax.numpy as jnp
import numpy as np


@jax.jit
def policy(params, obs, key):
    return jax.random.categorical(key, params["w"] @ obs)


@jax.jit
def update(state, batch):
    loss, grads = jax.value_and_grad(loss_fn)(state.params, batch)
    return state.apply_gradients(grads=grads), loss


class Agent:
    """Learns every 2048 steps, and acts in each."""

    def act(self, obs):
        action = policy(self.state.params, obs, next(self.keys))
        return np.asarray(action)  # expect: jax-host-read-in-step

    def improve(self, memory):
        for _ in range(4):
            for batch in memory.batches():
                self.state, loss = update(self.state, batch)


def train(agent, env, memory):
    obs, _ = env.reset()
    for step in range(100000):
        obs, reward, done, _, _ = env.step(agent.act(obs))
        memory.add(obs, reward)
        if step % 2048 == 0:
            agent.improve(memory)


@jax.jit
def value_of(params, obs):
    return policy(params, obs, jax.random.PRNGKey(0))


def read(params, obs):
    """Called in a step here, and by what is compiled elsewhere under the same name."""
    return float(value_of(params, obs))  # expect: jax-host-read-in-step


def fit(state, data):
    for obs in data:
        state, loss = update(state, obs)
        history.append(read(state.params, obs))
        for row, cut in enumerate(jnp.logical_or(loss > 3, loss < 0)):  # expect: jax-host-read-in-step
            note(row, cut)


@jax.jit
def compiled(params, obs):
    return other.read(params, obs)


if __name__ == "__main__":
    train(Agent(), gym.make("CartPole-v1"), Memory())
    fit(make_state(), load())
