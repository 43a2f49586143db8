#!/usr/bin/env bash
# Every bench in its long form, after set-up; each prints its table and leaves its figures in build/bench/.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

host=$(deploy/setup/prepare.sh test)
export DOCKER_HOST=$host ASOS_DOCKER_HOST=$host PATH="$PWD/.venv/bin:$PATH"

mkdir -p build/bench
for bench in bench/[a-z]*.py; do
    name=$(basename "$bench" .py)
    printf '\n# %s\n' "$name"
    python "$bench" --json "build/bench/$name.json"
done
