"""A sampler of JAX, whose loop calls what reads, takes no gradient."""
import math

import jax
import jax.numpy as jnp
import numpy as np


@jax.jit
def kernel(x, key):
    return x + jax.random.normal(key, x.shape)


class MetropolisSampler:
    def step(self, x, key):
        y = kernel(x, key)
        size = float(jnp.linalg.norm(y))  # expect: jax-host-read-in-step
        spread = math.sqrt(jnp.var(y))  # expect: jax-host-read-in-step
        return y, size + spread

    def run(self, x, n):
        for t in range(n):
            x, size = self.step(x, jax.random.PRNGKey(t))
            log.info(f"norm {jnp.max(x)}")  # expect: jax-host-read-in-step
            draws = np.random.chisquare(jnp.exp(x))  # expect: jax-host-read-in-step
        return x


if __name__ == "__main__":
    MetropolisSampler().run(jnp.zeros(100), 1000)
