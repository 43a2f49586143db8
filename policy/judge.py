"""Combine rules into one verdict; the strictest answer wins."""

from contracts.verdicts import (
    Action,
    Allow,
    Ask,
    CommandAction,
    Deny,
    FileAction,
    MemoryAction,
    Question,
    SendAction,
    TalkAction,
    Verdict,
    VisitAction,
)  # fmt: skip
from policy.commands.analysis import judge_command
from policy.files import LEVELS, judge_delete, judge_list, judge_read, judge_write
from policy.findings import Findings, Level
from policy.paths import resolve
from policy.risk import risk_of
from policy.roles import Policy, Role
from policy.rules import Rule
from policy.setting import SANDBOX
from policy.urls import KnownHosts, judge_visit, read_address


def judge(question: Question, policy: Policy) -> Verdict:
    """Allow, Ask or Deny for all actions of one call together. Pure: the same question has the same answer."""
    findings = Findings()
    role = policy.roles.get(question.actor.role)
    if role is None:
        findings.deny(Rule.ROLE_UNKNOWN, question.actor.role)
    elif not question.actions:
        findings.deny(Rule.ACTION_NONE, question.tool)
    else:
        known = KnownHosts.of(question.spoken_hosts, question.approved_hosts)
        for action in question.actions:
            judge_action(action, role, known, findings)
            _judge_provenance(action, question, known, findings)
    return _verdict(findings, question, policy.version)


def judge_action(action: Action, role: Role, known: KnownHosts, findings: Findings) -> None:
    """Add what is to be said about one action."""
    match action:
        case CommandAction():
            _judge_command(action, role, known, findings)
        case VisitAction():
            _judge_visit(action, role, known, findings)
        case FileAction():
            _judge_file(action, role, findings)
        case SendAction():
            _judge_send(action, role, findings)
        case TalkAction():
            pass
        case MemoryAction():
            findings.affect("write" if action.operation == "remember" else "read")


def _judge_command(action: CommandAction, role: Role, known: KnownHosts, findings: Findings) -> None:
    if role.cli is None:
        findings.deny(Rule.ROLE_NO_CLI, role.name)
    else:
        judge_command(action, role, known, findings)


def _judge_visit(action: VisitAction, role: Role, known: KnownHosts, findings: Findings) -> None:
    if role.browser is None:
        findings.deny(Rule.ROLE_NO_BROWSER, role.name)
    else:
        judge_visit(action, role.browser, known, findings)


def _judge_file(action: FileAction, role: Role, findings: Findings) -> None:
    """A tool's path is taken as it is written: nothing in it is a wildcard or a variable."""
    if role.cli is None:
        findings.deny(Rule.ROLE_NO_CLI, role.name)
        return
    if "\0" in action.path or not action.path:
        findings.deny(Rule.FILE_RELATIVE, action.path)
        return
    path = _literal(
        resolve(
            action.path.replace("~/", f"{SANDBOX.home}/", 1) if action.path.startswith("~/") else action.path,
            SANDBOX.workspace,
        )
    )
    match action.operation:
        case "read":
            judge_read(path, role, findings)
        case "list":
            judge_list(path, role, findings)
        case "write":
            judge_write(path, role, findings)
        case "delete":
            judge_delete(path, role, findings)
            findings.add(LEVELS[role.approvals.data_deletion], Rule.APPROVAL_DELETION, action.path)


def _literal(path: str) -> str:
    return "".join(f"[{character}]" if character in "*?[" else character for character in path)


def _judge_send(action: SendAction, role: Role, findings: Findings) -> None:
    findings.affect("send")
    if action.recipient != "self":
        findings.affect("share")
        findings.add(LEVELS[role.approvals.external_communication], Rule.SEND_OTHERS, action.recipient)


def _judge_provenance(action: Action, question: Question, known: KnownHosts, findings: Findings) -> None:
    """What strangers wrote becomes no command, recipient or destination without the person."""
    if question.provenance.trusted:
        return
    origin = ", ".join(question.provenance.origins)
    if isinstance(action, CommandAction) or (isinstance(action, SendAction) and action.recipient != "self"):
        findings.ask(Rule.PROVENANCE_UNTRUSTED, origin)
    elif isinstance(action, VisitAction):
        target = read_address(action.url, findings)
        if target and target.host not in known.spoken and known.grant(target.host, target.port) is None:
            findings.ask(Rule.PROVENANCE_UNTRUSTED, origin)


def _verdict(findings: Findings, question: Question, version: str) -> Verdict:
    level, effects = findings.level, tuple(findings.effects)
    risk = risk_of(level, effects, tainted=question.tainted, trusted=question.provenance.trusted)
    reasons = findings.reasons()
    if level is Level.DENY:
        return Deny(reasons=reasons, effects=effects, risk=risk, policy_version=version)
    kind = Ask if level is Level.ASK else Allow
    return kind(reasons=reasons, egress=tuple(findings.egress), effects=effects, risk=risk, policy_version=version)
