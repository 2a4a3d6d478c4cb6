#!/usr/bin/env bash
# A tensor-parallel plan applied to a parameter tree, beside Equinox's tree_at: of the Python that
# STALLSCOPE_JAX_PYTHON names, else of an environment under deps/, pinned.
set -euo pipefail
cd "$(dirname "$0")/../.."
cmake --build build/release --target plan_times >/dev/null
build/release/plan_times
python=${STALLSCOPE_JAX_PYTHON:-deps/jax-venv/bin/python}
stamp=deps/jax-venv/.stamp-0.13.8
if [ -z "${STALLSCOPE_JAX_PYTHON:-}" ] && [ ! -e "$stamp" ]; then
  python3 -m venv deps/jax-venv
  if deps/jax-venv/bin/pip install -q --disable-pip-version-check equinox==0.13.8 jax==0.10.2 jaxlib==0.10.2; then
    touch "$stamp"
  fi
fi
exec python3 scripts/lib/equinox_plan.py "$python"
