#!/usr/bin/env bash
# Makes `.venv` with exactly the packages of a lock file, and the project itself in it.
#
#   venv.sh run    requirements.lock
#   venv.sh test   requirements-dev.lock, which holds all of the other
# shellcheck source=deploy/setup/lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
# shellcheck source=deploy/setup/apt.sh
source "$ASOS_ROOT/deploy/setup/apt.sh"

VENV="$ASOS_ROOT/.venv"
STAMP="$VENV/.installed"

main() {
    begin "Python environment"
    case "${1:-}" in
        run) is_current run || is_current test || install_lock run ;;
        test) is_current test || install_lock test ;;
        *) fail "venv.sh knows no '${1:-}'" "Say run or test" ;;
    esac
    done_step "$("$VENV/bin/python" --version) in .venv"
}

# lock_of KIND: the file; digest_of KIND: changes when the lock or the project's own declaration does.
lock_of() { if [ "$1" = run ]; then echo requirements.lock; else echo requirements-dev.lock; fi; }

digest_of() { (cd "$ASOS_ROOT" && cat "$(lock_of "$1")" pyproject.toml | sha256sum | cut -d' ' -f1); }

is_current() {
    [ -f "$STAMP" ] && [ "$(cat "$STAMP")" = "$1 $(digest_of "$1")" ] && "$VENV/bin/python" -c '' 2>/dev/null
}

install_lock() {
    local lock
    lock=$(lock_of "$1")
    make_venv
    say "pip install -r $lock (some minutes the first time)"
    rm -f "$STAMP"
    quietly "$VENV/bin/python" -m pip install --require-hashes --no-deps --disable-pip-version-check -r "$ASOS_ROOT/$lock" ||
        fail "pip could not install $lock: $(last_error)" "Check the network and run this again; the log is $ASOS_SETUP_LOG"
    quietly "$VENV/bin/python" -m pip install --no-deps --no-build-isolation --disable-pip-version-check -e "$ASOS_ROOT" ||
        fail "pip could not install the project itself: $(last_error)" "The log is $ASOS_SETUP_LOG"
    echo "$1 $(digest_of "$1")" >"$STAMP"
}

last_error() { sed -n 's/^ *\([A-Z][A-Za-z]*Error: .*\|ERROR: .*\)/\1/p' "$ASOS_SETUP_LOG" | tail -n 1; }

make_venv() {
    local python
    "$VENV/bin/python" -m pip --version >/dev/null 2>&1 && return
    if ! python=$(find_python); then
        install_python
        python=$(find_python) || fail "no Python 3.11 or later with venv was found" "Run: sudo apt-get install python3 python3-venv"
    fi
    say "$python -m venv .venv"
    rm -rf "$VENV"
    quietly "$python" -m venv "$VENV" || fail "$python could not make .venv" "Run: sudo apt-get install python3-venv; the log is $ASOS_SETUP_LOG"
}

find_python() {
    local name
    for name in python3 python3.14 python3.13 python3.12 python3.11; do
        if "$name" -c 'import sys, venv, ensurepip; sys.exit(sys.version_info < (3, 11))' 2>/dev/null; then
            command -v "$name"
            return 0
        fi
    done
    return 1
}

# The distribution's python3 may be older than needed while a newer one lies beside it.
install_python() {
    local name
    if python3 -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null || ! has python3; then
        install_missing python3 python3-venv
        return
    fi
    refresh_lists python3.11
    for name in python3.13 python3.12 python3.11; do
        if is_known "$name"; then
            install_missing "$name" "$name-venv"
            return
        fi
    done
}

main "$@"
