import jax
import numpy as np
from flax import jax_utils
from flax.training.common_utils import get_metrics


def train(step_fn, state, batches, writer):
    state = jax_utils.replicate(state)
    first = int(state.step[0])
    p_train_step = jax.pmap(step_fn, axis_name="batch")
    for step, batch in enumerate(batches, first):
        state, metrics = p_train_step(state, batch)
        if step % 100 == 0:
            writer.add(float(jax_utils.unreplicate(metrics)["loss"]))
            writer.add(get_metrics([metrics]))
        writer.at(np.float32(0.1) * step)
    return int(jax_utils.unreplicate(state.step))


def describe(state, rows):
    for row in rows:
        print(row, int(state.step))  # no step is taken here
