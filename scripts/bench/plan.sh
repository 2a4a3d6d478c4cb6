#!/usr/bin/env bash
# A tensor-parallel plan applied to a parameter tree, beside Equinox tree_at where it is installed
# (STALLSCOPE_JAX_PYTHON names a Python that has it).
set -euo pipefail
cmake --build build/release --target plan_times >/dev/null
build/release/plan_times
exec python3 scripts/lib/equinox_plan.py "${STALLSCOPE_JAX_PYTHON:-python3}"
