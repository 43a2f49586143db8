#!/usr/bin/env bash
# Finds a Docker engine, or starts a private one; prints its DOCKER_HOST, or nothing if there is none.
#
#   engine.sh [run|test]   run: no engine is fine (bubblewrap takes over); test: it must be there
#   engine.sh find         only look
#   engine.sh stop         end the private engine, with its containers; its images stay
#   engine.sh forget       stop it and delete what it stored
#
# An engine that somebody else runs is used as it is; its settings are never changed.
# shellcheck source=deploy/setup/lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
# shellcheck source=deploy/setup/apt.sh
source "$ASOS_ROOT/deploy/setup/apt.sh"
# shellcheck source=deploy/setup/gvisor.sh
source "$ASOS_ROOT/deploy/setup/gvisor.sh"

STORE=${ASOS_ENGINE_STORE:-/var/lib/asos-engine}
RUN=${ASOS_ENGINE_RUN:-/run/asos-engine}
SOCKET=$RUN/docker.sock
PRIVATE=unix://$SOCKET
START_SECONDS=60

main() {
    case "${1:-run}" in
        run | test) provide "${1:-run}" ;;
        find) find_engine || true ;;
        stop) stop ;;
        forget) forget ;;
        *) fail "engine.sh knows no '$1'" "Say run, test, find, stop or forget" ;;
    esac
}

provide() {
    local host
    begin "Docker engine"
    if host=$(find_engine); then
        done_step "$host$(told_runtimes "$host")"
    elif [ "${ASOS_ENGINE:-}" = none ]; then
        done_step "none wanted (ASOS_ENGINE=none); bubblewrap takes over"
    elif can_be_root "$([ "$1" = test ] && echo ask)"; then
        start_private
        host=$PRIVATE
        done_step "$host$(told_runtimes "$host")"
    elif [ "$1" = run ]; then
        done_step "none answers and there is no root to start one; bubblewrap takes over"
    else
        fail "no Docker engine answers and there is no root to start one" "Start Docker, or run this as root or with sudo"
    fi
    printf '%s\n' "${host:-}"
}

# The private engine comes before the usual socket, so that a second run finds what the first one used.
find_engine() {
    local host
    for host in "${DOCKER_HOST:-}" "$PRIVATE" "$(host_of_context)" unix:///var/run/docker.sock; do
        if [ -n "$host" ] && answers "$host"; then
            printf '%s\n' "$host"
            return 0
        fi
    done
    return 1
}

# Where the person's own `docker` goes, such as a rootless engine or Docker Desktop.
host_of_context() { env -u DOCKER_HOST docker context inspect --format '{{.Endpoints.docker.Host}}' 2>/dev/null || true; }

