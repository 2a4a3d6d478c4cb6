#!/usr/bin/env bash
# Fetch the sources that no distribution carries into deps/, pinned by hash in
# scripts/lib/deps.txt, from the Python package index and the npm registry.
# A dependency already unpacked at its pinned hash is left alone.
set -euo pipefail
cd "$(dirname "$0")/../.."
mkdir -p deps

# pip_fetch PIP_ARGS... : download one requirement line, verified by hash.
pip_fetch() {
  local requirement=$1 hash=$2 into=$3
  shift 3
  printf '%s --hash=sha256:%s\n' "$requirement" "$hash" >"$into/requirement.txt"
  python3 -m pip download -q --disable-pip-version-check --no-deps --require-hashes "$@" \
    -d "$into" -r "$into/requirement.txt"
}

# Columns: name, kind (wheel | sdist | npm), requirement, sha256, path inside the
# archive (npm: file name), folder under deps/.
while read -r name kind requirement hash inside target; do
  case "$name" in ''|'#'*) continue ;; esac
  stamp="deps/$target/.stamp-$name-$hash"
  [ -e "$stamp" ] && continue
  echo "setup: fetching $requirement" >&2
  work=$(mktemp -d)
  case "$kind" in
    wheel)
      pip_fetch "$requirement" "$hash" "$work" --only-binary=:all: --platform manylinux_2_28_x86_64 --platform manylinux_2_25_x86_64 --platform manylinux2014_x86_64 --platform manylinux1_x86_64 --platform any
      mkdir "$work/out" && (cd "$work/out" && python3 -m zipfile -e ../*.whl .)
      ;;
    sdist)
      pip_fetch "$requirement" "$hash" "$work" --no-binary=:all:
      mkdir "$work/out" && tar xzf "$work"/*.tar.gz -C "$work/out" --strip-components=1
      ;;
    npm)
      (cd "$work" && npm pack --silent "$requirement" >/dev/null)
      echo "$hash  $(ls "$work"/*.tgz)" | sha256sum -c --quiet
      mkdir "$work/out" && tar xzf "$work"/*.tgz -C "$work/out" --strip-components=1
      ;;
    *) echo "fetch-deps: unknown kind '$kind' in deps.txt" >&2; exit 2 ;;
  esac
  mkdir -p "deps/$target"
  cp -r "$work/out/$inside/." "deps/$target/"
  touch "$stamp"
  rm -rf "$work"
done <scripts/lib/deps.txt
