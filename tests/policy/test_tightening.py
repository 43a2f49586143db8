"""A project's file over the person's own: it only ever tightens, and says what it asked for in vain."""

import json
from datetime import UTC, datetime
from typing import get_args

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from contracts.egress import EgressRules
from contracts.provenance import Effect
from contracts.usage import Ceiling
from contracts.verdicts import Action, Actor, CommandAction, EffectAction, FileAction, Question, SendAction, VisitAction
from policy.document import PolicyError
from policy.file import parse
from policy.judge import judge
from policy.roles import Policy
from policy.tightening import tightened
from tests.policy.cases_file import rows

LEVELS = {"allow": 0, "ask": 1, "deny": 2}

BASE = """
roles:
  - role: owner
    senders: ["telegram:1"]
    permissions:
      browser: {read: [github.com, "*.docs.example"], write: [api.example], blocked: [bank.example], unlisted: ask}
      cli: {read: [/workspace, ~/], write: [/workspace], execute: [npm run, /workspace/scripts], blocked: [git push]}
      api: {budget_daily: 5, rate_limit: 60/min}
    approval_rules: {spending_over: 20, external_communication: allow, data_deletion: ask, approvers: ["telegram:2"]}
    risk: {ask_at: 60, points: {amount: 10}, usual_hours: 6-22}
  - role: guest
    permissions: {browser: {unlisted: deny}, tools: {allowed: [browse, "cal*"]}}
cedar: |
  @id("night") @answer("ask") forbid(principal, action == Action::"send", resource) when { context.hour < 6 };
"""

HOSTS = st.lists(st.sampled_from(["github.com", "a.docs.example", "*.docs.example", "evil.test", "api.example", "*"]))
FOLDERS = st.lists(st.sampled_from(["/", "/workspace", "/workspace/src", "~/", "/srv", "/tmp"]))
PROGRAMS = st.lists(st.sampled_from(["npm run", "npm run build", "python3", "/workspace", "make"]))
CHOICES = st.sampled_from(["allow", "ask", "deny"])
TOOLS = st.lists(st.sampled_from(["shell", "browse", "cal*", "*", "pay"]))
CEDAR = st.sampled_from(
    [
        "permit(principal, action, resource);",
        'forbid(principal, action == Action::"use", resource == Tool::"pay");',
        'forbid(principal in Role::"owner", action, resource) when { context.amount > 10 };',
        '@answer("ask") forbid(principal, action, resource) unless { context.hour > 8 };',
        'forbid(principal, action == Action::"egress", resource in Host::"site:github.com");',
    ]
)


def some(**fields: st.SearchStrategy[object]) -> st.SearchStrategy[dict[str, object]]:
    return st.fixed_dictionaries({}, optional=fields)


SECTIONS = {
    "permissions": some(
        browser=some(read=HOSTS, write=HOSTS, execute=HOSTS, blocked=HOSTS, unlisted=st.sampled_from(["ask", "deny"])),
        cli=some(read=FOLDERS, write=FOLDERS, execute=PROGRAMS, blocked=PROGRAMS),
        api=some(budget_daily=st.integers(0, 9), scopes=st.lists(st.sampled_from(["*", "cal*.read", "pay.money"]))),
        tools=some(allowed=TOOLS, blocked=TOOLS),
    ),
    "approval_rules": some(
        data_deletion=CHOICES,
        external_communication=CHOICES,
        credential_access=CHOICES,
        account_changes=CHOICES,
        spending_over=st.integers(0, 99),
        step_up=st.sampled_from(["none", ["send"], ["money", "delete"]]),
        approvers=st.lists(st.sampled_from(["telegram:2", "telegram:*"])),
    ),
    "limits": some(money=some(day=st.integers(0, 9)), requests=some(minute=st.integers(0, 99))),
    "risk": some(ask_at=st.integers(0, 50), deny_at=st.integers(50, 100), usual_hours=st.sampled_from(["8-20", "0-9"])),
    "sandbox": some(runtime=st.sampled_from(["any", "gvisor"]), snapshot_before=st.just(["step"])),
    "egress": some(allowed=st.just(["evil.test"]), blocked=HOSTS, methods=st.just(["GET"]), ports=st.just([443])),
    "cedar": CEDAR,
    "role": st.sampled_from(["*", "owner", "guest"]),
}
OVERLAYS = some(**SECTIONS).map(json.dumps)

