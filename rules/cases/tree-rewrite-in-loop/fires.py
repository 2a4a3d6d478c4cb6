import equinox as eqx
import jax


def load(model, weights):
    for i in range(len(weights)):
        model = eqx.tree_at(lambda m: m.layers[i].weight, model, weights[i])  # expect: tree-rewrite-in-loop
    return model
