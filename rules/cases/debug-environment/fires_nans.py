import os

os.environ["JAX_DEBUG_NANS"] = "True"  # expect: debug-environment

import jax

jax.config.jax_debug_nans = True  # expect: debug-environment
jax.config.jax_disable_jit = True  # expect: debug-environment
