import os

os.environ["JAX_DEBUG_NANS"] = "False"

import jax

jax.config.jax_debug_nans = False
jax.config.jax_enable_x64 = True
