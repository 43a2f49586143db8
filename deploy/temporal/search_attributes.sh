#!/bin/sh
# Registers what tasks can be searched by; those that exist already are left as they are.
# The server comes from TEMPORAL_ADDRESS and TEMPORAL_NAMESPACE.
set -eu

register() {
    type=$1
    shift
    for name in "$@"; do
        temporal operator search-attribute create --type "$type" --name "$name"
    done
}

register Keyword TaskPhase Channel UserId HostId SandboxState
register Bool NeedsHuman
register Int RiskScore Step
register Double CostUsd
