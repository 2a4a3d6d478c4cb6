"""For scripts/gpu-check.sh: TOOL [GROUP...]. Each check records a real program on the GPU and looks at what came of it."""
import importlib
import sys

import gpu_harness

# In this order: what is asked first is what matters most, should the time not do for all.
GROUPS = ["recording", "findings", "native", "truth", "nccl", "harmless", "overhead"]

asked = sys.argv[2:] or GROUPS
unknown = [group for group in asked if group not in GROUPS]
if unknown:
    sys.exit(f"gpu-check.sh: no group {unknown[0]}; there are {', '.join(GROUPS)}")
for group in asked:
    importlib.import_module(f"gpu_{group}")
sys.exit(gpu_harness.table())
