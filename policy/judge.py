"""Combine rules into one verdict; the strictest answer wins."""

from collections.abc import Mapping

from contracts.verdicts import (
    Action,
    CommandAction,
    EffectAction,
    FileAction,
    MemoryAction,
    Question,
    SendAction,
    TalkAction,
    Verdict,
    VisitAction,
)  # fmt: skip
from policy.ceilings import judge_ceilings
from policy.commands.analysis import judge_command
from policy.commands.scene import MAX_PATH_CHARACTERS, MAX_PATH_DEPTH
from policy.commands.touched import tool_path
from policy.commands.touches import NOTHING_REAL, leads
from policy.concluding import concluded
from policy.effects import judge_effects
from policy.files import LEVELS, judge_delete, judge_list, judge_read, judge_write
from policy.findings import Findings
from policy.globs import quoted
from policy.paths import resolve
from policy.permissions import authorise
from policy.provenance.judging import judge_provenance
from policy.roles import Policy, Role
from policy.rules import Rule
from policy.urls import KnownHosts, judge_visit


def judge(question: Question, policy: Policy) -> Verdict:
    """Allow, Ask or Deny for all actions of one call together. Pure: the same question has the same answer."""
    findings = Findings()
    name = policy.role_for(question.actor.user_id, question.actor.role)
    role = policy.roles.get(name)
    if policy.blocks(question.actor.user_id):
        findings.deny(Rule.SENDER_BLOCKED, question.actor.user_id)
    elif role is None:
        findings.deny(Rule.ROLE_UNKNOWN, name)
    elif not question.actions:
        findings.deny(Rule.ACTION_NONE, question.tool)
    else:
        known = KnownHosts.of(question.spoken_hosts, question.approved_hosts)
        for each in (role, *role.narrowed):
            for action in question.actions:
                judge_action(action, each, known, findings, question.real_paths)
        judge_effects(question, role, findings)
        judge_provenance(question, known, findings)
        authorise(question, policy, findings)
        judge_ceilings(question, findings)
    return concluded(question, policy, role, findings)


def judge_action(
    action: Action, role: Role, known: KnownHosts, findings: Findings, real: Mapping[str, str] = NOTHING_REAL
) -> None:
    """Add what is to be said about one action; `real` says where paths lead that go through links."""
    match action:
        case CommandAction():
            _judge_command(action, role, known, findings, real)
        case VisitAction():
            _judge_visit(action, role, known, findings)
        case FileAction():
            _judge_file(action, role, findings, real)
        case SendAction():
            _judge_send(action, role, findings)
        case EffectAction():
            findings.affect(*action.effects)
        case TalkAction():
            pass
        case MemoryAction():
            findings.affect("write" if action.operation == "remember" else "read")


def _judge_command(
    action: CommandAction, role: Role, known: KnownHosts, findings: Findings, real: Mapping[str, str]
) -> None:
    if role.cli is None:
        findings.deny(Rule.ROLE_NO_CLI, role.name)
    else:
        judge_command(action, role, known, findings, real)


def _judge_visit(action: VisitAction, role: Role, known: KnownHosts, findings: Findings) -> None:
    if role.browser is None:
        findings.deny(Rule.ROLE_NO_BROWSER, role.name)
    else:
        judge_visit(action, role.browser, known, findings)


def _judge_file(action: FileAction, role: Role, findings: Findings, real: Mapping[str, str]) -> None:
    """A tool's path is taken as it is written: nothing in it is a wildcard or a variable."""
    if role.cli is None:
        findings.deny(Rule.ROLE_NO_CLI, role.name)
        return
    if "\0" in action.path or not action.path or _is_too_long(action.path):
        findings.deny(Rule.FILE_RELATIVE, action.path)
        return
    walked = quoted(tool_path(action.path))
    for path in (resolve(walked, "/"), *leads(walked, real)):
        _judge_path(action, path, role, findings)


def _judge_path(action: FileAction, path: str, role: Role, findings: Findings) -> None:
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


def _is_too_long(path: str) -> bool:
    return len(path) > MAX_PATH_CHARACTERS or path.count("/") > MAX_PATH_DEPTH


def _judge_send(action: SendAction, role: Role, findings: Findings) -> None:
    findings.affect("send")
    if action.recipient != "self":
        findings.affect("share")
        findings.add(LEVELS[role.approvals.external_communication], Rule.SEND_OTHERS, action.recipient)
