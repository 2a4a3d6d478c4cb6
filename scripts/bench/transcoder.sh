#!/usr/bin/env bash
# The transcoder's kernels: exact BatchTopK beside one read of the data and torch.topk, the sparse
# decoder beside the dense oneDNN product.
set -euo pipefail
cmake --build build/release --target transcoder_times >/dev/null
times=$(mktemp)
trap 'rm -f "$times"' EXIT
build/release/transcoder_times | tee "$times" | grep -v '^selection_ms'
source scripts/lib/torch-venv.sh
torch_venv || { echo "  torch.topk           skipped: PyTorch cannot be installed here"; exit 0; }
"$TORCH_PYTHON" - "$(sed -n 's/^selection_ms //p' "$times")" <<'PYTHON'
import sys
import time

import torch

x = torch.randn(1024, 98304).flatten()
times = []
for _ in range(3):
    start = time.perf_counter()
    x.topk(204800)
    times.append((time.perf_counter() - start) * 1e3)
own = float(sys.argv[1])
print(f"torch.topk {torch.__version__}, {torch.get_num_threads()} threads, of the same sizes: "
      f"{min(times):.0f} ms, {min(times) / own:.1f} times the selection above")
PYTHON
