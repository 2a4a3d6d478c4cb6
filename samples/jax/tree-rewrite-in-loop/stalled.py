"""Clips one leaf after another with tree_at: each call rebuilds the whole tree."""
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).parents[1]))
import equinox as eqx
import jax.numpy as jnp

from model import CHANGED, Model, batches, train_step


def clip(model):
    for i in range(CHANGED):
        model = eqx.tree_at(lambda m: m.layers[i].scale, model, replace_fn=lambda s: jnp.minimum(s, 1.0))  # expect: tree-rewrite-in-loop
    return model


models = [Model(leaves) for leaves in (400, 1600)]
for x in batches():
    losses = []
    for i, model in enumerate(models):
        loss, model = train_step(model, x)
        models[i] = clip(model)
        losses.append(loss)
print(f"loss {float(losses[0]):.6f} {float(losses[1]):.6f}")
