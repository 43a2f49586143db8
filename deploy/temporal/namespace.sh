#!/bin/sh
# Makes the namespace, or corrects the retention of one that exists, and waits until the whole server knows it.
# The server comes from TEMPORAL_ADDRESS, the rest from TEMPORAL_NAMESPACE and RETENTION_DAYS.
set -eu

# wait_until WHAT COMMAND…: tries for two minutes.
wait_until() {
    what=$1
    shift
    tries=120
    until "$@" >/dev/null 2>&1; do
        tries=$((tries - 1))
        if [ "$tries" -eq 0 ]; then
            echo "$what: not within two minutes; the last try:" >&2
            "$@"
        fi
        sleep 1
    done
}

wait_until "$TEMPORAL_ADDRESS answers" temporal operator cluster health

if temporal operator namespace describe --namespace "$TEMPORAL_NAMESPACE" >/dev/null 2>&1; then
    temporal operator namespace update --namespace "$TEMPORAL_NAMESPACE" --retention "${RETENTION_DAYS}d"
else
    temporal operator namespace create --namespace "$TEMPORAL_NAMESPACE" --retention "${RETENTION_DAYS}d"
fi

# Its other services read the list of namespaces every ten seconds.
wait_until "$TEMPORAL_NAMESPACE is known" temporal operator search-attribute list --namespace "$TEMPORAL_NAMESPACE"
