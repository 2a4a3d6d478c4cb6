#!/usr/bin/env bash
# The reference trainer against PyTorch eager and torch.compile on this machine's cores: the same
# shapes, the same work, interleaved, the worst printed first; and two tensor-parallel ranks against
# one. STALLSCOPE_BENCH_ROUNDS (default 5) rounds of each, those after the first as far as
# STALLSCOPE_BENCH_SECONDS (default 300) last; shapes named as arguments are measured alone.
set -euo pipefail
source scripts/lib/torch-venv.sh
torch_venv || { echo "skipped: PyTorch cannot be installed here"; exit 0; }
exec "$TORCH_PYTHON" scripts/lib/trainer_speed.py build/release/stallscope-trainer "$@"
