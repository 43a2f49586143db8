#!/usr/bin/env bash
# Makes this machine ready, step by step; prints the DOCKER_HOST of the engine, or nothing if bubblewrap takes over.
#
#   prepare.sh run|test
# shellcheck source=deploy/setup/lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
trap - EXIT # each step tells its own failure

SETUP="$ASOS_ROOT/deploy/setup"

main() {
    local host
    one_at_a_time
    : >"$ASOS_SETUP_LOG"
    [ "$1" != test ] || "$SETUP/packages.sh" test
    "$SETUP/venv.sh" "$1"
    host=$("$SETUP/engine.sh" "$1")
    if [ -n "$host" ]; then
        DOCKER_HOST=$host "$SETUP/images.sh" base browser
    else
        "$SETUP/packages.sh" fallback
    fi
    printf '%s\n' "$host"
}

# Two at once would install over each other.
one_at_a_time() {
    exec 9>"$ASOS_STATE/setup.lock"
    flock -n 9 && return
    say "waiting for another set-up to end"
    flock 9
}

main "$@"
