#!/usr/bin/env bash
# The reference trainer's loss, gradients and AdamW steps against PyTorch on the CPU.
#   scripts/exactness.sh [--shapes N] [--seed S]
# Installs PyTorch into deps/torch-venv when it is not there (200 MB), and says so when it cannot.
set -euo pipefail
cd "$(dirname "$0")/.."
source scripts/lib/torch-venv.sh
torch_venv || { echo "exactness.sh: skipped: PyTorch cannot be installed here" >&2; exit 77; }
exec "$TORCH_PYTHON" tests/exactness/check.py build/release/stallscope-trainer "$@"
