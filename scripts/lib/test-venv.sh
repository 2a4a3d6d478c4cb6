#!/usr/bin/env bash
# The Python packages that the tests use, pinned, in deps/venv.
set -euo pipefail
cd "$(dirname "$0")/../.."
stamp="deps/venv/.stamp-$(sha256sum scripts/lib/test-requirements.txt | cut -c1-16)"
[ -e "$stamp" ] && exit 0
python3 -m venv deps/venv
deps/venv/bin/pip install -q --disable-pip-version-check -r scripts/lib/test-requirements.txt
touch "$stamp"
