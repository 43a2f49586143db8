#!/usr/bin/env bash
# The test suite after set-up; arguments go to pytest.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

host=$(deploy/setup/prepare.sh test)
export DOCKER_HOST=$host ASOS_DOCKER_HOST=$host PATH="$PWD/.venv/bin:$PATH"

exec pytest "$@"
