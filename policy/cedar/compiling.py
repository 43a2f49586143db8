"""What a role may do, as policies in Cedar: each line of the file that grants or blocks has its own id."""

from collections.abc import Iterable, Iterator

from contracts.provenance import Effect
from contracts.values import JsonObject
from policy.cedar.ruleset import CedarRule, Uid
from policy.cedar.schema import EFFECTS, EGRESS, USE
from policy.hosts import HostPattern
from policy.roles import BrowserRules, Role, ToolRules

_ANY: JsonObject = {"op": "All"}
_OWN: tuple[Effect, ...] = ("read", "write", "send")
_PAGES: tuple[Effect, ...] = ("read", "write", "send")
_COMMANDS: tuple[Effect, ...] = ("read", "write", "execute", "delete", "send", "share", "credential", "egress")
_TOOLS: JsonObject = {"op": "is", "entity_type": "Tool"}
"""Not a host: where commands reach a known one, the browser's lists say whether they may."""


def compiled(roles: Iterable[Role]) -> tuple[CedarRule, ...]:
    """All rules that the roles' own sections amount to."""
    return tuple(rule for role in roles for rule in _role(role))


def narrowing(role: str, source: str, tools: ToolRules) -> Iterator[CedarRule]:
    """What a file that may only tighten says of tools: prohibitions of everything that it does not list, or blocks."""
    if tools.allowed is not None:
        listed = _any_of([_tool_is(name) for name in tools.allowed])
        yield _rule(f"{source}/{role}/tools.allowed", "forbid", role, [USE], _ANY, ("unless", listed))
    for index, name in enumerate(tools.blocked):
        yield _tool(f"{source}/{role}/tools.blocked/{index}", "forbid", role, name)


def scoped(role: str, source: str, scopes: tuple[str, ...]) -> CedarRule:
    """The same for foreign services: nothing but these scopes."""
    foreign: JsonObject = {"contains": {"left": _fact("kinds"), "right": {"Value": "effect"}}}
    unlisted: JsonObject = {"!": {"arg": _any_of([_scope_is(scope) for scope in scopes])}}
    where: JsonObject = {"&&": {"left": foreign, "right": unlisted}}
    return _rule(f"{source}/{role}/api.scopes", "forbid", role, EFFECTS, _ANY, ("when", where))


def _role(role: Role) -> Iterator[CedarRule]:
    place = f"role/{role.name}"
    yield from _tools(place, role)
    yield _rule(f"{place}/own", "permit", role.name, _OWN, _ANY, ("when", _fact("own")))
    if role.browser is not None:
        yield _rule(f"{place}/browser", "permit", role.name, _PAGES, _ANY, ("when", _kind("visit", "command")))
        yield from _hosts(place, role.name, role.browser)
    if role.cli is not None:
        yield _rule(f"{place}/cli", "permit", role.name, _COMMANDS, _TOOLS, ("when", _kind("command", "file", "send")))
    if role.api is not None:
        yield from _services(place, role.name, role.api.scopes)


def _tools(place: str, role: Role) -> Iterator[CedarRule]:
    if role.tools.allowed is None:
        yield _rule(f"{place}/tools", "permit", role.name, [USE], _ANY)
    for index, name in enumerate(role.tools.allowed or ()):
        yield _tool(f"{place}/tools.allowed/{index}", "permit", role.name, name)
    for index, name in enumerate(role.tools.blocked):
        yield _tool(f"{place}/tools.blocked/{index}", "forbid", role.name, name)


