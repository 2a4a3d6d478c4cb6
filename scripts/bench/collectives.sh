#!/usr/bin/env bash
# All-reduce over two ranks of this machine beside two memory passes, Gloo and Open MPI.
set -euo pipefail
cmake --build build/release --target all_reduce_times >/dev/null
source scripts/lib/torch-venv.sh
torch_venv || { echo "PyTorch cannot be installed here: no Gloo"; TORCH_PYTHON=python3; }
exec "$TORCH_PYTHON" scripts/lib/all_reduce_table.py build/release/all_reduce_times
