"""The person's own rules in Cedar: by the facts of the question, a prohibition wins, and a mistake has its line."""

import json
from datetime import UTC, datetime
from typing import get_args

import pytest
from cedarpy import PolicySet, is_authorized
from hypothesis import given, settings
from hypothesis import strategies as st

from contracts.messages import HostGrant
from contracts.provenance import Effect, ToolLabels
from contracts.verdicts import (
    Action,
    Actor,
    CommandAction,
    EffectAction,
    Question,
    SendAction,
    TalkAction,
    VisitAction,
)  # fmt: skip
from policy.cedar.ruleset import CedarRule, RuleSet, asked_of, entities_of
from policy.cedar.schema import USE, schema
from policy.document import PolicyError
from policy.file import parse
from policy.findings import Findings
from policy.permissions import requests_of
from tests.policy.roles_file import PLAIN, ROLES, ask, with_rules

NIGHT = '@id("night") forbid(principal, action == Action::"execute", resource) when { context.hour < 6 };'
ASKS = '@id("look") @answer("ask") forbid(principal, action == Action::"use", resource == Tool::"shell");'


@pytest.mark.parametrize(
    ("rule", "action", "hour", "kind", "reason"),
    [
        (NIGHT, CommandAction(script="npm test"), 3, "deny", "permission.forbidden"),
        (NIGHT, CommandAction(script="ls"), 7, "allow", ""),
        (ASKS, CommandAction(script="ls"), 7, "ask", "permission.asked"),
        ('forbid(principal, action, resource) when { context.amount > 50 };',
         EffectAction(effects=("money",), amount=50.5), 7, "deny", "permission.forbidden"),
        ('forbid(principal, action, resource) when { context.amount > 50 };',
         EffectAction(effects=("money",), amount=50.0), 7, "allow", ""),
        ('forbid(principal, action, resource) when { context.amount > 50 };',
         EffectAction(effects=("money",)), 7, "deny", "permission.forbidden"),
        ('forbid(principal, action, resource) when { context.destinations.contains("bob") };',
         SendAction(recipient="bob", what="x"), 7, "deny", "permission.forbidden"),
        ('forbid(principal, action == Action::"egress", resource in Host::"*.example");',
         VisitAction(url="https://x.docs.example/"), 7, "deny", "permission.forbidden"),
        ('forbid(principal, action == Action::"egress", resource in Host::"*.docs.example");',
         VisitAction(url="https://github.com/"), 7, "allow", ""),
        ('forbid(principal, action, resource) when { context.host == "github.com" };',
         VisitAction(url="https://github.com/"), 7, "deny", "permission.forbidden"),
        ('forbid(principal, action, resource) when { context has host && context.host != "" };',
         VisitAction(url="https://github.com/"), 7, "deny", "permission.forbidden"),
        ('forbid(principal == User::"telegram:7", action, resource) when { context.weekday == "sat" };',
         TalkAction(), 7, "deny", "permission.forbidden"),
        ('forbid(principal in Role::"reader", action, resource);', TalkAction(), 7, "allow", ""),
        ('forbid(principal, action, resource) when { context.task_risk + 9223372036854775807 + 1 > 0 };',
         TalkAction(), 7, "deny", "permission.broken"),
        ('permit(principal, action, resource);', CommandAction(script="sudo id"), 7, "deny", "command.privilege"),
        ('permit(principal, action, resource);', VisitAction(url="https://bank.example/"), 7, "deny", "url.blocked"),
    ],
)  # fmt: skip
def test_the_persons_own_rules_decide_by_the_facts_of_the_question(
    rule: str, action: Action, hour: int, kind: str, reason: str
) -> None:
    verdict = ask(with_rules(rule), action, hour=hour)

    assert verdict.kind == kind
    assert not reason or reason in [each.rule for each in verdict.reasons]


def test_a_prohibition_wins_over_every_permission_and_over_a_question() -> None:
    policy = with_rules(
        "permit(principal, action, resource);", ASKS, '@id("no") forbid(principal, action, resource == Tool::"shell");'
    )

    verdict = ask(policy, CommandAction(script="ls"))

    assert verdict.kind == "deny"
    assert [each.detail for each in verdict.reasons] == ["cedar/no"]
    assert {"cedar/no", "cedar/look"} <= set(verdict.rules)


def test_the_persons_own_rules_can_grant_a_tool_and_an_effect_to_a_closed_role() -> None:
    policy = with_rules(
        'permit(principal in Role::"reader", action == Action::"use", resource == Tool::"shop");',
        'permit(principal in Role::"reader", action == Action::"read", resource == Tool::"shop");',
    )

    assert ask(policy, EffectAction(effects=("read",)), role="reader", tool="shop").kind == "allow"
    assert ask(policy, EffectAction(effects=("send",)), role="reader", tool="shop").kind == "deny"
    assert ask(PLAIN, EffectAction(effects=("read",)), role="reader", tool="shop").kind == "deny"