def _hosts(place: str, role: str, rules: BrowserRules) -> Iterator[CedarRule]:
    """Ports and paths are compared before; a host that no line names is nobody's to grant."""
    for name in ("read", "write", "execute"):
        patterns: tuple[HostPattern, ...] = getattr(rules, name)
        for index, pattern in enumerate(patterns):
            yield _rule(f"{place}/browser.{name}/{index}", "permit", role, [EGRESS], _listed(pattern))
    if rules.unlisted == "ask":
        yield _rule(f"{place}/browser.unlisted", "permit", role, [EGRESS], _ANY)
    yield _rule(f"{place}/browser.granted", "permit", role, [EGRESS], _ANY, ("when", _fact("granted")))
    for index, pattern in enumerate(rules.blocked):
        if not pattern.path:
            yield _rule(f"{place}/browser.blocked/{index}", "forbid", role, [EGRESS], _below(pattern))


def _services(place: str, role: str, scopes: tuple[str, ...] | None) -> Iterator[CedarRule]:
    """Effects of services that no grammar describes."""
    foreign = ("when", _kind("effect"))
    if scopes is None:
        yield _rule(f"{place}/api", "permit", role, EFFECTS, _ANY, foreign)
    for index, scope in enumerate(scopes or ()):
        tool, _, effect = scope.partition(".")
        where: JsonObject = {"&&": {"left": foreign[1], "right": _tool_is(tool)}}
        effects = [each for each in EFFECTS if effect in ("", "*", each)]
        yield _rule(f"{place}/api.scopes/{index}", "permit", role, effects, _ANY, ("when", where))


def _tool(rule_id: str, effect: str, role: str, name: str) -> CedarRule:
    if "*" in name:
        return _rule(rule_id, effect, role, [USE], _ANY, ("when", _tool_is(name)))
    return _rule(rule_id, effect, role, [USE], {"op": "==", "entity": _uid(("Tool", name))})


def _rule(
    rule_id: str,
    effect: str,
    role: str,
    actions: Iterable[str],
    resource: JsonObject,
    condition: tuple[str, JsonObject] | None = None,
) -> CedarRule:
    body: JsonObject = {
        "effect": effect,
        "principal": {"op": "in", "entity": _uid(("Role", role))},
        "action": {"op": "in", "entities": [_uid(("Action", action)) for action in actions]},
        "resource": resource,
        "conditions": [] if condition is None else [{"kind": condition[0], "body": condition[1]}],
    }
    return CedarRule(rule_id, body)


def _listed(pattern: HostPattern) -> JsonObject:
    if not pattern.host:
        return _ANY
    name = f"*.{pattern.host}" if pattern.subdomains else pattern.host
    return {"op": "in", "entity": _uid(("Host", name))}


def _below(pattern: HostPattern) -> JsonObject:
    return {"op": "in", "entity": _uid(("Host", f"site:{pattern.host}"))} if pattern.host else _ANY


def _kind(*kinds: str) -> JsonObject:
    return _any_of([{"contains": {"left": _fact("kinds"), "right": {"Value": kind}}} for kind in kinds])


def _any_of(tests: list[JsonObject]) -> JsonObject:
    found: JsonObject = {"Value": False}
    for test in tests:
        found = {"||": {"left": found, "right": test}}
    return found


def _tool_is(name: str) -> JsonObject:
    """A `*` stands for any characters."""
    pieces = name.split("*")
    pattern: list[object] = [*pieces[0]]
    spelled: list[object] = [{"Literal": character} for character in pattern]
    for piece in pieces[1:]:
        spelled += ["Wildcard", *({"Literal": character} for character in piece)]
    return {"like": {"left": _fact("tool"), "pattern": spelled}}  # type: ignore[dict-item]  # a list of JSON


def _scope_is(scope: str) -> JsonObject:
    tool, _, effect = scope.partition(".")
    if effect in ("", "*"):
        return _tool_is(tool)
    action: JsonObject = {"==": {"left": {"Var": "action"}, "right": {"Value": {"__entity": _uid(("Action", effect))}}}}
    return {"&&": {"left": _tool_is(tool), "right": action}}


def _fact(name: str) -> JsonObject:
    return {".": {"left": {"Var": "context"}, "attr": name}}


def _uid(uid: Uid) -> JsonObject:
    return {"type": uid[0], "id": uid[1]}
