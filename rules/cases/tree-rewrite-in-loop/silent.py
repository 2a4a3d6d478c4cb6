import equinox as eqx
import jax


def load(model, weights):
    model = eqx.tree_at(lambda m: [l.weight for l in m.layers], model, weights)
    return model
