#!/usr/bin/env bash
# The main job after set-up: a chat on a terminal, the one request in ASK, or the demonstration.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

host=$(deploy/setup/prepare.sh run)
if [ -n "$host" ]; then export DOCKER_HOST=$host ASOS_DOCKER_HOST=$host; fi

if [ -n "${ASK:-}" ]; then
    exec .venv/bin/asos ask "$ASK"
elif [ -t 0 ] && [ -t 1 ]; then
    exec .venv/bin/asos chat
else
    exec .venv/bin/asos demo --yes
fi
