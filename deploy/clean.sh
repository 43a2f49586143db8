#!/usr/bin/env bash
# Stops the stack and the private engine, and removes the environment and caches; the data folder stays.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

if [ -x .venv/bin/asos ]; then .venv/bin/asos down || true; fi
deploy/setup/engine.sh stop
rm -rf .venv .asos build dist .mypy_cache .ruff_cache .pytest_cache .import_linter_cache .hypothesis
find . -name __pycache__ -type d -prune -exec rm -rf {} +
