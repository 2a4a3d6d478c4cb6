import jax
import numpy as np
from flax import jax_utils
from flax.training.common_utils import get_metrics


def train(step_fn, state, batches, writer):
    state = jax_utils.replicate(state)
    p_train_step = jax.pmap(step_fn, axis_name="batch")
    for batch in batches:
        state, metrics = p_train_step(state, batch)
        writer.add(metrics["loss"][0].item())  # expect: jax-host-read-in-step
        writer.add(float(jax_utils.unreplicate(metrics)["loss"]))  # expect: jax-host-read-in-step
        writer.add(get_metrics([metrics]))  # expect: jax-host-read-in-step
        writer.add(np.float32(metrics["loss"][0]))  # expect: jax-host-read-in-step
        writer.at(int(jax_utils.unreplicate(state.step)))  # expect: jax-host-read-in-step


def train_counted(train_step, state, batches):
    for batch in batches:
        state, metrics = train_step(state, batch)
        if int(state.step) % 100 == 0:  # expect: jax-host-read-in-step
            print(metrics)
