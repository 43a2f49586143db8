"""Read the person's policy file: YAML or JSON, one role or several, with the line of whatever is wrong."""

import hashlib
from collections.abc import Sequence

from policy.document import Entry, PolicyError, read_document
from policy.egress import egress_rules
from policy.roles import Policy, Role, SandboxRules
from policy.sandboxes import sandbox_rules
from policy.sections import api_rules, approval_rules, browser_rules, command_rules, text_list

MAX_CHARACTERS = 1_048_576

_ROLE_KEYS = ("role", "permissions", "approval_rules", "senders", "sandbox", "version")
_KEYS = ("roles", "egress", *_ROLE_KEYS)


def parse(text: str, name: str) -> Policy:
    """The policy of a file's text; `name` is how errors call the file. Its version is the SHA-256 of the text.

    Raises: PolicyError.
    """
    if len(text) > MAX_CHARACTERS:
        raise PolicyError(name, 1, f"the file has {len(text)} characters; at most {MAX_CHARACTERS} are read")
    version = hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()
    document = read_document(text, name)
    fields = document.fields(_KEYS)
    return Policy(version, _roles(document, fields), egress_rules(fields.get("egress")))


def _roles(document: Entry, fields: dict[str, Entry]) -> dict[str, Role]:
    if "roles" in fields and "role" in fields:
        raise fields["role"].error("use either `role` for one role or `roles` for a list, not both")
    entries = fields["roles"].items() if "roles" in fields else [document]
    common = sandbox_rules(fields.get("sandbox"), SandboxRules()) if "roles" in fields else SandboxRules()
    roles: dict[str, Role] = {}
    for entry in entries:
        role = _role(entry, _KEYS if entry is document else _ROLE_KEYS, common)
        if role.name in roles:
            raise entry.error(f"the role {role.name!r} is there twice: give each role one place")
        roles[role.name] = role
    if not roles:
        raise document.error("no role: add at least one under `roles`")
    return roles


def _role(entry: Entry, known: Sequence[str], common: SandboxRules) -> Role:
    fields = entry.fields(known)
    if "role" not in fields:
        raise entry.error("no `role`: give the role a name, such as `role: owner`")
    permissions = fields["permissions"].fields(("browser", "cli", "api")) if "permissions" in fields else {}
    return Role(
        name=fields["role"].text(),
        browser=browser_rules(permissions["browser"]) if "browser" in permissions else None,
        cli=command_rules(permissions["cli"]) if "cli" in permissions else None,
        api=api_rules(permissions["api"]) if "api" in permissions else None,
        approvals=approval_rules(fields.get("approval_rules")),
        senders=text_list(fields.get("senders")),
        sandbox=sandbox_rules(fields.get("sandbox"), common),
    )
