"""Four roles that differ in what they may do, and how to ask them."""

from datetime import UTC, datetime

from contracts.messages import HostGrant
from contracts.verdicts import (
    Action,
    Actor,
    Question,
    Verdict,
)  # fmt: skip
from policy.file import parse
from policy.judge import judge
from policy.roles import Policy

ROLES = """
roles:
  - role: owner
    permissions:
      browser: {read: ["*.docs.example", github.com], blocked: [bank.example], unlisted: ask}
      cli: {read: [/workspace], write: [/workspace]}
      api: {}
    approval_rules: {external_communication: allow, spending_over: 100, account_changes: allow}
  - role: reader
    permissions: {browser: {read: [github.com], unlisted: deny}, tools: {allowed: [browse, "cal*"], blocked: [calx]}}
  - role: clerk
    permissions: {api: {scopes: [calendar.read, "mail*"]}}
    approval_rules: {external_communication: allow, data_deletion: allow}
  - role: idle
"""


def ask(
    policy: Policy,
    *actions: Action,
    role: str = "owner",
    tool: str = "shell",
    user: str = "telegram:7",
    hour: int = 12,
    tainted: bool = False,
    grants: tuple[HostGrant, ...] = (),
) -> Verdict:
    return judge(
        Question(
            actor=Actor(user_id=user, role=role, channel="telegram"),
            tool=tool,
            args={},
            actions=actions,
            at=datetime(2026, 1, 3, hour, tzinfo=UTC),
            tainted=tainted,
            approved_hosts=grants,
        ),
        policy,
    )


def with_rules(*lines: str) -> Policy:
    return parse(ROLES + "cedar: |\n" + "".join(f"  {line}\n" for line in lines), "mine.yaml")


PLAIN = parse(ROLES, "mine.yaml")
