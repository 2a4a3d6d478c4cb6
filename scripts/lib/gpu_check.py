"""For scripts/gpu-check.sh: TOOL. Each check records a real program on the GPU and looks at what came of it."""
import sys

import gpu_harness
# In this order: what is asked first is what matters most, should the time not do for all.
import gpu_recording  # noqa: F401
import gpu_findings  # noqa: F401
import gpu_nccl  # noqa: F401
import gpu_harmless  # noqa: F401
import gpu_overhead  # noqa: F401

sys.exit(gpu_harness.table())
