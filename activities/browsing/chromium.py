"""Chromium inside a sandbox: started by a command, kept for as long as the sandbox lives, found again after a crash."""

import re
from dataclasses import dataclass

from activities.output import plain
from contracts.sandbox import Command, Sandbox

_MISSING = 127
_ENDPOINT = re.compile(r"^(\d{1,5}) (/devtools/browser/[0-9a-f-]{1,64})\s*$")

FLAGS = (
    "--headless",
    "--remote-debugging-port=0",
    # Loopback of the sandbox too goes to the proxy: a page must not reach what the task serves there, nor this port.
    "--proxy-bypass-list=<-loopback>",
    "--disable-quic",
    # Of all workers these alone belong to no page, so that what they ask for could not be judged by page.
    "--disable-shared-workers",
    "--webrtc-ip-handling-policy=disable_non_proxied_udp",
    "--force-webrtc-ip-handling-policy=disable_non_proxied_udp",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-domain-reliability",
    "--disable-sync",
    "--disable-breakpad",
    "--disable-default-apps",
    "--disable-extensions",
    "--disable-features=DialMediaRouteProvider,MediaRouter,NetworkTimeServiceQuerying,OptimizationHints,Translate",
    "--allow-browser-signin=false",
    # What cannot be switched off is sent nowhere, so that the record of requests holds the task's own alone.
    "--gaia-url=http://localhost:9/",
    "--component-updater=url-source=http://localhost:9/",
    "--apps-gallery-update-url=http://localhost:9/",
    "--metrics-recording-only",
    "--no-first-run",
    "--no-default-browser-check",
    "--no-pings",
    "--password-store=basic",
    "--use-mock-keychain",
    "--mute-audio",
    "--disable-gpu",
    "--disable-dev-shm-usage",
    "--window-size=1280,800",
)

_START = r"""
set -u
home="${HOME:-/tmp}/.cache/asos-browser"
mkdir -p "$home" || exit 1
exec 9>"$home/lock"
flock 9

for name in chromium chromium-browser google-chrome-stable google-chrome chrome; do
    binary=$(command -v "$name") && [ -x "$binary" ] && break
    binary=
done
[ -n "${binary:-}" ] || exit 127

alive() { [ -s "$home/pid" ] && kill -0 "$(cat "$home/pid")" 2>/dev/null; }
answers() { [ -s "$home/profile/DevToolsActivePort" ]; }

stop() {
    [ -s "$home/pid" ] && kill -KILL -- "-$(cat "$home/pid")" 2>/dev/null
    rm -rf "$home/profile" "$home/pid"
}

# 9>&- : the browser must not hold the lock.
start() {
    stop
    mkdir -p "$home/profile/Default"
    # Nothing is fetched ahead: such requests belong to no page, and no interceptor is asked about them.
    echo '{"net":{"network_prediction_options":2}}' >"$home/profile/Default/Preferences"
    setsid "$binary" --user-data-dir="$home/profile" "$@" about:blank </dev/null >"$home/log" 2>&1 9>&- &
    echo $! >"$home/pid"
    for _ in $(seq 200); do
        answers && return 0
        alive || return 1
        sleep 0.1
    done
    return 1
}

may_have_namespaces() { [ "$(id -u)" != 0 ] && unshare --user --pid --fork true 2>/dev/null; }

if [ "$ASOS_BROWSER_AFRESH" = 1 ] || ! alive || ! answers; then
    { may_have_namespaces && start "$@"; } || start "$@" --no-sandbox || { stop; tail -c 2000 "$home/log" >&2; exit 1; }
fi
head -n 2 "$home/profile/DevToolsActivePort" | tr '\n' ' '
"""


class ChromiumMissing(Exception):
    """Raised when the sandbox has no Chromium."""


class ChromiumBroken(Exception):
    """Raised when Chromium is there and does not start; the text is the end of what it said."""


@dataclass(frozen=True)
class Endpoint:
    """Where a running Chromium listens inside its sandbox."""

    port: int
    path: str

    def address(self, forwarded_port: int) -> str:
        """The address at this end of a forwarding; nothing that the sandbox says may name another host."""
        return f"ws://127.0.0.1:{forwarded_port}{self.path}"


def _by_scheme(proxy: str) -> str:
    """WebSockets take the last one, where nobody listens: those of workers show themselves to no interceptor."""
    return f"http={proxy};https={proxy};socks=socks5://127.0.0.1:9"


async def running(sandbox: Sandbox, proxy: str, *, afresh: bool = False) -> Endpoint:
    """The browser of this sandbox, started if it is not there; `afresh` ends one that no longer answers.

    Raises: ChromiumMissing, ChromiumBroken, SandboxLost.
    """
    arguments = ("bash", "-c", _START, "asos-browser", *FLAGS, f"--proxy-server={_by_scheme(proxy)}")
    env = {"ASOS_BROWSER_AFRESH": "1" if afresh else "0"}
    outcome = await sandbox.run(Command(argv=arguments, env=env, cwd="/", timeout_seconds=60))
    if outcome.exit_code == _MISSING:
        raise ChromiumMissing
    found = _ENDPOINT.match(plain(outcome.stdout.head).strip())
    if outcome.exit_code != 0 or found is None:
        raise ChromiumBroken(plain(outcome.stderr.head + outcome.stderr.tail).strip()[-500:] or "it said nothing")
    return Endpoint(port=int(found[1]), path=found[2])
