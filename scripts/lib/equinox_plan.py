"""600 tree_at transforms on 1,610 leaves, batched and one by one, in the Python named."""
import subprocess
import sys

PROGRAM = r"""
import time
import equinox as eqx
import jax
import numpy as np

class Layer(eqx.Module):
    leaves: list

LAYERS, EACH, TRANSFORMS = 161, 10, 600
tree = [Layer([np.zeros(1) for _ in range(EACH)]) for _ in range(LAYERS)]
places = [(i * LAYERS * EACH // TRANSFORMS) for i in range(TRANSFORMS)]
pick = lambda t, p: t[p // EACH].leaves[p % EACH]

start = time.perf_counter()
eqx.tree_at(lambda t: [pick(t, p) for p in places], tree, [np.ones(1)] * TRANSFORMS)
batched = time.perf_counter() - start
start = time.perf_counter()
for p in places:
    tree = eqx.tree_at(lambda t: pick(t, p), tree, np.ones(1))
single = time.perf_counter() - start
print(f"Equinox {eqx.__version__} on JAX {jax.__version__}, 600 transforms on 1,610 leaves: "
      f"batched {batched * 1e6:.0f} us, one by one {single * 1e6:.0f} us")
"""

done = subprocess.run([sys.argv[1], "-c", PROGRAM], capture_output=True, text=True)
print(done.stdout.strip() if done.returncode == 0 else
      "Equinox: not measured, " + (done.stderr.strip().splitlines() or ["it is not there"])[-1])