@pytest.mark.parametrize(
    ("lines", "line", "said"),
    [
        (["permit(principal, actn, resource);"], 2, "actn"),
        (["permit(principal,", "  action, resource) when { context.hr > 3 };"], 3, "`hr`"),
        (["// a remark; with a semicolon", "", 'forbid(principal, action == Action::"sned", resource);'], 4, "sned"),
        (['forbid(principal in Role::"membr", action, resource);'], 2, "no role 'membr'; it has owner, reader"),
        (['@answer("ask") permit(principal, action, resource);'], 2, "before a forbid alone"),
        (['@answer("maybe") forbid(principal, action, resource);'], 2, '@answer("deny")'),
        (['@note("x") forbid(principal, action, resource);'], 2, "unknown annotation @note"),
        (['@id("a b") forbid(principal, action, resource);'], 2, "'a b' is no id"),
        (['@id("a") forbid(principal, action, resource);'] * 2, 3, "'cedar/a' is there twice"),
        (["permit(principal == ?principal, action, resource);"], 2, "template"),
        (["permit(principal, action, resource);", "forbid(principal, action, resource)"], 3, "not a policy"),
        (['permit(principal, action == Action::"read", resource is Host);'], 2, "applicable action"),
        (['permit(principal, action, resource) when { context.hour > "a" };'], 2, "expected Long"),
        (['permit(principal, action, resource) when { "unclosed };'], 2, "not a policy"),
    ],
)
def test_a_mistake_in_the_persons_own_rules_has_its_line(lines: list[str], line: int, said: str) -> None:
    text = "cedar: |\n" + "".join(f"  {each}\n" for each in lines)

    with pytest.raises(PolicyError) as caught:
        parse(text + ROLES, "mine.yaml")

    assert caught.value.line == line
    assert said in str(caught.value)
    assert str(caught.value).startswith(f"mine.yaml:{line}: cedar: ")


@pytest.mark.parametrize("user", ['telegram:7"; permit', "telegram:\ud800", "a\nb", "", "\\"])
def test_any_name_of_a_person_a_tool_or_a_host_is_a_value_and_never_a_rule(user: str) -> None:
    policy = with_rules('forbid(principal == User::"telegram:7", action, resource);')

    assert ask(policy, TalkAction(), user=user, tool=user or "x").kind == "allow"
    assert ask(policy, CommandAction(script="ls"), user=user, role=user).kind == "deny"


def test_two_rules_of_one_id_would_hide_each_other_and_are_refused() -> None:
    rule = CedarRule("x", {"effect": "forbid"})

    with pytest.raises(ValueError, match="'x' is there twice"):
        RuleSet((rule, rule))


POOL = [
    NIGHT,
    "forbid(principal, action, resource) when { context.amount > 5 };",
    'forbid(principal, action, resource) when { context.host like "*.docs.example" };',
    'forbid(principal, action in [Action::"read", Action::"egress"], resource is Tool);',
    'forbid(principal in Role::"owner", action, resource is Host in Host::"site:github.com");',
    'forbid(principal is User in Role::"reader", action == Action::"use", resource == Tool::"browse");',
    'permit(principal, action == Action::"egress", resource == Host::"x.docs.example");',
    'permit(principal == User::"telegram:7", action, resource) unless { context.granted };',
    "forbid(principal, action, resource) when { resource is Tool && resource.reversible };",
    'forbid(principal, action, resource) when { action == Action::"send" };',
]
REQUESTS = st.builds(
    lambda action, role, hour, host, reversible: (action, role, hour, host, reversible),
    st.sampled_from([USE, *get_args(Effect)]),
    st.sampled_from(["owner", "reader", "idle"]),
    st.integers(-1, 23),
    st.sampled_from(["", "github.com", "x.docs.example", "other.example"]),
    st.booleans(),
)


@settings(max_examples=150, deadline=None)
@given(st.lists(st.sampled_from(POOL), unique=True), REQUESTS)
def test_putting_a_request_only_to_rules_that_concern_it_changes_no_answer(
    own: list[str], asked: tuple[str, str, int, str, bool]
) -> None:
    policy = with_rules(*own)
    action, role, hour, host, reversible = asked
    actor = Actor(user_id="telegram:7", role=role, channel="telegram")
    at = None if hour < 0 else datetime(2026, 1, 3, hour, tzinfo=UTC)
    labels = ToolLabels(reversible=reversible)
    question = Question(actor=actor, tool="browse", args={}, actions=(TalkAction(),), at=at, labels=labels)
    findings = Findings()
    if action != USE:
        findings.affect(action)  # type: ignore[arg-type]  # drawn from the effects
    if host:
        findings.reach(HostGrant(host=host))
    whole = PolicySet.from_json_str(
        json.dumps(
            {
                "staticPolicies": {rule.rule_id: rule.body for rule in policy.rules.rules},
                "templates": {},
                "templateLinks": [],
            }
        )
    )

    for request, answer in zip(
        found := list(requests_of(question, policy, findings)), policy.rules.answers(found), strict=True
    ):
        expected = is_authorized(asked_of(request), whole, json.dumps(entities_of(request)), schema())
        assert not expected.diagnostics.errors
        assert bool(answer.permitted) == expected.allowed
        assert set(answer.permitted or answer.forbidden) == set(expected.diagnostics.reasons)


@given(st.text(max_size=30), st.text(max_size=30), st.text(max_size=30))
def test_whatever_people_tools_and_places_are_called_there_is_a_verdict(user: str, tool: str, place: str) -> None:
    action = EffectAction(effects=("send", "egress"), destinations=(place,))

    assert ask(PLAIN, action, user=user, tool=tool).kind in ("allow", "ask", "deny")


def test_a_call_to_more_hosts_than_anybody_could_look_through_is_denied() -> None:
    urls = " ".join(f"https://h{number}.docs.example/" for number in range(101))

    verdict = ask(PLAIN, CommandAction(script=f"curl {urls}"))

    assert verdict.kind == "deny"
    assert "101 hosts in one call" in verdict.reasons[0].detail
