import os

import jax

os.environ["CUDA_LAUNCH_BLOCKING"] = "1"  # expect: debug-environment
os.environ['TORCH_DISTRIBUTED_DEBUG'] = 'DETAIL'  # expect: debug-environment
jax.config.update("jax_debug_nans", True)  # expect: debug-environment


os.environ.setdefault("TORCH_DISTRIBUTED_DEBUG", "DETAIL")  # expect: debug-environment
os.environ.update({"RANK": "0", "CUDA_LAUNCH_BLOCKING": "1"})  # expect: debug-environment
os.putenv('NCCL_DEBUG', 'TRACE')  # expect: debug-environment

with jax.debug_nans(True):  # expect: debug-environment
    train()
