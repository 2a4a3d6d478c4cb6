#!/usr/bin/env bash
# What the report predicts for each sample's stall, beside what its fixed twin gains.
set -euo pipefail
python3 scripts/lib/samples_table.py build/release/stallscope build/release
