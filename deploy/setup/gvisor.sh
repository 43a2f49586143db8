# Brings gVisor's `runsc` from the distribution, from its backports suite where the suite itself has one that is too old.
# Sourced after lib.sh and apt.sh; gVisor is optional, so what is missing is said and not fatal.
# shellcheck shell=bash

# Older ones misread new kernels and do not start.
RUNSC_OLDEST=20240729
BACKPORTS=/etc/apt/sources.list.d/asos-backports.sources
BACKPORTS_PIN=/etc/apt/preferences.d/asos-backports

runsc_date() { sed -n 's/.*~\(20[0-9]\{6\}\).*/\1/p' | sort -n | tail -n 1; }

runsc_is_fresh() {
    has runsc || return 1
    local version
    version=$(runsc --version | sed -n 's/.*\(20[0-9]\{6\}\).*/\1/p' | head -n 1)
    [ -n "$version" ] && [ "$version" -ge "$RUNSC_OLDEST" ]
}

# A runsc that is no Debian package belongs to the person and is left alone.
ensure_runsc() {
    runsc_is_fresh && return 0
    if has runsc && ! is_installed runsc; then
        say "runsc is older than $RUNSC_OLDEST and not a package: gVisor stays off"
        return 1
    fi
    is_known runsc || refresh_lists runsc
    runsc_is_offered || add_backports || return 1
    say "apt-get install runsc"
    quietly as_root "${APT_GET[@]}" install --no-install-recommends runsc && runsc_is_fresh
}

runsc_is_offered() {
    local date
    date=$(apt-cache policy runsc | grep Candidate | runsc_date)
    [ -n "$date" ] && [ "$date" -ge "$RUNSC_OLDEST" ]
}

# The machine's own source of its main suite, with the suite's name changed, and pinned so that nothing else comes from it.
add_backports() {
    local codename
    codename=$(os VERSION_CODENAME)
    say "adding $codename-backports for runsc alone ($BACKPORTS, $BACKPORTS_PIN)"
    backports_source "$codename" | as_root tee "$BACKPORTS" >/dev/null
    printf 'Package: *\nPin: release n=%s-backports\nPin-Priority: -1\n\nPackage: runsc\nPin: release n=%s-backports\nPin-Priority: 990\n' \
        "$codename" "$codename" | as_root tee "$BACKPORTS_PIN" >/dev/null
    if [ -s "$BACKPORTS" ] && quietly as_root "${APT_GET[@]}" update -o "Dir::Etc::sourcelist=$BACKPORTS" \
        -o Dir::Etc::sourceparts=- -o APT::Get::List-Cleanup=0 && runsc_is_offered; then
        return 0
    fi
    as_root rm -f "$BACKPORTS" "$BACKPORTS_PIN"
    say "no runsc from $RUNSC_OLDEST or later is offered: gVisor stays off"
    return 1
}

# Sources lie in either of two formats; `apt-get indextargets` knows what they come to.
backports_source() {
    local codename=$1 mirror keyring=/usr/share/keyrings/debian-archive-keyring.gpg
    # shellcheck disable=SC2016  # apt fills these in, not the shell
    mirror=$(apt-get indextargets --format '$(CODENAME) $(CREATED_BY) $(REPO_URI)' |
        awk -v suite="$codename" '$1 == suite && $2 == "Packages" {print $3; exit}')
    [ -n "$mirror" ] && [ -e "$keyring" ] || return 0
    printf 'Types: deb\nURIs: %s\nSuites: %s-backports\nComponents: main\nSigned-By: %s\n' "$mirror" "$codename" "$keyring"
}
