import jax.numpy as jnp


def choose(scores, n):
    x = jnp.cumsum(scores)
    picks = []
    for i in range(n):
        if x[i] > 0.5:  # expect: jax-array-bool
            picks.append(i)
    return picks


def count(values):
    table = jnp.sort(values)
    total = 0
    for k in range(10):
        while table[k] > total:  # expect: jax-array-bool
            total += 1
        if jnp.any(table[k] < 0):  # expect: jax-array-bool
            break
    return total