COMMANDS = [str(row["cmd"]) for name in ("commands.jsonl", "everyday.jsonl") for row in rows(name)]
ADDRESSES = ["https://github.com/a", "https://a.docs.example/", "https://evil.test/", "https://bank.example/x"]
PATHS = ["/workspace/a", "src/b", "~/notes", "/srv/x", "/etc/shadow", "/tmp/agent/x"]
EFFECTS = st.lists(st.sampled_from(get_args(Effect)), unique=True, min_size=1, max_size=3)
ACTIONS: st.SearchStrategy[Action] = st.one_of(
    st.builds(lambda script: CommandAction(script=script), st.sampled_from(COMMANDS)),
    st.builds(lambda url, write: VisitAction(url=url, write=write), st.sampled_from(ADDRESSES), st.booleans()),
    st.builds(
        lambda operation, path: FileAction.model_validate({"operation": operation, "path": path}),
        st.sampled_from(["read", "list", "write", "delete"]),
        st.sampled_from(PATHS),
    ),
    st.builds(lambda to: SendAction(recipient=to, what="x"), st.sampled_from(["self", "bob@example.test"])),
    st.builds(
        lambda effects, amount: EffectAction(effects=tuple(effects), destinations=("bob",), amount=amount),
        EFFECTS,
        st.sampled_from([None, 0.0, 15.0, 99.0, float("inf")]),
    ),
)
QUESTIONS = st.builds(
    lambda actions, role, tool, user, hour, spoken: Question(
        actor=Actor(user_id=user, role=role, channel="telegram"),
        tool=tool,
        args={},
        actions=tuple(actions),
        at=datetime(2026, 1, 5, hour, tzinfo=UTC),
        spoken_hosts=("evil.test",) if spoken else (),
    ),
    st.lists(ACTIONS, min_size=1, max_size=2),
    st.sampled_from(["owner", "guest", "nobody"]),
    st.sampled_from(["shell", "browse", "calendar", "pay"]),
    st.sampled_from(["telegram:1", "telegram:9"]),
    st.integers(0, 23),
    st.booleans(),
)


@pytest.fixture(scope="module")
def base() -> Policy:
    return parse(BASE, "mine.yaml")


@settings(max_examples=250, deadline=None)
@given(overlay=OVERLAYS, question=QUESTIONS)
def test_no_file_over_the_persons_own_ever_loosens_a_verdict(base: Policy, overlay: str, question: Question) -> None:
    before, after = judge(question, base), judge(question, tightened(base, overlay, "theirs.json"))

    assert LEVELS[after.kind] >= LEVELS[before.kind]


@settings(max_examples=100, deadline=None)
@given(first=OVERLAYS, second=OVERLAYS)
def test_limits_thresholds_and_questions_only_ever_get_stricter(base: Policy, first: str, second: str) -> None:
    after = tightened(tightened(base, first, "a"), second, "b")

    for name, role in base.roles.items():
        found = after.roles[name]
        lower = {(each.kind, each.span): each.most for each in found.ceilings}
        assert all(lower[(each.kind, each.span)] <= each.most for each in role.ceilings)
        assert set(role.approvals.step_up) <= set(found.approvals.step_up)
        assert set(found.approvals.approvers) <= set(role.approvals.approvers)
        assert found.risk.ask_at is not None or role.risk.ask_at is None
        assert found.risk.ask_at is None or role.risk.ask_at is None or found.risk.ask_at <= role.risk.ask_at
        assert (found.senders, found.tools) == (role.senders, role.tools)
    assert after.egress.allowed == base.egress.allowed
    assert set(base.egress.blocked) <= set(after.egress.blocked)


def asked(policy: Policy, action: Action, tool: str = "shell", role: str = "owner", user: str = "telegram:9") -> str:
    at = datetime(2026, 1, 5, 12, tzinfo=UTC)
    actor = Actor(user_id=user, role=role, channel="telegram")
    return judge(Question(actor=actor, tool=tool, args={}, actions=(action,), at=at), policy).kind


NO_WRITING = 'forbid(principal, action == Action::"write", resource);'


@pytest.mark.parametrize(
    ("overlay", "action", "before", "after"),
    [
        ("permissions: {cli: {write: [/workspace/src]}}", FileAction(operation="write", path="x"), "allow", "ask"),
        ("permissions: {cli: {write: [/workspace/s]}}", FileAction(operation="write", path="s/x"), "allow", "allow"),
        ("permissions: {cli: {write: [/srv]}}", FileAction(operation="write", path="/srv/x"), "ask", "ask"),
        ("permissions: {cli: {blocked: [rm]}}", CommandAction(script="rm x"), "allow", "deny"),
        ("permissions: {cli: {execute: [python3]}}", CommandAction(script="python3 x.py"), "ask", "ask"),
        ("permissions: {browser: {unlisted: deny}}", VisitAction(url="https://new.example/"), "ask", "deny"),
        ("permissions: {browser: {read: []}}", VisitAction(url="https://github.com/"), "allow", "ask"),
        ("permissions: {browser: {blocked: [github.com]}}", VisitAction(url="https://github.com/"), "allow", "deny"),
        ("permissions: {tools: {blocked: [shell]}}", CommandAction(script="ls"), "allow", "deny"),
        ("permissions: {tools: {allowed: [read]}}", CommandAction(script="ls"), "allow", "deny"),
        ("approval_rules: {external_communication: ask}", SendAction(recipient="bob", what="x"), "allow", "ask"),
        ("approval_rules: {spending_over: 5}", EffectAction(effects=("money",), amount=10), "allow", "ask"),
        ("permissions: {api: {scopes: [calendar]}}", EffectAction(effects=("read",)), "allow", "deny"),
        (f"cedar: '{NO_WRITING}'", CommandAction(script="rm x"), "allow", "deny"),
        ("blocked_senders: ['telegram:*']", CommandAction(script="ls"), "allow", "deny"),
        ("role: guest\npermissions: {cli: {blocked: [ls]}}", CommandAction(script="ls"), "allow", "allow"),
    ],
)  # fmt: skip
def test_what_a_projects_file_changes(base: Policy, overlay: str, action: Action, before: str, after: str) -> None:
    over = tightened(base, overlay, "asos.policy.yaml")

    assert (asked(base, action), asked(over, action)) == (before, after)
    assert over.version != base.version


