"""Questions whose risk is looked at, and the person and the policy that they are put to."""

from dataclasses import replace
from datetime import UTC, datetime

from contracts.provenance import Effect, Provenance, Traced
from contracts.usage import Habits
from contracts.verdicts import (
    Action,
    Actor,
    EffectAction,
    Question,
    Verdict,
)
from policy.file import parse
from policy.judge import judge
from policy.roles import Policy, RiskRules

NOON = datetime(2026, 5, 1, 12, tzinfo=UTC)
WEB = Provenance(trusted=False, origins=("web:https://evil.test",))
ACTOR = Actor(user_id="telegram:7", role="worker", channel="telegram")
SETTLED = Habits(
    calls=500,
    hours=(0,) * 9 + (62,) * 8 + (0,) * 7,
    destinations=("anna@example.com", "docs.example"),
    busiest_minute=10,
)
BASE = parse(
    """
role: worker
permissions:
  browser: {read: [listed.example], unlisted: ask}
  cli: {read: [/workspace], write: [/workspace]}
  api: {scopes: ["*"]}
approval_rules:
  spending_over: 100000
  external_communication: allow
  data_deletion: allow
  credential_access: allow
  account_changes: allow
""",
    "test.yaml",
)
EFFECTS: tuple[Effect, ...] = ("read", "write", "send", "share", "money", "account", "delete", "credential")


def policy_of(risk: RiskRules) -> Policy:
    return replace(BASE, roles={"worker": replace(BASE.roles["worker"], risk=risk)})


def asking(*actions: Action, **more: object) -> Verdict:
    return under(BASE, *actions, **more)


def under(policy: Policy, /, *actions: Action, **more: object) -> Verdict:
    return judge(Question(actor=ACTOR, tool="t", args={}, actions=actions).model_copy(update=more), policy)


def parts_of(verdict: Verdict) -> dict[str, int]:
    return {part.name: part.points for part in verdict.risk_parts}


def rules_of(verdict: Verdict) -> set[str]:
    return {reason.rule for reason in verdict.reasons}


def paying(amount: float | None) -> EffectAction:
    return EffectAction(effects=("money",), destinations=("shop.example",), amount=amount, currency="EUR")


MAIL = EffectAction(effects=("send",), destinations=("anna@example.com",))


def traced(text: str, how: str, kind: str = "recipient") -> Traced:
    return Traced.model_validate(
        {"name": "to", "kind": kind, "text": text, "how": how, "provenance": {"trusted": how == "said"}}
    )
