"""Judge a visit: every address on its way, the way a browser reads it, and every network address behind the names."""

from collections.abc import Iterable
from dataclasses import dataclass

from ada_url import URL, HostType

from contracts.messages import HostGrant
from contracts.verdicts import VisitAction
from policy.addresses import is_local_name, is_reachable
from policy.findings import Findings, Level
from policy.hosts import normal_host
from policy.roles import BrowserRules
from policy.rules import Rule
from policy.url_paths import path_parts

MAX_REDIRECTS = 20
"""As browsers do."""

_PORTS = {"https:": 443, "http:": 80}


@dataclass(frozen=True)
class KnownHosts:
    """Hosts that this task has a claim to: named by the person, or opened by them."""

    spoken: frozenset[str] = frozenset()
    grants: tuple[HostGrant, ...] = ()

    @classmethod
    def of(cls, spoken: Iterable[str], grants: Iterable[HostGrant]) -> "KnownHosts":
        return cls(frozenset(filter(None, map(_host_of, spoken))), tuple(grants))

    def grant(self, host: str, port: int) -> HostGrant | None:
        return next((g for g in self.grants if g.port == port and _host_of(g.host) == host), None)


@dataclass(frozen=True)
class Target:
    """One address, parsed."""

    url: URL
    host: str
    port: int
    path: tuple[str, ...]

    @property
    def shown(self) -> str:
        return self.host if self.port == 443 else f"{self.host}:{self.port}"


def judge_visit(visit: VisitAction, rules: BrowserRules, known: KnownHosts, findings: Findings) -> None:
    """Add what is to be said about the visit; all hops and all answers of the resolver count."""
    findings.affect("read", "egress")
    if visit.write:
        findings.affect("write", "send")
    if len(visit.redirects) > MAX_REDIRECTS:
        findings.deny(Rule.URL_REDIRECTS, str(len(visit.redirects)))
    here: str | None = None
    pinned = True
    for hop in (visit.url, *visit.redirects):
        target = read_address(hop, findings, here)
        if target is None:
            return
        here = target.url.href
        judge_target(target, rules, known, findings, write=visit.write)
        grant = known.grant(target.host, target.port)
        pinned = pinned and grant is not None and grant.address is not None
    for answer in () if pinned else (address for answers in visit.dns for address in answers):
        if not is_reachable(answer):
            findings.deny(Rule.URL_PRIVATE, answer)


def read_address(text: str, findings: Findings, base: str | None = None) -> Target | None:
    """Parse as a browser does; None, with the reason found, if nobody could mean it honestly."""
    if any(ord(character) <= 0x20 or 0x7F <= ord(character) <= 0xA0 for character in text):
        findings.deny(Rule.URL_CONTROL, text)
        return None
    try:
        url = URL(text, base) if base else URL(text)
    except ValueError:
        findings.deny(Rule.URL_INVALID, text)
        return None
    if url.protocol not in _PORTS:
        findings.deny(Rule.URL_SCHEME, url.protocol.removesuffix(":"))
        return None
    if "\\" in text.split("?", 1)[0].split("#", 1)[0]:
        findings.deny(Rule.URL_BACKSLASH, text)
    if url.username or url.password or "@" in text.split("//", 1)[-1].split("/", 1)[0].split("?", 1)[0]:
        findings.deny(Rule.URL_USER, normal_host(url.hostname))
    port = int(url.port) if url.port else _PORTS[url.protocol]
    return Target(url, normal_host(url.hostname), port, path_parts(url.pathname))


def judge_target(target: Target, rules: BrowserRules, known: KnownHosts, findings: Findings, *, write: bool) -> None:
    """Judge one parsed address; a block wins over everything, a grant over the lists."""
    if any(pattern.catches(target.host, target.path) for pattern in rules.blocked):
        findings.deny(Rule.URL_BLOCKED, target.host)
        return
    grant = known.grant(target.host, target.port)
    if grant is None or grant.address is None:
        judge_locality(target, grant, findings)
    level = Level.ALLOW if grant else _judge_listing(target, rules, known, findings)
    if level is not Level.DENY:
        findings.reach(grant or HostGrant(host=target.host, port=target.port))
    if grant:
        findings.note(Rule.URL_APPROVED, target.shown)
    elif target.url.protocol == "http:" and not _listed_plain(target, rules):
        findings.add(max(level, Level.ASK), Rule.URL_PLAIN, target.shown)
    if write and not any(pattern.matches(target.host, target.port, target.path) for pattern in rules.write):
        findings.ask(Rule.URL_WRITE, target.shown)


def judge_locality(target: Target, grant: HostGrant | None, findings: Findings) -> None:
    """Addresses and names that are no place of the public internet."""
    if target.url.host_type is not HostType.DEFAULT:
        if grant is None:
            findings.deny(Rule.URL_ADDRESS, target.host)
        if not is_reachable(target.host):
            findings.deny(Rule.URL_PRIVATE, target.host)
    elif is_local_name(target.host) and grant is None:
        findings.deny(Rule.URL_LOCAL_NAME, target.host)


def _judge_listing(target: Target, rules: BrowserRules, known: KnownHosts, findings: Findings) -> Level:
    lists = (*rules.read, *rules.write, *rules.execute)
    port = 443 if target.url.protocol == "http:" and target.port == 80 else target.port
    if any(
        p.matches(target.host, port, target.path) or p.matches(target.host, target.port, target.path) for p in lists
    ):
        findings.note(Rule.URL_LISTED, target.shown)
        return Level.ALLOW
    unlisted = Level.ASK if rules.unlisted == "ask" else Level.DENY
    standard = target.port == _PORTS[target.url.protocol]
    if standard and unlisted is Level.ASK and target.host in known.spoken:
        findings.note(Rule.URL_SPOKEN, target.shown)
        return Level.ALLOW
    findings.add(unlisted, Rule.URL_UNLISTED if standard else Rule.URL_PORT, target.shown)
    return unlisted


def _listed_plain(target: Target, rules: BrowserRules) -> bool:
    lists = (*rules.read, *rules.write, *rules.execute)
    return any(p.plain and p.matches(target.host, target.port, target.path) for p in lists)


def _host_of(text: str) -> str:
    try:
        return normal_host(URL(f"https://{text}").hostname)
    except ValueError:
        return ""
