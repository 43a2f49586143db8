"""A file of a project or a skill over the person's own: it may only tighten. What it permits counts where the person
permits it as well; its blocks, prohibitions, questions and lower limits count by themselves."""

import hashlib
from collections.abc import Callable
from dataclasses import dataclass, field, replace

from policy.cedar.compiling import narrowing, scoped
from policy.cedar.ruleset import CedarRule
from policy.cedar.statements import own_rules
from policy.document import Entry
from policy.egress import egress_rules
from policy.file import KEYS, PERMISSIONS, ROLE_KEYS, document_of, role_entries, version_of
from policy.limits import ceilings
from policy.paths import PathPattern
from policy.patterns import CommandPattern
from policy.risk_section import risk_rules
from policy.roles import BrowserRules, CommandRules, Policy, Role, SandboxRules
from policy.sandboxes import sandbox_rules
from policy.sections import api_rules, approval_rules, browser_rules, command_rules, senders, tool_rules
from policy.stricter import (
    InVain,
    lower_ceilings,
    stricter_approvals,
    stricter_egress,
    stricter_risk,
    stricter_sandbox,
)  # fmt: skip

EVERY_ROLE = "*"
"""The role of a file that names none: it holds for all roles of the person's own file."""


@dataclass
class _Overlay:
    """One file on its way over the person's own."""

    source: str
    """How its rules are called in records."""
    place: str = ""
    """The same for the role that is being read."""
    vain: InVain = field(default_factory=InVain)
    rules: list[CedarRule] = field(default_factory=list)


def tightened(base: Policy, text: str, name: str) -> Policy:
    """The policy with one more file over it; `ignored` says what that file asked for in vain. Nothing that `base` asks
    or denies is ever answered more laxly.

    Raises: PolicyError.
    """
    overlay = _Overlay(f"overlay/{base.overlays + 1}")
    document = document_of(text, name)
    fields = document.fields(KEYS)
    roles = dict(base.roles)
    for number, entry in enumerate(role_entries(document, fields)):
        overlay.place = f"{overlay.source}/{number}"
        _apply(roles, entry, KEYS if entry is document else ROLE_KEYS, overlay)
    if "roles" in fields:
        _apply_common(roles, fields, overlay)
    if "cedar" in fields:
        overlay.rules += _prohibitions(fields["cedar"], tuple(roles), overlay)
    egress = base.egress
    if "egress" in fields:
        egress = stricter_egress(egress, egress_rules(fields["egress"]), fields["egress"], overlay.vain)
    version = hashlib.sha256(f"{base.version}\n{version_of(text)}".encode()).hexdigest()
    return replace(
        base,
        version=version,
        roles=roles,
        egress=egress,
        rules=base.rules.with_rules(overlay.rules),
        blocked_senders=(*base.blocked_senders, *senders(fields.get("blocked_senders"))),
        ignored=(*base.ignored, *overlay.vain.said),
        overlays=base.overlays + 1,
    )


def _apply(roles: dict[str, Role], entry: Entry, known: tuple[str, ...], overlay: _Overlay) -> None:
    fields = entry.fields(known)
    name = fields["role"].text() if "role" in fields else EVERY_ROLE
    if name != EVERY_ROLE and name not in roles:
        overlay.vain.add(fields["role"], f"the person's own file has no role {name!r}, and none is added")
        return
    if "senders" in fields:
        overlay.vain.add(fields["senders"], "who has which role is said by the person's own file alone")
    for each in (name,) if name != EVERY_ROLE else tuple(roles):
        roles[each] = _role(roles[each], fields, overlay)


def _apply_common(roles: dict[str, Role], fields: dict[str, Entry], overlay: _Overlay) -> None:
    """What stands beside `roles` holds for all of them."""
    common = {name: entry for name, entry in fields.items() if name in ("sandbox", "limits", "risk")}
    for name, role in tuple(roles.items()):
        roles[name] = _role(role, common, overlay)


def _role(base: Role, fields: dict[str, Entry], overlay: _Overlay) -> Role:
    found = _permitted(base, fields["permissions"].fields(PERMISSIONS), overlay) if "permissions" in fields else base
    if "approval_rules" in fields:
        entry = fields["approval_rules"]
        stated = entry.stated()
        found = replace(
            found, approvals=stricter_approvals(found.approvals, approval_rules(entry), stated, overlay.vain)
        )
    if "limits" in fields:
        found = replace(found, ceilings=lower_ceilings(found.ceilings, ceilings(fields["limits"], None, None)))
    if "risk" in fields:
        entry = fields["risk"]
        rules = risk_rules(entry, None)
        found = replace(found, risk=stricter_risk(found.risk, rules, entry.stated(), overlay.vain))
    if "sandbox" in fields:
        rules_there = sandbox_rules(fields["sandbox"], SandboxRules())
        sandbox = stricter_sandbox(found.sandbox, rules_there, fields["sandbox"], overlay.vain)
        found = replace(found, sandbox=sandbox)
    # What is asked about is the same for every reading of the role.
    return replace(found, narrowed=tuple(replace(each, approvals=found.approvals) for each in found.narrowed))