@pytest.mark.parametrize(
    "overlay",
    [
        "cedar: 'permit(principal, action, resource);'",
        "role: guest\npermissions: {tools: {allowed: ['*']}, api: {scopes: ['*']}, cli: {write: [/]}}",
        "roles: [{role: guest, permissions: {api: {}}}, {role: boss, senders: ['telegram:*'], permissions: {api: {}}}]",
    ],
)
def test_no_permission_of_a_projects_file_opens_what_the_person_left_closed(base: Policy, overlay: str) -> None:
    over = tightened(base, overlay, "asos.policy.yaml")

    for policy in (base, over):
        assert asked(policy, EffectAction(effects=("read",)), tool="pay", role="guest") == "deny"
        assert asked(policy, FileAction(operation="write", path="x"), tool="browse", role="guest") == "deny"


@pytest.mark.parametrize(
    ("overlay", "said"),
    [
        ("permissions: {cli: {write: [/srv]}}", "does not permit /srv"),
        ("permissions: {cli: {execute: [npm run build, python3]}}", "does not permit python3,"),
        ("permissions: {browser: {read: [evil.test]}}", "does not permit evil.test"),
        ("approval_rules: {data_deletion: allow}", "allow is laxer than ask"),
        ("approval_rules: {spending_over: 99}", "the lower amount, 20, stays"),
        ("approval_rules: {step_up: none}", "a second factor stays wanted for money, credential"),
        ("approval_rules: {approvers: ['telegram:3']}", "telegram:3 may not decide"),
        ("risk: {ask_at: 90}", "the lower risk, 60, stays"),
        ("risk: {usual_hours: 0-24}", "within the hours"),
        ("risk: {points: {amount: 3}}", "may only be more"),
        ("egress: {allowed: [evil.test]}", "for the person's own file alone"),
        ("cedar: 'permit(principal, action, resource);'", "only the person's own file permits"),
        ("role: boss", "no role 'boss'"),
        ("role: owner\nsenders: ['telegram:9']", "who has which role"),
        ("sandbox: {retention_days: 900}", "retention_days"),
    ],
)
def test_what_a_projects_file_asks_for_in_vain_is_said(base: Policy, overlay: str, said: str) -> None:
    ignored = tightened(base, overlay, "asos.policy.yaml").ignored

    assert all(each.startswith("asos.policy.yaml:") for each in ignored)
    assert any(said in each for each in ignored)
    assert len(set(ignored)) == len(ignored)


def test_lower_limits_and_a_runtime_are_taken(base: Policy) -> None:
    text = "limits: {money: {day: 1, task: 2}}\nrisk: {ask_at: 40, deny_at: 90}\nsandbox: {runtime: gvisor}"
    role = tightened(base, text, "p").roles["owner"]

    assert Ceiling(kind="money", span="day", most=1) in role.ceilings
    assert Ceiling(kind="money", span="task", most=2) in role.ceilings
    assert Ceiling(kind="requests", span="minute", most=60) in role.ceilings
    assert (role.risk.ask_at, role.risk.deny_at, role.sandbox.runtime) == (40, 90, "runsc")


def test_methods_that_exclude_each_other_leave_no_way_out() -> None:
    base = parse("role: owner\negress: {methods: [GET]}", "mine")

    after = tightened(base, "egress: {methods: [POST]}", "theirs").egress

    assert after == EgressRules(blocked=("*",), methods=("GET",))


def test_a_mistake_in_a_projects_file_has_its_line(base: Policy) -> None:
    with pytest.raises(PolicyError, match=r"asos.policy.yaml:2: permissions: unknown key 'clii'"):
        tightened(base, "permissions:\n  clii: {}", "asos.policy.yaml")
