# What every set-up step shares: where things lie, how a step is told, how it fails, who may act as root.
# Sourced by bash scripts; narration goes to standard error, so that standard output carries only a step's result.
# shellcheck shell=bash
set -euo pipefail

ASOS_ROOT=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
ASOS_STATE="$ASOS_ROOT/.asos"
ASOS_SETUP_LOG="$ASOS_STATE/setup.log"
mkdir -p "$ASOS_STATE"

said_failure=0

say() { printf '  · %s\n' "$*" >&2; }

# fail WHAT REMEDY: the one line that a person needs.
fail() {
    said_failure=1
    printf '✗ %s. %s\n' "$1" "$2" >&2
    exit 1
}

# What nobody foresaw still ends in one line.
on_exit() {
    local code=$?
    if [ "$code" -ne 0 ] && [ "$said_failure" -eq 0 ]; then
        printf '✗ %s stopped with code %s. The log is %s\n' "$(basename "$0")" "$code" "$ASOS_SETUP_LOG" >&2
    fi
}
trap on_exit EXIT

# begin TITLE … done_step [RESULT]: one line when a step starts, one with its time when it ends.
begin() {
    step_title=$1
    step_start=$(now_ms)
    printf '→ %s\n' "$step_title" >&2
}

done_step() {
    local took=$(($(now_ms) - step_start))
    printf '✓ %s%s (%d.%d s)\n' "$step_title" "${1:+: $1}" $((took / 1000)) $((took % 1000 / 100)) >&2
}

now_ms() { date +%s%3N; }

# quietly COMMAND…: its output goes to the log, since only a failure makes anyone want to read it.
quietly() { "$@" >>"$ASOS_SETUP_LOG" 2>&1 </dev/null; }

# os KEY: a value of /etc/os-release, such as ID or VERSION_CODENAME; empty if it has none.
os() { sed -n "s/^$1=\"\{0,1\}\([^\"]*\)\"\{0,1\}$/\1/p" /etc/os-release; }

has() { command -v "$1" >/dev/null 2>&1; }

# can_be_root [ask]: true if commands can run as root; with `ask` also if a person at the terminal may type a password.
can_be_root() {
    [ "$(id -u)" -eq 0 ] && return 0
    has sudo || return 1
    sudo -n true 2>/dev/null && return 0
    [ "${1:-}" = ask ] && [ -t 0 ] && [ -t 2 ] && sudo -v
}

as_root() {
    if [ "$(id -u)" -eq 0 ]; then "$@"; else sudo "$@"; fi
}
