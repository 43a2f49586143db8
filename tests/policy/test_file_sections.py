"""The policy file's budgets, risk, approvers, tools and senders, and what is said of mistakes in them."""

import re
from pathlib import Path

import pytest

from contracts.verdicts import Action, CommandAction, EffectAction, FileAction, SendAction, VisitAction
from policy.cedar.schema import schema_text
from policy.document import PolicyError
from policy.file import KEYS, ROLE_KEYS, parse
from policy.shipped import NAME, default_text
from tests.policy.cases_file import ask_policy

LIMITS = """
limits:
  money: {task: 1.5, day: 20}
  tokens: {task: 200k}
  requests: [30/min, 500/hour]
  messages: 20/day
risk: {ask_at: 60, deny_at: 95, points: {hour: 15, rate: 5}, usual_hours: 7-22}
blocked_senders: ["telegram:666", "email:*"]
roles:
  - role: owner
    permissions: {api: {budget_daily: 5, rate_limit: 2/s}}
    limits: {money: {task: 4}}
    risk: {ask_at: 70, points: {rate: 20}}
    approval_rules: {step_up: [money, delete], approvers: ["telegram:7"], account_changes: deny}
    senders: ["telegram:1"]
  - role: member
    permissions: {tools: {allowed: [read, "cal*"], blocked: [shell]}}
    approval_rules: {step_up: none}
    risk: {usual_hours: [22, 5]}
"""


def test_budgets_and_rates_of_a_role_win_over_the_common_ones_and_the_lower_number_counts() -> None:
    roles = parse(LIMITS, "p").roles
    owner, member = ({(each.kind, each.span): each.most for each in role.ceilings} for role in roles.values())

    assert owner == {
        ("money", "task"): 4,
        ("money", "day"): 5,
        ("tokens", "task"): 200_000,
        ("requests", "minute"): 30,
        ("requests", "hour"): 500,
        ("messages", "day"): 20,
    }
    assert member == {**owner, ("money", "task"): 1.5, ("money", "day"): 20}


def test_a_rate_and_a_daily_budget_alone_are_ceilings_too() -> None:
    role = parse("role: r\npermissions: {api: {budget_daily: 5, rate_limit: 2/s}}", "p").roles["r"]

    assert {(each.kind, each.span, each.most) for each in role.ceilings} == {
        ("money", "day", 5),
        ("requests", "minute", 120),
    }


def test_risk_approvers_tools_and_senders_are_read() -> None:
    policy = parse(LIMITS, "p")
    owner, member = policy.roles.values()

    assert (owner.risk.ask_at, owner.risk.deny_at, owner.risk.usual_hours) == (70, 95, (7, 22))
    assert dict(owner.risk.points) == {"hour": 15, "rate": 20}
    assert (member.risk.ask_at, member.risk.usual_hours) == (60, (22, 5))
    assert (owner.approvals.step_up, member.approvals.step_up) == (("money", "delete"), ())
    assert (owner.approvals.approvers, owner.approvals.account_changes) == (("telegram:7",), "deny")
    assert (member.tools.allowed, member.tools.blocked) == (("read", "cal*"), ("shell",))
    assert policy.blocks("telegram:666")
    assert policy.blocks("email:x")
    assert not policy.blocks("telegram:6667")
    assert policy.role_for("telegram:1", "member") == "owner"
    assert policy.role_for("telegram:2", "member") == "member"


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("limits: {mony: {day: 5}}", "unknown key 'mony'"),
        ("limits: {money: {week: 5}}", "unknown key 'week'"),
        ("limits: {money: 5}", "has no time"),
        ("limits: {money: 5/week}", "has no time"),
        ("limits: {money: {day: lots}}", "is not an amount"),
        ("limits: {money: {day: -1}}", "is not an amount"),
        ("risk: {ask_at: 101}", "is no risk"),
        ("risk: {ask_at: high}", "is no risk"),
        ("risk: {ask_at: 60, deny_at: 50}", "nothing would ever be asked"),
        ("risk: {points: {mood: 3}}", "unknown key 'mood'"),
        ("risk: {usual_hours: 6}", "are no hours"),
        ("risk: {usual_hours: 6-25}", "are no hours"),
        ("risk: {usual_hours: 6-6}", "are no hours"),
        ("approval_rules: {step_up: [monny]}", "is no effect"),
        ("approval_rules: {step_up: [none, money]}", "is no effect"),
        ("approval_rules: {approvers: [ann]}", "is no sender"),
        ("senders: ['telegram:*7']", "is no sender"),
        ("blocked_senders: [ann]", "is no sender"),
        ("permissions: {tools: {allowed: [Shell!]}}", "is no tool"),
        ("permissions: {api: {scopes: [calendar.fly]}}", "is no scope"),
        ("permissions: {api: {rate_limit: '٣/min'}}", "is not a rate"),
    ],
)
def test_a_mistake_in_the_further_sections_is_shown_where_it_stands(line: str, said: str) -> None:
    with pytest.raises(PolicyError) as raised:
        parse(f"role: r\n{line}\n", "p.yaml")

    assert str(raised.value).startswith("p.yaml:2: ")
    assert said in str(raised.value)


@pytest.mark.parametrize("role", ["owner", "member"])
@pytest.mark.parametrize(
    "action",
    [
        FileAction(operation="delete", path="notes.md"),
        FileAction(operation="write", path="~/notes.md"),
        CommandAction(script="cp a.txt /srv/a.txt"),
        CommandAction(script="git push --force origin main"),
        SendAction(recipient="new@example.test", what="report.md"),
        EffectAction(effects=("send",), destinations=("new@example.test",)),
        EffectAction(effects=("share",), destinations=("new@example.test",)),
        EffectAction(effects=("money",), destinations=("shop.example",), amount=0.5, currency="EUR"),
        EffectAction(effects=("money",)),
        EffectAction(effects=("delete",)),
        EffectAction(effects=("account",)),
        VisitAction(url="https://shop.example/pay", write=True),
    ],
)
def test_what_cannot_be_taken_back_is_asked_by_the_shipped_policy(role: str, action: Action) -> None:
    assert ask_policy(action, policy=parse(default_text(), NAME), role=role).kind == "ask"


def test_every_field_and_every_word_of_a_policy_file_is_documented_and_in_the_shipped_one() -> None:
    docs = (Path(__file__).parents[2] / "docs" / "policy.md").read_text()
    fields = {*KEYS, *ROLE_KEYS, "tools", "scopes", "step_up", "approvers", "account_changes", "ask_at", "usual_hours"}
    words = set(re.findall(r"^    (\w+): \w", schema_text(), re.MULTILINE))

    assert [name for name in sorted(fields - {"version", "roles"}) if f"`{name}" not in docs.replace(".", "`")] == []
    assert [name for name in sorted(words) if f"`{name}`" not in docs] == []
    assert [name for name in sorted(fields - {"version"}) if f"{name}:" not in default_text()] == []
