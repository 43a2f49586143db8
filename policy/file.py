"""Read the person's policy file: YAML or JSON, one role or several, with the line of whatever is wrong."""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass

from policy.cedar.compiling import compiled
from policy.cedar.ruleset import RuleSet
from policy.cedar.statements import own_rules
from policy.document import Entry, PolicyError, read_document
from policy.egress import egress_rules
from policy.limits import ceilings
from policy.risk_section import risk_rules
from policy.roles import Policy, Role, SandboxRules, ToolRules
from policy.sandboxes import sandbox_rules
from policy.sections import api_rules, approval_rules, browser_rules, command_rules, senders, tool_rules

MAX_CHARACTERS = 1_048_576

PERMISSIONS = ("browser", "cli", "api", "tools")
ROLE_KEYS = (
    "role",
    "permissions",
    "approval_rules",
    "senders",
    "sandbox",
    "limits",
    "risk",
    "version",
)
KEYS = ("roles", "egress", "blocked_senders", "cedar", *ROLE_KEYS)


@dataclass(frozen=True)
class _Common:
    """What stands beside `roles`, for all of them."""

    sandbox: SandboxRules
    limits: Entry | None = None
    risk: Entry | None = None


def parse(text: str, name: str) -> Policy:
    """The policy of a file's text; `name` is how errors call the file. Its version is the SHA-256 of the text.

    Raises: PolicyError.
    """
    document = document_of(text, name)
    fields = document.fields(KEYS)
    roles = _roles(document, fields)
    own = own_rules(fields.get("cedar"), tuple(roles))
    return Policy(
        version=version_of(text),
        roles=roles,
        egress=egress_rules(fields.get("egress")),
        rules=RuleSet((*compiled(roles.values()), *own)),
        blocked_senders=senders(fields.get("blocked_senders")),
    )


def version_of(text: str) -> str:
    """SHA-256 in hex of a file's text."""
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def document_of(text: str, name: str) -> Entry:
    """Raises: PolicyError."""
    if len(text) > MAX_CHARACTERS:
        raise PolicyError(name, 1, f"the file has {len(text)} characters; at most {MAX_CHARACTERS} are read")
    return read_document(text, name)


def role_entries(document: Entry, fields: dict[str, Entry]) -> list[Entry]:
    """The places of the roles: the list, or the document itself. Raises: PolicyError."""
    if "roles" in fields and "role" in fields:
        raise fields["role"].error("use either `role` for one role or `roles` for a list, not both")
    return fields["roles"].items() if "roles" in fields else [document]


def _roles(document: Entry, fields: dict[str, Entry]) -> dict[str, Role]:
    entries = role_entries(document, fields)
    common = _Common(SandboxRules())
    if "roles" in fields:
        sandbox = sandbox_rules(fields.get("sandbox"), SandboxRules())
        common = _Common(sandbox, fields.get("limits"), fields.get("risk"))
    roles: dict[str, Role] = {}
    for entry in entries:
        role = _role(entry, KEYS if entry is document else ROLE_KEYS, common)
        if role.name in roles:
            raise entry.error(f"the role {role.name!r} is there twice: give each role one place")
        roles[role.name] = role
    if not roles:
        raise document.error("no role: add at least one under `roles`")
    return roles


def _role(entry: Entry, known: Sequence[str], common: _Common) -> Role:
    fields = entry.fields(known)
    if "role" not in fields:
        raise entry.error("no `role`: give the role a name, such as `role: owner`")
    permissions = fields["permissions"].fields(PERMISSIONS) if "permissions" in fields else {}
    api = api_rules(permissions["api"]) if "api" in permissions else None
    return Role(
        name=fields["role"].text(),
        browser=browser_rules(permissions["browser"]) if "browser" in permissions else None,
        cli=command_rules(permissions["cli"]) if "cli" in permissions else None,
        api=api,
        approvals=approval_rules(fields.get("approval_rules")),
        senders=senders(fields.get("senders")),
        sandbox=sandbox_rules(fields.get("sandbox"), common.sandbox),
        ceilings=ceilings(fields.get("limits"), common.limits, api),
        risk=risk_rules(fields.get("risk"), common.risk),
        tools=tool_rules(permissions["tools"]) if "tools" in permissions else ToolRules(),
    )
