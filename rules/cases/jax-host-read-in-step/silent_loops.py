"""What is printed and checked once, or of what is NumPy's."""
import math

import jax
import jax.numpy as jnp
import numpy as np


@jax.jit
def kernel(x, key):
    return x + jax.random.normal(key, x.shape)


def evaluate(x):
    for row in range(10):
        print(f"row {row}: {jnp.max(x)}")


def summary(x):
    return float(jnp.linalg.norm(x))


def run(n):
    x = jnp.zeros(100)
    noise = np.zeros(100)
    for t in range(n):
        x = kernel(x, jax.random.PRNGKey(t))
        noise += np.random.chisquare(np.exp(noise))
        rate = math.sqrt(t + 1.0)
        rows = math.ceil(x.shape[0] / 8)
    print(summary(x))
    evaluate(x)


if __name__ == "__main__":
    run(1000)
