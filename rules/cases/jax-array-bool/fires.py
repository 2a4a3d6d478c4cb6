import jax
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


def accept(log_ratios, threshold):
    """A decision of the host's for each proposal."""
    ratios = jnp.exp(log_ratios)
    accepted = 0
    for i in range(len(ratios)):
        if ratios[i] > threshold:  # expect: jax-array-bool
            accepted += 1
    return accepted


def lowest(update, params, batches):
    best = 1e9
    for batch in batches:
        params, loss = update(params, batch)
        loss = jnp.mean(loss)
        best = min(best, loss)  # expect: jax-array-bool
    return best


def smoothed(update, params, batches):
    scale = 1.0
    for batch in batches:
        params, loss = update(params, batch)
        change = jnp.mean(loss)
        scale = max(scale + jnp.clip(change, -2, 2), 10.0)  # expect: jax-array-bool
    return scale


def descend(update, params, batches):
    for batch in batches:
        params, loss = update(params, batch)
        bad = jnp.isnan(loss)
        if bad:  # expect: jax-array-bool
            raise FloatingPointError("not a number")
    return params


def solve(state, limit):
    step = jax.jit(relax)
    for _ in range(limit):
        state, converged = step(state)
        if converged:  # expect: jax-array-bool
            break
    return state


def relax_all(states, limit):
    step = jax.jit(relax)
    state = states[0]
    for _ in range(limit):
        state = step(state)
        if state.done:  # expect: jax-array-bool
            break
    return state
