"""A set of Cedar policies that answers quickly: each question is put only to those that could concern it."""

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from cedarpy import PolicySet, is_authorized

from contracts.values import JsonObject

Uid = tuple[str, str]
"""Type and id of an entity, such as `("Tool", "shell")`."""

MOST_SETS = 512
"""So many selections are kept parsed; a policy has far fewer."""

VARYING = frozenset({"host", "granted"})
"""Facts that differ between the requests of one question."""


@dataclass(frozen=True)
class CedarRule:
    """One policy of Cedar: its id for the record, its form as JSON, and whether a yes lifts its prohibition."""

    rule_id: str
    body: JsonObject
    asks: bool = False

    @property
    def forbids(self) -> bool:
        return self.body["effect"] == "forbid"


@dataclass(frozen=True)
class Request:
    """May this person with this role do this to that?"""

    user: str
    role: str
    action: str
    resource: Uid
    parents: tuple[Uid, ...]
    """What the resource belongs to, such as all subdomains of a site."""
    attributes: JsonObject
    """Of the resource."""
    context: JsonObject


@dataclass(frozen=True)
class Answer:
    """What the rules say; each is named by its id."""

    permitted: tuple[str, ...] = ()
    forbidden: tuple[str, ...] = ()
    asked: tuple[str, ...] = ()
    problem: str = ""
    """Set if a rule could not be evaluated: then nothing is permitted."""

    def joined(self, other: "Answer") -> "Answer":
        """Of two sets of rules together."""
        forbidden = (*self.forbidden, *other.forbidden)
        return Answer(
            permitted=() if forbidden else (*self.permitted, *other.permitted),
            forbidden=forbidden,
            asked=(*self.asked, *other.asked),
            problem=self.problem or other.problem,
        )


@dataclass
class _Slice:
    """Rules that could concern one role and one action, by the resource that they name."""

    always: list[int] = field(default_factory=list)
    """Those that say the same to every request of one question."""
    general: list[int] = field(default_factory=list)
    named: dict[Uid, list[int]] = field(default_factory=dict)

    def about(self, resource: Uid, parents: tuple[Uid, ...]) -> tuple[int, ...]:
        named = (index for uid in (resource, *parents) for index in self.named.get(uid, ()))
        return tuple(dict.fromkeys((*self.general, *named)))


