#!/usr/bin/env bash
# Installs the system packages that a purpose needs, and only those that are missing.
#
#   packages.sh fallback   sandboxes without a Docker engine: bubblewrap
#   packages.sh test       what the test suite calls beside the engine
# shellcheck source=deploy/setup/lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
# shellcheck source=deploy/setup/apt.sh
source "$ASOS_ROOT/deploy/setup/apt.sh"

FALLBACK=(bash bubblewrap curl git jq python3)
TEST=("${FALLBACK[@]}" busybox-static docker-compose procps shellcheck)

main() {
    local -a wanted
    case "${1:-}" in
        fallback) wanted=("${FALLBACK[@]}") ;;
        test) wanted=("${TEST[@]}" "$(chromium_package)") ;;
        *) fail "packages.sh knows no '${1:-}'" "Say fallback or test" ;;
    esac
    begin "System packages"
    # shellcheck disable=SC2068  # an empty name must vanish
    install_missing ${wanted[@]}
    done_step ""
}

# Ubuntu's package is only a pointer to a snap, which does not start in a sandbox; there the browser image has Chromium.
chromium_package() {
    if [ "$(os ID)" = debian ]; then echo chromium; fi
}

main "$@"
