"""The stricter of two: what a file that may only tighten changes, value by value, and what it asks for in vain."""

from dataclasses import dataclass, field, replace
from typing import TypeVar

from contracts.egress import EgressRules
from contracts.provenance import Effect
from contracts.usage import Ceiling
from policy.document import Entry
from policy.roles import ApprovalRules, Choice, RiskRules, SandboxRules

Item = TypeVar("Item", str, int)
Number = TypeVar("Number", int, float)

_ORDER: tuple[Choice, ...] = ("allow", "ask", "deny")
_CHOICES = ("data_deletion", "external_communication", "credential_access", "account_changes")


@dataclass
class InVain:
    """What was asked for and is not given, as sentences with their line."""

    said: list[str] = field(default_factory=list)

    def add(self, entry: Entry, why: str) -> None:
        sentence = str(entry.error(why))
        if sentence not in self.said:
            self.said.append(sentence)


def stricter_approvals(
    base: ApprovalRules, other: ApprovalRules, stated: dict[str, Entry], vain: InVain
) -> ApprovalRules:
    """`stated` holds the places of what the other file says at all."""
    found = base
    for name in _CHOICES:
        mine, theirs = getattr(base, name), getattr(other, name)
        if name in stated and _ORDER.index(theirs) > _ORDER.index(mine):
            found = replace(found, **{name: theirs})
        elif name in stated and theirs != mine:
            vain.add(stated[name], f"{theirs} is laxer than {mine}, which stays")
    if "spending_over" in stated:
        if other.spending_over > base.spending_over:
            vain.add(stated["spending_over"], f"the lower amount, {base.spending_over:g}, stays")
        found = replace(found, spending_over=min(base.spending_over, other.spending_over))
    if "step_up" in stated:
        found = replace(found, step_up=_both(base.step_up, other.step_up, stated["step_up"], vain))
    if "approvers" in stated:
        _tell_new(base.approvers, other.approvers, stated["approvers"], vain)
        found = replace(found, approvers=tuple(each for each in base.approvers if each in other.approvers))
    return found


def stricter_risk(base: RiskRules, other: RiskRules, stated: dict[str, Entry], vain: InVain) -> RiskRules:
    found = base
    for name in ("ask_at", "deny_at"):
        mine, theirs = getattr(base, name), getattr(other, name)
        if name in stated and (mine is None or theirs <= mine):
            found = replace(found, **{name: theirs})
        elif name in stated:
            vain.add(stated[name], f"the lower risk, {mine}, stays")
    if "points" in stated:
        found = replace(found, points=_more_points(base, other, stated["points"], vain))
    if "usual_hours" in stated and other.usual_hours is not None:
        if base.usual_hours is not None and _lies_within(other.usual_hours, base.usual_hours):
            found = replace(found, usual_hours=other.usual_hours)
        else:
            vain.add(stated["usual_hours"], "they may only lie within the hours of the person's own file")
    return found


def lower_ceilings(base: tuple[Ceiling, ...], other: tuple[Ceiling, ...]) -> tuple[Ceiling, ...]:
    """Of each kind and span the lower one."""
    found = {(ceiling.kind, ceiling.span): ceiling for ceiling in base}
    for ceiling in other:
        key = (ceiling.kind, ceiling.span)
        if key not in found or ceiling.most < found[key].most:
            found[key] = ceiling
    return tuple(found.values())


def stricter_sandbox(base: SandboxRules, other: SandboxRules, entry: Entry, vain: InVain) -> SandboxRules:
    """A runtime may be demanded where none is, and more states may be saved; how long files are kept stays."""
    found = base
    if other.runtime and not base.runtime:
        found = replace(found, runtime=other.runtime, runtime_for=other.runtime_for)
    elif other.runtime == base.runtime and base.runtime and base.runtime_for:
        both = tuple(dict.fromkeys((*base.runtime_for, *(other.runtime_for or ()))))
        found = replace(found, runtime_for=both if other.runtime_for else ())
    elif other.runtime is not None and other.runtime != base.runtime:
        vain.add(entry, f"the runtime {base.runtime or 'any'} stays")
    if other.snapshot_before:
        both = tuple(dict.fromkeys((*(base.snapshot_before or ()), *other.snapshot_before)))
        found = replace(found, snapshot_before=both)
    if other.retention_days is not None or other.users:
        vain.add(entry, "retention_days and users are for the person's own file alone")
    return found


def stricter_egress(base: EgressRules, other: EgressRules, entry: Entry, vain: InVain) -> EgressRules:
    """More is blocked and less let through; nothing is opened or inspected that was not before."""
    if other.allowed or other.inspect or other.authorities:
        vain.add(entry, "allowed, inspect and authorities are for the person's own file alone")
    methods = _common(base.methods, other.methods)
    ports = _common(base.ports, other.ports)
    shut = ("*",) if methods is None or ports is None else ()
    return base.model_copy(
        update={
            "blocked": tuple(dict.fromkeys((*base.blocked, *other.blocked, *shut))),
            "methods": base.methods if methods is None else methods,
            "ports": base.ports if ports is None else ports,
            "bytes_up": _least(base.bytes_up, other.bytes_up),
            "bytes_down": _least(base.bytes_down, other.bytes_down),
            "requests_per_minute": _least(base.requests_per_minute, other.requests_per_minute),
            "bytes_per_second": _least(base.bytes_per_second, other.bytes_per_second),
        }
    )


def _both(base: tuple[Effect, ...], other: tuple[Effect, ...], entry: Entry, vain: InVain) -> tuple[Effect, ...]:
    if missing := [effect for effect in base if effect not in other]:
        vain.add(entry, f"a second factor stays wanted for {', '.join(missing)}")
    return tuple(dict.fromkeys((*base, *other)))


def _tell_new(base: tuple[str, ...], other: tuple[str, ...], entry: Entry, vain: InVain) -> None:
    if more := [each for each in other if each not in base]:
        vain.add(entry, f"{', '.join(more)} may not decide by the person's own file")


def _more_points(base: RiskRules, other: RiskRules, entry: Entry, vain: InVain) -> tuple[tuple[str, int], ...]:
    """Only parts that the person's own file weighs can be compared with it."""
    found = dict(base.points)
    for name, points in other.points:
        if name in found and points >= found[name]:
            found[name] = points
        else:
            vain.add(entry, f"the points of {name} may only be more than the person's own file says")
    return tuple(found.items())


def _lies_within(inner: tuple[int, int], outer: tuple[int, int]) -> bool:
    return set(_hours(inner)) <= set(_hours(outer))


def _hours(hours: tuple[int, int]) -> list[int]:
    first, last = hours
    return [hour % 24 for hour in range(first, last if last > first else last + 24)]


def _common(one: tuple[Item, ...], other: tuple[Item, ...]) -> tuple[Item, ...] | None:
    """What both let through, where nothing said lets everything through; None if nothing is left."""
    if not one or not other:
        return one or other
    return tuple(each for each in one if each in other) or None


def _least(one: Number | None, other: Number | None) -> Number | None:
    if one is None or other is None:
        return other if one is None else one
    return min(one, other)
