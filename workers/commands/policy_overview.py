"""What a policy file means, in a table: roles with their permissions, limits and questions, and rules in Cedar."""

from collections.abc import Iterable

from rich.console import Console
from rich.table import Table
from rich.text import Text

from contracts.egress import EgressRules
from policy.paths import PathPattern
from policy.roles import Policy, Role


def show_overview(console: Console, policy: Policy) -> None:
    """Everything that decides, and in yellow what files that may only tighten asked for in vain."""
    console.print(_roles(policy))
    for role in policy.roles.values():
        for line in _details(role):
            console.print(Text(f"{role.name}: {line}"), soft_wrap=True)
    own = [rule for rule in policy.rules.rules if rule.rule_id.startswith(("cedar/", "overlay/"))]
    for rule in own:
        kind = "asks" if rule.asks else str(rule.body["effect"]) + "s"
        console.print(Text(f"{rule.rule_id} {kind}"), soft_wrap=True)
    if policy.blocked_senders:
        console.print(Text(f"blocked senders: {', '.join(policy.blocked_senders)}"), soft_wrap=True)
    if policy.overlays:
        console.print(Text(f"files over it, which may only tighten: {policy.overlays}"))
    for ignored in policy.ignored:
        console.print(Text(f"not taken: {ignored}", style="yellow"), soft_wrap=True)


def _roles(policy: Policy) -> Table:
    table = Table(title=f"policy {policy.version[:12]}", title_justify="left")
    for heading in ("role", "tools", "browser", "commands", "services", "approval"):
        table.add_column(heading)
    for role in policy.roles.values():
        table.add_row(role.name, _tools(role), _browser(role), _commands(role), _services(role), _approvals(role))
    table.caption, table.caption_justify = _egress(policy.egress), "left"
    return table


def _details(role: Role) -> Iterable[str]:
    if role.senders:
        yield f"who has it: {', '.join(role.senders)}"
    if role.ceilings:
        yield "at most " + ", ".join(f"{each.kind} {each.most:g}/{each.span}" for each in role.ceilings)
    risk = role.risk
    thresholds = [f"{name} {value}" for name, value in (("ask_at", risk.ask_at), ("deny_at", risk.deny_at)) if value]
    points = [f"{name} {value}" for name, value in risk.points]
    hours = [f"usual hours {risk.usual_hours[0]}-{risk.usual_hours[1]} UTC"] if risk.usual_hours else []
    if found := [*thresholds, *points, *hours]:
        yield "risk: " + ", ".join(found)
    yield f"a second factor for: {', '.join(role.approvals.step_up) or 'nothing'}"
    if role.approvals.approvers:
        yield f"who may decide as well: {', '.join(role.approvals.approvers)}"
    if role.narrowed:
        yield f"{len(role.narrowed)} files narrow its lists"


def _tools(role: Role) -> str:
    allowed = "all" if role.tools.allowed is None else ", ".join(role.tools.allowed) or "none"
    return f"{allowed}; blocked {', '.join(role.tools.blocked)}" if role.tools.blocked else allowed


def _egress(rules: EgressRules) -> str:
    inspected = ", ".join(rules.inspect) or "nothing"
    return f"sandboxes: {len(rules.allowed)} allowed, {len(rules.blocked)} blocked, inspected: {inspected}"


def _browser(role: Role) -> str:
    if role.browser is None:
        return "none"
    rules = role.browser
    return f"{len(rules.read)} read, {len(rules.write)} write, {len(rules.blocked)} blocked, others: {rules.unlisted}"


def _commands(role: Role) -> str:
    if role.cli is None:
        return "none"
    return f"read {_texts(role.cli.read)}; write {_texts(role.cli.write)}"


def _texts(patterns: tuple[PathPattern, ...]) -> str:
    return ", ".join(pattern.text for pattern in patterns) or "nothing"


def _services(role: Role) -> str:
    if role.api is None:
        return "none"
    return "all" if role.api.scopes is None else ", ".join(role.api.scopes) or "none"


def _approvals(role: Role) -> str:
    rules = role.approvals
    return (
        f"spending over: {rules.spending_over:g}, delete: {rules.data_deletion}, send: {rules.external_communication}, "
        f"secrets: {rules.credential_access}, accounts: {rules.account_changes}"
    )
