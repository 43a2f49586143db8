"""Roles in Cedar: default deny, and the lines that grant or block are named."""

from dataclasses import replace
from typing import get_args

import pytest

from contracts.messages import HostGrant
from contracts.provenance import Effect
from contracts.verdicts import (
    Action,
    CommandAction,
    EffectAction,
    FileAction,
    MemoryAction,
    SendAction,
    TalkAction,
    VisitAction,
)  # fmt: skip
from policy.cedar.ruleset import RuleSet
from policy.file import parse
from tests.policy.roles_file import PLAIN, ROLES, ask


def test_without_any_rule_nothing_is_permitted() -> None:
    verdict = ask(replace(PLAIN, rules=RuleSet()), TalkAction())

    assert verdict.kind == "deny"
    assert verdict.reasons[0].rule == "permission.none"


@pytest.mark.parametrize(
    ("role", "tool", "action", "kind", "rules"),
    [
        ("owner", "shell", CommandAction(script="ls"), "allow", {"role/owner/tools", "role/owner/cli"}),
        ("owner", "files", SendAction(recipient="self", what="x"), "allow", {"role/owner/tools", "role/owner/own"}),
        ("owner", "browse", VisitAction(url="https://a.docs.example/"), "allow", {"role/owner/browser.read/0"}),
        ("owner", "browse", VisitAction(url="https://github.com/"), "allow", {"role/owner/browser.read/1"}),
        ("owner", "browse", VisitAction(url="https://new.example/"), "ask", {"role/owner/browser.unlisted"}),
        ("reader", "browse", VisitAction(url="https://github.com/"), "allow", {"role/reader/tools.allowed/0"}),
        ("reader", "calendar", TalkAction(), "allow", {"role/reader/tools.allowed/1"}),
        ("reader", "calx", TalkAction(), "deny", {"role/reader/tools.blocked/0"}),
        ("reader", "shell", TalkAction(), "deny", set()),
        ("clerk", "calendar", EffectAction(effects=("read",)), "allow", {"role/clerk/api.scopes/0"}),
        ("clerk", "calendar", EffectAction(effects=("delete",)), "deny", {"role/clerk/tools"}),
        ("clerk", "mailbox", EffectAction(effects=("send",)), "allow", {"role/clerk/api.scopes/1"}),
        ("clerk", "bank", EffectAction(effects=("read",)), "deny", set()),
        ("idle", "ask_user", TalkAction(), "allow", {"role/idle/tools"}),
        ("idle", "recall", MemoryAction(operation="recall"), "allow", {"role/idle/own"}),
        ("idle", "mail", EffectAction(effects=("send",)), "deny", {"role/idle/tools"}),
    ],
)
def test_the_lines_that_grant_or_block_are_named(
    role: str, tool: str, action: Action, kind: str, rules: set[str]
) -> None:
    verdict = ask(PLAIN, action, role=role, tool=tool)

    assert verdict.kind == kind
    assert rules <= set(verdict.rules)


@pytest.mark.parametrize("effect", get_args(Effect))
def test_an_effect_that_nothing_permits_is_denied_whatever_it_is(effect: Effect) -> None:
    verdict = ask(PLAIN, EffectAction(effects=(effect,)), role="idle", tool="unheard_of")

    assert verdict.kind == "deny"
    assert ("permission.none", f"{effect} (unheard_of)") in [(each.rule, each.detail) for each in verdict.reasons]


def test_a_host_that_the_person_opened_for_the_task_may_be_reached_by_a_closed_role() -> None:
    grant = HostGrant(host="new.example")

    assert ask(PLAIN, VisitAction(url="https://new.example/"), role="reader", tool="browse").kind == "deny"
    opened = ask(PLAIN, VisitAction(url="https://new.example/"), role="reader", tool="browse", grants=(grant,))
    assert opened.kind == "allow"
    assert "role/reader/browser.granted" in opened.rules


def test_a_blocked_sender_may_do_nothing_and_a_listed_one_has_the_role_of_the_file() -> None:
    text = ROLES.replace("role: reader", "role: reader\n    senders: ['telegram:8', 'email:*']")
    policy = parse(text + "blocked_senders: ['telegram:9*']\n", "mine.yaml")

    assert [reason.rule for reason in ask(policy, TalkAction(), user="telegram:9").reasons] == ["sender.blocked"]
    assert ask(policy, TalkAction(), user="telegram:99").kind == "deny"
    assert ask(policy, CommandAction(script="ls"), user="telegram:8").kind == "deny"
    assert ask(policy, CommandAction(script="ls"), user="email:ann@x.example").kind == "deny"
    assert ask(policy, CommandAction(script="ls"), user="telegram:7").kind == "allow"


@pytest.mark.parametrize(
    ("action", "kind", "rule"),
    [
        (EffectAction(effects=("money",), amount=101), "ask", "approval.spending_over"),
        (EffectAction(effects=("money",), amount=float("nan")), "ask", "approval.spending_over"),
        (EffectAction(effects=("money",), amount=-3), "ask", "approval.spending_over"),
        (EffectAction(effects=("money",)), "ask", "approval.spending_over"),
        (EffectAction(effects=("money",), amount=100), "allow", ""),
        (EffectAction(effects=("delete",)), "ask", "approval.data_deletion"),
        (EffectAction(effects=("credential",)), "ask", "approval.credential_access"),
        (EffectAction(effects=("send", "share")), "allow", ""),
        (EffectAction(effects=("account",)), "allow", ""),
        (FileAction(operation="delete", path="a"), "ask", "approval.data_deletion"),
    ],
)
def test_what_foreign_services_do_is_asked_by_the_approval_rules(action: Action, kind: str, rule: str) -> None:
    verdict = ask(PLAIN, action, tool="service")

    assert verdict.kind == kind
    assert not rule or rule in [each.rule for each in verdict.reasons]
