import equinox as eqx
import jax


def load(model, weights):
    model = eqx.tree_at(lambda m: [l.weight for l in m.layers], model, weights)
    return model


def freeze_head(model, head):
    """One change, one rewrite."""
    if head is not None:
        model = eqx.tree_at(lambda m: m.head, model, head)
    return model


def add_adapters(params, adapters):
    """Collected in a dictionary of the host's, then rewritten once."""
    changed = {}
    for name, adapter in adapters.items():
        changed[name] = adapter
    return {**params, **changed}


@jax.jit
def reset(state, keys):
    """Traced once: in the compiled function the rewrites are gone."""
    for index in range(4):
        state = eqx.tree_at(lambda s: s.keys[index], state, keys[index])
    return state


def features(tokens, coordinates):
    out = []
    for token, place in zip(tokens, coordinates):
        token = token.copy()  # NumPy's: of one record, that is written next
        token["coords"] = place
        out.append(token)
    return out


@jax.jit
def shift(rows):
    for i in range(1, 4):
        rows = rows.at[i].set(rows[i - 1])  # compiled: in place
    return rows


def table(length):
    positions = jnp.zeros((length, 2))
    for i in range(length):
        positions = positions.at[i].set(i)  # built once
    return positions