def _permitted(base: Role, sections: dict[str, Entry], overlay: _Overlay) -> Role:
    found, narrow = base, base
    if "browser" in sections:
        browser = _browser(base, sections["browser"], overlay)
        found, narrow = replace(found, browser=browser[0]), replace(narrow, browser=browser[1])
    if "cli" in sections:
        cli = _cli(base, sections["cli"], overlay)
        found, narrow = replace(found, cli=cli[0]), replace(narrow, cli=cli[1])
    if "tools" in sections:
        overlay.rules += narrowing(base.name, overlay.place, tool_rules(sections["tools"]))
    if "api" in sections:
        api = api_rules(sections["api"])
        found = replace(found, ceilings=lower_ceilings(found.ceilings, ceilings(None, None, api)))
        overlay.rules += [scoped(base.name, overlay.place, api.scopes)] if api.scopes is not None else []
    narrow = replace(narrow, narrowed=())
    is_narrower = (narrow.browser, narrow.cli) != (base.browser, base.cli)
    return replace(found, narrowed=(*found.narrowed, narrow)) if is_narrower else found


def _browser(base: Role, entry: Entry, overlay: _Overlay) -> tuple[BrowserRules | None, BrowserRules | None]:
    """The person's own lists with the further blocks, and the lists that must permit as well."""
    mine, theirs = base.browser, browser_rules(entry)
    if mine is None:
        overlay.vain.add(entry, f"the person's own file permits {base.name} no address at all")
        return None, None
    stated = entry.stated()
    listed = (*mine.read, *mine.write, *mine.execute)
    narrow = mine
    for name in ("read", "write", "execute"):
        if name in stated:
            permitted = listed if name == "read" else getattr(mine, name)
            patterns = getattr(theirs, name)
            _tell(stated[name], [p.text for p in patterns if not any(m.includes(p) for m in permitted)], overlay)
            narrow = replace(narrow, **{name: patterns})
    if "unlisted" in stated:
        narrow = replace(narrow, unlisted=theirs.unlisted)
        if theirs.unlisted == "ask" and mine.unlisted == "deny":
            overlay.vain.add(stated["unlisted"], "hosts in none of the person's own lists stay denied")
    blocked = (*mine.blocked, *theirs.blocked)
    return replace(mine, blocked=blocked), replace(narrow, blocked=blocked)


def _cli(base: Role, entry: Entry, overlay: _Overlay) -> tuple[CommandRules | None, CommandRules | None]:
    mine, theirs = base.cli, command_rules(entry)
    if mine is None:
        overlay.vain.add(entry, f"the person's own file permits {base.name} no commands at all")
        return None, None
    stated = entry.stated()
    narrow = mine
    tests: dict[str, Callable[[CommandPattern | PathPattern], bool]] = {
        "read": lambda rule: _is_covered(rule, (*mine.read, *mine.write)),
        "write": lambda rule: _is_covered(rule, mine.write),
        "execute": lambda rule: _is_covered(rule, mine.execute),
    }
    for name, permitted in tests.items():
        if name in stated:
            rules = getattr(theirs, name)
            _tell(stated[name], [rule.text for rule in rules if not permitted(rule)], overlay)
            narrow = replace(narrow, **{name: rules})
    blocks = {
        "blocked": (*mine.blocked, *theirs.blocked),
        "blocked_paths": (*mine.blocked_paths, *theirs.blocked_paths),
    }
    return replace(mine, **blocks), replace(narrow, **blocks)  # type: ignore[arg-type]  # the names are as above


def _is_covered(rule: CommandPattern | PathPattern, mine: tuple[CommandPattern | PathPattern, ...]) -> bool:
    if isinstance(rule, PathPattern):
        path = f"/{'/'.join(rule.parts)}"
        return any(isinstance(each, PathPattern) and each.covers(path) for each in mine)
    return any(isinstance(each, CommandPattern) and each.permits(rule.program, rule.words) for each in mine)


def _tell(entry: Entry, texts: list[str], overlay: _Overlay) -> None:
    if texts:
        shown = ", ".join(texts)
        overlay.vain.add(entry, f"the person's own file does not permit {shown}, so neither does this one")


def _prohibitions(entry: Entry, roles: tuple[str, ...], overlay: _Overlay) -> list[CedarRule]:
    rules = own_rules(entry, roles, f"{overlay.source}/cedar")
    if permits := [rule.rule_id for rule in rules if not rule.forbids]:
        overlay.vain.add(entry, f"only the person's own file permits; {', '.join(permits)} count for nothing")
    return [rule for rule in rules if rule.forbids]
