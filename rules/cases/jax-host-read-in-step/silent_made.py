"""What is called once, or for many steps, or of no training."""
import jax
import jax.numpy as jnp

from steps import make_learner


def run(state, settings):
    learn = make_learner()
    for evaluation in range(10):
        state, metrics = learn(state)  # thousands of steps
        print(float(metrics["loss"]))


def play(env, env_state, key):
    for _ in range(1000):
        env_state, reward = env.step(env_state, jnp.zeros(3))
        print(float(reward))


def configure(settings, defaults, state, loader):
    update_step = make_learner()
    settings, given = update_step(settings, defaults)
    print(f"settings: {settings} {given}")
    for batch in loader:
        state = update_step(state, batch)
    return state


def train_guarded(state, batches):
    update_step = make_learner()
    for step in range(1000):
        state, loss = update_step(state, next(batches))
        if jnp.isnan(loss) or loss > 1e6:
            print(f"step {step}: {loss}")


if __name__ == "__main__":
    train_guarded(start(), load())
    run(start(), {})
    play(make(), None, jax.random.PRNGKey(0))
    configure({}, {}, start(), load())


def train_and_tell(params, opt_state, batches, every):
    step = make_step()
    for i, batch in enumerate(batches):
        params, opt_state, loss = step(params, opt_state, batch)
        if i % every == 0:
            value = float(loss)
            # The array has kept what it was read to.
            print(f"step {i}: {value} {loss}")
