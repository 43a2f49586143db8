# Installs Debian packages: only those that are missing, and without starting the services that they bring.
# Sourced after lib.sh.
# shellcheck shell=bash

APT_GET=(env DEBIAN_FRONTEND=noninteractive apt-get -q -y -o Dpkg::Options::=--force-confold -o DPkg::Lock::Timeout=300)

is_installed() { [ "$(dpkg-query -W -f '${db:Status-Status}' "$1" 2>/dev/null)" = installed ]; }

is_known() { [ -n "$(apt-cache madison "$1" 2>/dev/null)" ]; }

# missing_of NAME…: those that are not installed, one a line.
missing_of() {
    local present name
    present=$(dpkg-query -W -f '${db:Status-Status} ${Package}\n' "$@" 2>/dev/null || true)
    for name in "$@"; do grep -qx "installed $name" <<<"$present" || printf '%s\n' "$name"; done
}

# refresh_lists NAME…: asks for fresh package lists only if one of these is unknown so far.
refresh_lists() {
    local name
    for name in "$@"; do
        if ! is_known "$name"; then
            say "apt-get update"
            quietly as_root "${APT_GET[@]}" update || fail "apt-get update failed" "Check the network and /etc/apt; the log is $ASOS_SETUP_LOG"
            return
        fi
    done
}

# install_missing NAME…: installs what is missing, after saying so.
install_missing() {
    local -a names
    mapfile -t names < <(missing_of "$@")
    [ "${#names[@]}" -eq 0 ] && return 0
    has apt-get || fail "these packages are missing: ${names[*]}" "Install them by this system's own package tool"
    can_be_root ask || fail "these packages are missing: ${names[*]}" "Run: sudo apt-get install ${names[*]}"
    refresh_lists "${names[@]}"
    say "apt-get install ${names[*]}"
    without_services "${names[@]}"
}

# Some packages start a service at once, such as an engine; nothing here needs it, only the programs.
without_services() {
    local veto=/usr/sbin/policy-rc.d installed=0
    if [ ! -e "$veto" ]; then
        printf '#!/bin/sh\nexit 101\n' | as_root tee "$veto" >/dev/null
        as_root chmod 755 "$veto"
        veto_placed=$veto
        trap 'lift_veto; on_exit' EXIT
    fi
    apt_install "$@" && installed=1
    lift_veto
    [ "$installed" -eq 1 ] || fail "these packages could not be installed: $*" "Run: sudo apt-get install $*; the log is $ASOS_SETUP_LOG"
    disable_services "$@"
}

# A list that is a day old names files that the mirror has replaced: refresh it and try once more.
apt_install() {
    quietly as_root "${APT_GET[@]}" install --no-install-recommends "$@" && return
    quietly as_root "${APT_GET[@]}" update
    quietly as_root "${APT_GET[@]}" install --no-install-recommends "$@"
}

lift_veto() {
    [ -z "${veto_placed:-}" ] && return
    as_root rm -f "$veto_placed"
    veto_placed=
}

disable_services() {
    local name unit
    [ -d /run/systemd/system ] || return 0
    for name in "$@"; do
        for unit in $(dpkg-query -L "$name" | sed -n 's|.*/systemd/system/\([a-z0-9.-]*\.\(service\|socket\)\)$|\1|p'); do
            quietly as_root systemctl disable "$unit" || true
        done
    done
}
