#!/usr/bin/env bash
# Builds the sandbox images that are named, in order, unless their folder is unchanged since the last build.
#
#   DOCKER_HOST=… images.sh base browser
# shellcheck source=deploy/setup/lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
# shellcheck source=deploy/setup/apt.sh
source "$ASOS_ROOT/deploy/setup/apt.sh"

PULL_SECONDS=120
LABEL=org.agent-sandbox-os.digest

main() {
    local name
    [ -n "${DOCKER_HOST:-}" ] || fail "DOCKER_HOST is empty" "Run: DOCKER_HOST=\$(deploy/setup/engine.sh) $0"
    for name in "$@"; do build "$name"; done
}

build() {
    local tag="agent-sandbox-os/$1:latest" folder="$ASOS_ROOT/sandbox_images/$1" wanted former
    [ -f "$folder/Dockerfile" ] || fail "there is no sandbox image named '$1'" "There are: $(cd "$ASOS_ROOT/sandbox_images" && echo */)"
    begin "Sandbox image $1"
    distribution=$(distribution_of)
    wanted=$(digest_of "$folder" "$1")
    if [ "$(label_of "$tag")" = "$wanted" ]; then
        done_step "$tag is up to date"
        return
    fi
    [ "$1" != base ] || ensure_distribution "$distribution"
    former=$(docker image inspect --format '{{.Id}}' "$tag" 2>/dev/null || true)
    say "docker build $tag"
    docker_build "$tag" "$wanted" "$folder" ||
        fail "docker build of $tag failed: $(tail -n 1 "$ASOS_SETUP_LOG")" "The log is $ASOS_SETUP_LOG"
    # A container may still use it; the next build's clean-up is not this one's failure.
    [ -z "$former" ] || quietly docker image rm "$former" || true
    done_step "$tag"
}

# What the image is made of: the folder's files with their modes, and what it stands on.
digest_of() {
    {
        (cd "$1" && find . -type f -printf '%m %p\n' -exec sha256sum {} \; | LC_ALL=C sort)
        if [ "$2" = base ]; then echo "$distribution"; else label_of agent-sandbox-os/base:latest; fi
    } | sha256sum | cut -d' ' -f1
}

label_of() { docker image inspect --format "{{index .Config.Labels \"$LABEL\"}}" "$1" 2>/dev/null || true; }

# Only Debian has Chromium as a package, so Debian it is, of this machine's own release where the machine is Debian.
distribution_of() {
    local id codename
    id=$(os ID)
    codename=$(os VERSION_CODENAME)
    if [ "$id" = debian ] && [ -n "$codename" ]; then echo "debian:$codename-slim"; else echo debian:bookworm-slim; fi
}

# Build steps share the host's network, since an engine may have no bridge; and apt's proxy comes from the host.
docker_build() {
    quietly env DOCKER_BUILDKIT=0 docker build --network host --label "$LABEL=$2" --tag "$1" \
        --build-arg "DISTRIBUTION=$distribution" \
        --build-arg "APT_PROXY=$(apt_proxy)" "$3"
}

# The proxy that this machine's own apt uses.
apt_proxy() {
    local proxy
    proxy=$(apt-config dump Acquire::http::Proxy 2>/dev/null | sed -n 's/.*"\(.*\)";/\1/p')
    echo "${proxy:-${http_proxy:-DIRECT}}"
}

ensure_distribution() {
    docker image inspect "$1" >/dev/null 2>&1 && return
    say "docker pull $1"
    quietly timeout "$PULL_SECONDS" docker pull "$1" && return
    say "no registry has it: making $1 from Debian packages"
    debootstrap_image "$1"
}

debootstrap_image() {
    local codename=${1#debian:}
    codename=${codename%-slim}
    [ "$(os VERSION_CODENAME)" = "$codename" ] ||
        fail "$1 cannot be pulled and this system is not Debian $codename" "Make a registry reachable, or: docker load an image of that name"
    install_missing mmdebstrap
    apt_sources |
        quietly_from_stdin as_root mmdebstrap --variant=minbase --include=ca-certificates \
            --dpkgopt='path-exclude=/usr/share/doc/*' --dpkgopt='path-exclude=/usr/share/man/*' \
            --dpkgopt='path-exclude=/usr/share/locale/*' \
            "$codename" "$ASOS_STATE/distribution.tar" - || fail "mmdebstrap could not make $1" "The log is $ASOS_SETUP_LOG"
    quietly docker import --change 'CMD ["bash"]' "$ASOS_STATE/distribution.tar" "$1"
    as_root rm -f "$ASOS_STATE/distribution.tar"
}

quietly_from_stdin() { "$@" >>"$ASOS_SETUP_LOG" 2>&1; }

# The suites of this release that the machine itself uses, as one-line sources.
apt_sources() {
    # shellcheck disable=SC2016  # apt fills these in, not the shell
    apt-get indextargets --format '$(CREATED_BY) $(REPO_URI) $(RELEASE) $(COMPONENT)' |
        awk '$1 == "Packages" && $3 !~ /backports/ && !seen[$0]++ {print "deb", $2, $3, $4}'
}

main "$@"
