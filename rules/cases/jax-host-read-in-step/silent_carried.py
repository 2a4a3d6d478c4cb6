"""Games that are played with a trained model, and a seat that is none."""

import jax
import numpy as np


def watch(env_step_jit, model, data, progress, key):
    while True:
        state, reward, data, progress, model, _ = env_step_jit(model=model, data=data, progress=progress, key=key)
        show(np.array(data.position[0]))


def play(games, model_state, model_seat):
    for _ in range(games):
        moves, result, model_seat = play_one(model_state=model_state, model_seat=model_seat)
        print(float(result.reward))


if __name__ == "__main__":
    watch(make(), load(), None, None, jax.random.key(0))
    play(10, load(), 0)
