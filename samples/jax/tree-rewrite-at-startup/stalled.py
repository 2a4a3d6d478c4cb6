"""Initialises every leaf with a tree_at of its own, once, before the first step."""
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).parents[1]))
import equinox as eqx
import jax.numpy as jnp

from model import WIDTH, Model, batches, train_step

model = Model(400)
for i in range(len(model.layers)):
    model = eqx.tree_at(lambda m: m.layers[i].scale, model, jnp.full(WIDTH, 0.5))  # expect: tree-rewrite-in-loop
for x in batches():
    loss, model = train_step(model, x)
print(f"loss {float(loss):.6f}")