@dataclass(frozen=True)
class RuleSet:
    """All rules of one policy file. Without any, nothing is permitted."""

    rules: tuple[CedarRule, ...] = ()
    _slices: dict[tuple[str, str], _Slice] = field(default_factory=dict, init=False, repr=False, compare=False)
    _sets: dict[tuple[int, ...], PolicySet] = field(default_factory=dict, init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        """Raises: ValueError if an id is there twice, since one rule would hide the other."""
        seen = [rule.rule_id for rule in self.rules]
        if len(set(seen)) < len(seen):
            doubled = next(rule_id for rule_id in seen if seen.count(rule_id) > 1)
            raise ValueError(f"the rule id {doubled!r} is there twice")

    def with_rules(self, more: Iterable[CedarRule]) -> "RuleSet":
        return RuleSet((*self.rules, *more))

    def answers(self, requests: Sequence[Request]) -> list[Answer]:
        """To the requests of one question: they have the person and all facts but VARYING in common. Pure."""
        found: list[Answer] = []
        common: Answer | None = None
        for request in requests:
            rules = self._slice(request.role, request.action)
            common = self._answer(tuple(rules.always), request) if common is None else common
            found.append(common.joined(self._answer(rules.about(request.resource, request.parents), request)))
        return found

    def _answer(self, indexes: tuple[int, ...], request: Request) -> Answer:
        firm = tuple(index for index in indexes if not self.rules[index].asks)
        soft = tuple(index for index in indexes if self.rules[index].asks)
        allowed, ids, problem = self._evaluated(firm, request)
        asked, asking, trouble = self._evaluated(soft, request)
        return Answer(
            permitted=ids if allowed else (),
            forbidden=() if allowed else ids,
            asked=asking if asked else (),
            problem=problem or trouble,
        )

    def _evaluated(self, indexes: tuple[int, ...], request: Request) -> tuple[bool, tuple[str, ...], str]:
        if not indexes:
            return False, (), ""
        result = is_authorized(asked_of(request), self._set(indexes), json.dumps(entities_of(request)))
        problem = "; ".join(result.diagnostics.errors)
        return result.allowed, tuple(sorted(result.diagnostics.reasons)), problem

    def _slice(self, role: str, action: str) -> _Slice:
        key = (role, action)
        if key not in self._slices:
            made = _Slice()
            for index, rule in enumerate(self.rules):
                if _may_concern(rule.body, role, action):
                    named = _named(rule.body["resource"])
                    if named is not None:
                        made.named.setdefault(named, []).append(index)
                    else:
                        (made.always if _is_constant(rule.body) else made.general).append(index)
            self._slices[key] = made
        return self._slices[key]

    def _set(self, indexes: tuple[int, ...]) -> PolicySet:
        if indexes not in self._sets:
            if len(self._sets) >= MOST_SETS:
                self._sets.clear()
            bodies = {rule.rule_id: _evaluable(rule) for rule in (self.rules[index] for index in indexes)}
            text = json.dumps({"staticPolicies": bodies, "templates": {}, "templateLinks": []})
            self._sets[indexes] = PolicySet.from_json_str(text)
        return self._sets[indexes]


def _evaluable(rule: CedarRule) -> JsonObject:
    """A prohibition that only asks is found by permitting it in a set of its own."""
    return {**rule.body, "effect": "permit"} if rule.asks else rule.body


def _may_concern(body: JsonObject, role: str, action: str) -> bool:
    """By the scope alone, exactly as Cedar reads it; conditions are left to Cedar."""
    who, what = _object(body["principal"]), _object(body["action"])
    named = _named(who)
    if named is not None and named[0] == "Role" and named[1] != role:
        return False
    if what["op"] == "All":
        return True
    several = what.get("entities", [what.get("entity")])
    return isinstance(several, list) and any(_uid(entity) == ("Action", action) for entity in several)


def _is_constant(body: JsonObject) -> bool:
    """Whether neither action nor resource, nor a fact that varies, plays a part."""
    scopes = (_object(body["action"])["op"], _object(body["resource"])["op"])
    return scopes == ("All", "All") and not _varies(body["conditions"])


def _varies(value: object) -> bool:
    if isinstance(value, list):
        return any(map(_varies, value))
    if not isinstance(value, dict):
        return False
    attribute = _object(value.get("."))
    if value.get("Var") in ("action", "resource") or attribute.get("attr") in VARYING:
        return True
    # The whole context, as in `context has host`, holds what varies; one fact of it need not.
    is_fact = _object(attribute.get("left")).get("Var") == "context"
    return not is_fact and (value.get("Var") == "context" or any(map(_varies, value.values())))


def _named(scope: object) -> Uid | None:
    """The one entity that a scope is about, if it is about one."""
    scope = _object(scope)
    inner = _object(scope["in"]) if "in" in scope else scope
    return _uid(inner["entity"]) if "entity" in inner else None


def _uid(entity: object) -> Uid:
    fields = _object(entity)
    return str(fields["type"]), str(fields["id"])


def _object(value: object) -> JsonObject:
    return value if isinstance(value, dict) else {}


def asked_of(request: Request) -> dict[str, object]:
    """The request as Cedar takes it."""
    return {
        "principal": _entity(("User", request.user)),
        "action": _entity(("Action", request.action)),
        "resource": _entity(request.resource),
        "context": request.context,
    }


def entities_of(request: Request) -> list[dict[str, object]]:
    """Whom and what it is about."""
    resource: dict[str, object] = {
        "uid": _entity(request.resource),
        "attrs": request.attributes,
        "parents": [_entity(uid) for uid in request.parents],
    }
    user: dict[str, object] = {
        "uid": _entity(("User", request.user)),
        "attrs": {},
        "parents": [_entity(("Role", request.role))],
    }
    return [user, resource]


def _entity(uid: Uid) -> dict[str, str]:
    return {"type": uid[0], "id": uid[1]}
