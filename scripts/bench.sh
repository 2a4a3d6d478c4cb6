#!/usr/bin/env bash
# Every performance claim of the README, measured now on this machine, as
# ratios against a named peer or a physical limit in the same run.
#   scripts/bench.sh            all tables
#   scripts/bench.sh NAME...    only these (file names of scripts/bench/*.sh without the ending)
# Two tables need real GPU traces, which are not committed: STALLSCOPE_TRACES names their folder.
# A table that fails or is skipped does not end the others; exits 1 when one failed.
set -euo pipefail
cd "$(dirname "$0")/.."
. scripts/lib/help.sh
names=("$@")
if [ "${#names[@]}" -eq 0 ]; then
  mapfile -t names < <(find scripts/bench -name '*.sh' -printf '%f\n' | sed 's/\.sh$//' | sort)
fi
for name in "${names[@]}"; do  # before the build, which takes long
  [ -x "scripts/bench/$name.sh" ] && continue
  echo "bench.sh: no benchmark '$name'; there are: $(find scripts/bench -name '*.sh' -printf '%f ' | sed 's/\.sh//g')" >&2
  exit 2
done
scripts/setup.sh --test
cmake --preset release >/dev/null
cmake --build --preset release >/dev/null
failed=()
echo "machine: $(grep -m1 'model name' /proc/cpuinfo | cut -d: -f2- | xargs), $(nproc) cores, $(uname -r)"
for name in "${names[@]}"; do
  echo
  echo "== $name"
  start=$SECONDS status=0
  "scripts/bench/$name.sh" || status=$?
  case $status in
    0) echo "($((SECONDS - start)) s)" ;;
    77) echo "$name: skipped" ;;
    *) failed+=("$name") ;;
  esac
done
if [ "${#failed[@]}" -gt 0 ]; then
  echo "bench.sh: failed: ${failed[*]}" >&2
  exit 1
fi
