"""Games that are played with a trained model, and a seat that is none."""

import jax
import numpy as np
import scipy


def watch(env_step_jit, model, data, progress, key):
    while True:
        state, reward, data, progress, model, _ = env_step_jit(model=model, data=data, progress=progress, key=key)
        show(np.array(data.position[0]))


def play(games, model_state, model_seat):
    for _ in range(games):
        moves, result, model_seat = play_one(model_state=model_state, model_seat=model_seat)
        print(float(result.reward))


def solve(loss, start):
    gradient = jax.grad(loss)
    first = np.asarray(gradient(start))
    result = scipy.optimize.minimize(loss, start, jac=gradient)
    return np.asarray(gradient(result.x)), first


class Descent:
    def minimize(self, objective, start):
        gradient = jax.jit(jax.grad(objective))
        best = self._descend(objective, gradient, start)
        return np.asarray(best)

    def _descend(self, objective, gradient, start):
        best = start
        for _ in range(1000):
            best = advance(objective, gradient, best)
        return best


if __name__ == "__main__":
    watch(make(), load(), None, None, jax.random.key(0))
    play(10, load(), 0)
    solve(make(), load())
    Descent().minimize(make(), load())
