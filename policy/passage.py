"""Judge what a page asks for while it is shown, and what a sandbox asks the way out for: one address at a time, by the
hosts that were opened and the blocks of the role."""

from collections.abc import Iterable
from dataclasses import dataclass

from ada_url import URL

from contracts.messages import HostGrant
from policy.findings import Findings, Level
from policy.hosts import HostPattern, normal_host
from policy.roles import BrowserRules, Policy
from policy.rules import Rule
from policy.url_paths import path_parts
from policy.urls import Target, judge_locality, read_address

_WITHIN_THE_PAGE = ("data:", "blob:", "about:")
"""They fetch nothing: what a document of theirs asks for is judged by itself."""
_SOCKETS = {"ws:": "http:", "wss:": "https:"}


@dataclass(frozen=True)
class Passage:
    """What one visit may fetch: hosts that are open to its call, minus what its role never may."""

    rules: BrowserRules
    open: tuple[HostGrant, ...]
    """Hosts may be `*.name` for those below it, or `*`."""

    def closed(self, address: str) -> Rule | None:
        """The rule that closes an address, or None."""
        scheme, colon, rest = address.partition(":")
        if scheme.lower() + colon in _WITHIN_THE_PAGE:
            return None
        findings = Findings()
        target = read_address(_SOCKETS.get(scheme.lower() + colon, scheme + colon) + rest, findings)
        if target is not None and findings.level is not Level.DENY:
            self._judge(target, findings)
        return next((finding.rule for finding in findings.found if finding.level is Level.DENY), None)

    def _judge(self, target: Target, findings: Findings) -> None:
        if any(pattern.catches(target.host, target.path) for pattern in self.rules.blocked):
            findings.deny(Rule.URL_BLOCKED, target.host)
        grants = [grant for grant in self.open if grant.port == target.port and _covers(grant.host, target.host)]
        if not grants:
            findings.deny(Rule.URL_UNLISTED, target.shown)
        elif all(grant.address is None for grant in grants):
            judge_locality(target, grants[0], findings)


def closing(policy: Policy, role: str, host: str, path: str | None) -> HostPattern | None:
    """The block that keeps sandboxes of a role from a host, or from this path of it.

    Without a path, which is traffic that nobody looks into, a block of any path of the host counts. For a role that the
    policy does not know the blocks of all roles count.
    """
    known = policy.roles.get(role)
    roles = [known] if known is not None else list(policy.roles.values())
    name = normal_host(host)
    parts = path_parts(_normal_path(path)) if path is not None else None
    patterns = [pattern for one in roles if one.browser is not None for pattern in one.browser.blocked]
    return next(
        (pattern for pattern in patterns if pattern.catches(name, pattern.path if parts is None else parts)), None
    )


def _normal_path(path: str) -> str:
    try:
        return URL(f"http://host/{path.lstrip('/')}").pathname
    except ValueError:
        return path


def _covers(pattern: str, host: str) -> bool:
    if pattern == "*":
        return True
    if pattern.startswith("*."):
        return host.endswith(normal_host(pattern[1:]))
    return host == _spelled(pattern)


def _spelled(host: str) -> str:
    try:
        return normal_host(
            URL(f"https://[{host}]" if ":" in host and not host.startswith("[") else f"https://{host}").hostname
        )
    except ValueError:
        return ""


def opened(address: str, grants: Iterable[HostGrant]) -> tuple[HostGrant, ...]:
    """The grants of a call, and the address that it was asked for."""
    target = read_address(address, Findings())
    own = (HostGrant(host=target.host, port=target.port),) if target is not None else ()
    return (*grants, *own)
