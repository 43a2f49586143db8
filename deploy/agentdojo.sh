#!/usr/bin/env bash
# Replays AgentDojo through the policy (bench/agentdojo). The package and what it needs go into build/agentdojo/venv,
# since they are no part of the project; the figures go to build/bench/agentdojo.json.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

deploy/setup/venv.sh run
needs=bench/agentdojo/requirements.txt
venv=build/agentdojo/venv
stamp=build/agentdojo/.installed
digest=$(sha256sum "$needs" | cut -d' ' -f1)
if [ "$(cat "$stamp" 2>/dev/null)" != "$digest" ]; then
    rm -rf "$venv" "$stamp"
    .venv/bin/python -m venv "$venv"
    "$venv/bin/python" -m pip install --quiet --no-deps --disable-pip-version-check -r "$needs"
    echo "$digest" >"$stamp"
fi

mkdir -p build/bench
PYTHONPATH=$PWD exec "$venv/bin/python" -m bench.agentdojo --json build/bench/agentdojo.json "$@"
