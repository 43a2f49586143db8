"""Decides by name, port and method whether a task may make a request; what is closed wins over every grant."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

from contracts.egress import EgressRules
from contracts.language import Language
from contracts.messages import HostGrant
from contracts.texts import egress as texts
from sandbox.addresses import is_number
from sandbox.blocklist import Blocklist
from sandbox.grants import Grants, canonical_pattern, closeness, covers


@dataclass(frozen=True)
class Refused:
    """The request may not go; `code` is for the audit, `text` for whoever asked."""

    code: str
    text: str
    status: int = 403
    retry_after: int = 0
    """Seconds; 0 if later is no better."""


@dataclass(frozen=True)
class Laws:
    """The rules of the policy file, the list of malicious domains, and what this task was granted."""

    rules: EgressRules
    grants: Grants
    blocklist: Blocklist
    language: Language = "en"

    def permitted(self, host: str, port: int, method: str | None) -> HostGrant | Refused:
        """The grant that opens a canonical host. A method of None is judged later, when it can be seen."""
        closed = self.closed(host)
        if closed is not None:
            return closed
        fitting = self._fitting(host, port)
        if not fitting:
            return Refused("not_allowed", texts.EGRESS_NOT_ALLOWED.say(self.language, host=host, port=port))
        if self.rules.ports and port not in self.rules.ports:
            known = ", ".join(map(str, self.rules.ports))
            return Refused("port", texts.EGRESS_PORT.say(self.language, port=port, known=known))
        if method is None:
            return fitting[0]
        return self._by_method(fitting, host, port, method)

    def closed(self, host: str) -> Refused | None:
        """Whether the name or address is closed to every task."""
        rule = next((rule for rule in _patterns(self.rules.blocked) if _closes(rule, host)), None)
        if rule is not None:
            return Refused("blocked", texts.EGRESS_BLOCKED.say(self.language, host=host, rule=rule))
        listed = self.blocklist.rule_for(host)
        if listed is not None:
            return Refused("blocklisted", texts.EGRESS_BLOCKLISTED.say(self.language, host=host, rule=listed))
        return None

    def inspected(self, host: str) -> bool:
        """Whether the person listed this host for inspection."""
        return any(covers(pattern, host) for pattern in _patterns(self.rules.inspect))

    def _fitting(self, host: str, port: int) -> Sequence[HostGrant]:
        """The closest one first."""
        found = [*self.grants.matching(host, port), *_shared(self.rules.allowed).matching(host, port)]
        return sorted(found, key=closeness, reverse=True)

    def _by_method(self, fitting: Sequence[HostGrant], host: str, port: int, method: str) -> HostGrant | Refused:
        if not self.rules.methods or method in self.rules.methods:
            for grant in fitting:
                if not grant.methods or method in grant.methods:
                    return grant
            known = sorted({one for grant in fitting for one in grant.methods})
        else:
            known = list(self.rules.methods)
        text = texts.EGRESS_TUNNEL if method == "CONNECT" else texts.EGRESS_METHOD
        shown = text.say(self.language, method=method, host=host, port=port, known=", ".join(known))
        return Refused("method", shown)


def _closes(pattern: str, host: str) -> bool:
    """A prohibition takes in everything below a name; a number has nothing below it."""
    name = pattern.removeprefix("*.")
    return name in ("*", host) or (host.endswith(f".{name}") and not is_number(host))


@lru_cache(maxsize=16)
def _patterns(patterns: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(name for pattern in patterns if (name := canonical_pattern(pattern)) is not None)


@lru_cache(maxsize=16)
def _shared(allowed: tuple[HostGrant, ...]) -> Grants:
    return Grants(allowed)
