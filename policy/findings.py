"""Collect what rules find; the strictest finding is the verdict."""

from collections.abc import Iterable
from dataclasses import dataclass, field
from enum import IntEnum

from contracts.messages import HostGrant
from contracts.provenance import Effect
from contracts.verdicts import Reason
from policy.rules import Rule


class Level(IntEnum):
    """How strict a finding is."""

    ALLOW = 0
    ASK = 1
    DENY = 2


@dataclass(frozen=True)
class Finding:
    """One rule that applies, and the one value a person needs to see."""

    level: Level
    rule: Rule
    detail: str = ""


@dataclass(frozen=True)
class Ran:
    """One program that a command would start, with its words as far as they are known."""

    program: str
    words: tuple[str, ...]
    exact: bool
    """False if a word is not known, or stands for several."""
    folders: tuple[str, ...] = ()
    """Where it may run; none if that is not known."""


@dataclass
class Findings:
    """What has been found so far about one question."""

    found: dict[Finding, None] = field(default_factory=dict)
    effects: dict[Effect, None] = field(default_factory=dict)
    egress: dict[HostGrant, None] = field(default_factory=dict)
    rules: dict[str, None] = field(default_factory=dict)
    """Ids of the policy's own rules that decided something."""
    destinations: dict[str, None] = field(default_factory=dict)
    """Where it goes, as a person must see it."""
    ran: dict[Ran, None] = field(default_factory=dict)
    """Every program that commands would start, those that others start included."""

    def add(self, level: Level, rule: Rule, detail: str = "") -> None:
        self.found.setdefault(Finding(level, rule, visible(detail)))

    def note(self, rule: Rule, detail: str = "") -> None:
        self.add(Level.ALLOW, rule, detail)

    def ask(self, rule: Rule, detail: str = "") -> None:
        self.add(Level.ASK, rule, detail)

    def deny(self, rule: Rule, detail: str = "") -> None:
        self.add(Level.DENY, rule, detail)

    def affect(self, *effects: Effect) -> None:
        self.effects.update(dict.fromkeys(effects))

    def reach(self, grant: HostGrant) -> None:
        self.egress.setdefault(grant)

    def merge(self, other: "Findings") -> None:
        self.found.update(other.found)
        self.effects.update(other.effects)
        self.egress.update(other.egress)
        self.rules.update(other.rules)
        self.destinations.update(other.destinations)
        self.ran.update(other.ran)

    @property
    def level(self) -> Level:
        return max((finding.level for finding in self.found), default=Level.ALLOW)

    def asked(self) -> tuple[Rule, ...]:
        """Rules that want a person to look."""
        return tuple(dict.fromkeys(finding.rule for finding in self.found if finding.level is Level.ASK))

    def reasons(self) -> tuple[Reason, ...]:
        """Those of the deciding level, in the order found."""
        level = self.level
        return tuple(Reason(rule=f.rule, detail=f.detail) for f in self.found if f.level == level)


DETAIL_CHARACTERS = 200


def visible(text: str) -> str:
    """The text on one line, bounded, with everything that a terminal or chat would not show as itself escaped."""
    shown = "".join(_escaped(text[: DETAIL_CHARACTERS + 1]))
    return shown if len(shown) <= DETAIL_CHARACTERS else shown[: DETAIL_CHARACTERS - 1] + "…"


def _escaped(text: str) -> Iterable[str]:
    for character in text:
        yield character if character.isprintable() else character.encode("unicode_escape").decode("ascii")