answers() {
    local socket=${1#unix://}
    [ "$socket" = "$1" ] || [ -S "$socket" ] || return 1
    has docker && timeout 10 docker -H "$1" version --format '{{.Server.Version}}' >/dev/null 2>&1
}

told_runtimes() {
    docker -H "$1" info --format '{{range $name, $runtime := .Runtimes}}{{$name}} {{end}}' 2>/dev/null |
        grep -qw runsc && printf ', with gVisor'
}

start_private() {
    local pid
    install_engine
    ensure_runsc || true
    mountpoint -q /sys/fs/cgroup || quietly as_root mount -t cgroup2 none /sys/fs/cgroup
    as_root mkdir -p "$STORE" "$RUN"
    engine_settings | as_root tee "$STORE/daemon.json" >/dev/null
    private_pid >/dev/null || as_root rm -f "$RUN/dockerd.pid" "$SOCKET"
    say "starting a dockerd of its own: $STORE, $RUN"
    # It outlives this script, so it must not hold the script's set-up lock (descriptor 9) or its output.
    as_root sh -c "setsid dockerd --config-file '$STORE/daemon.json' >>'$STORE/dockerd.log' 2>&1 </dev/null 9>&- &"
    wait_for_start && return
    if pid=$(private_pid); then as_root kill "$pid"; fi
    fail "dockerd did not start within $START_SECONDS s" "Its log is $STORE/dockerd.log"
}

# Newer releases have the client apart; where the kernel has AppArmor, the engine needs its parser.
install_engine() {
    local -a packages=(docker.io iptables)
    has dockerd || refresh_lists docker.io
    if ! has docker && is_known docker-cli; then packages+=(docker-cli); fi
    if grep -qs Y /sys/module/apparmor/parameters/enabled; then packages+=(apparmor); fi
    install_missing "${packages[@]}"
}

# No bridge and no firewall rules: sandboxes have no network, so the host's stays as it is.
engine_settings() {
    cat <<JSON
{
    "data-root": "$STORE/data",
    "exec-root": "$RUN/exec",
    "pidfile": "$RUN/dockerd.pid",
    "hosts": ["$PRIVATE"],
    "bridge": "none",
    "iptables": false,
    "ip-forward": false,
    "ip-masq": false,
    "userland-proxy": false,
    "exec-opts": ["native.cgroupdriver=cgroupfs"],
    "experimental": true,
    "runtimes": {$(runsc_setting)}
}
JSON
}

# gVisor's own network stack does not start on every kernel, and sandboxes have no network; `--overlay2=none` lets
# the engine see what a sandbox wrote.
runsc_setting() {
    runsc_is_fresh || return 0
    printf '"runsc": {"path": "%s", "runtimeArgs": ["--network=none", "--overlay2=none", "--host-uds=open"]}' "$(command -v runsc)"
}

wait_for_start() {
    local deadline=$((SECONDS + START_SECONDS))
    while [ "$SECONDS" -lt "$deadline" ]; do
        if [ -S "$SOCKET" ]; then
            # Whoever may become root here may also speak to the engine.
            as_root chown "$(id -u)" "$RUN" "$SOCKET"
            answers "$PRIVATE" && return 0
        fi
        sleep 0.2
    done
    return 1
}

private_pid() {
    local pid
    pid=$(as_root cat "$RUN/dockerd.pid" 2>/dev/null) || return 1
    [ "$(cat "/proc/$pid/comm" 2>/dev/null)" = dockerd ] || return 1
    printf '%s\n' "$pid"
}

stop() {
    local pid
    begin "Stopping the private Docker engine"
    if ! pid=$(private_pid) && has_leftovers; then
        say "it was killed: starting it once more, so that it ends its own containers"
        start_private
        pid=$(private_pid)
    fi
    [ -z "$pid" ] || end_private "$pid"
    unmount_below "$RUN" "$STORE"
    as_root rm -rf "$RUN"
    done_step "${pid:-none runs}"
}

end_private() {
    local ids deadline=$((SECONDS + 30))
    ids=$(docker -H "$PRIVATE" ps -q 2>/dev/null || true)
    # shellcheck disable=SC2086  # one word per container
    [ -z "$ids" ] || quietly docker -H "$PRIVATE" rm -f $ids || true
    as_root kill "$1"
    while [ -d "/proc/$1" ] && [ "$SECONDS" -lt "$deadline" ]; do sleep 0.2; done
    [ ! -d "/proc/$1" ] || fail "dockerd $1 does not end" "Its log is $STORE/dockerd.log"
}

# A killed dockerd leaves its containers, each under a shim that names this engine.
has_leftovers() {
    local comm
    for comm in /proc/[0-9]*/comm; do
        if grep -qs '^containerd-shim' "$comm" && grep -qsaF "$RUN/" "${comm%comm}cmdline"; then return 0; fi
    done
    return 1
}

# A killed dockerd also leaves mounts, newest last.
unmount_below() {
    local folder mount
    for folder in "$@"; do
        awk -v folder="$folder/" 'index($2, folder) == 1 {print $2}' /proc/self/mounts | tac |
            while read -r mount; do quietly as_root umount -l "$mount" || true; done
    done
}

forget() {
    stop
    begin "Deleting $STORE"
    as_root rm -rf "$STORE"
    done_step ""
}

main "$@"
