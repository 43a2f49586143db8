"""Judge what happens to one path: read, listed, written or deleted. The path may hold wildcards."""

from policy import places
from policy.findings import Findings, Level
from policy.globs import is_glob, segments, static_prefix
from policy.paths import PathPattern, covered, is_within, may_name_parent
from policy.roles import Choice, Role
from policy.rules import Rule
from policy.setting import SANDBOX

LEVELS: dict[Choice, Level] = {"allow": Level.ALLOW, "ask": Level.ASK, "deny": Level.DENY}

_SCRATCH = PathPattern.parse(SANDBOX.scratch)


def judge_read(path: str, role: Role, findings: Findings, *, whole_tree: bool = False) -> None:
    """Contents become known. With `whole_tree` those of everything below as well."""
    findings.affect("read")
    if _refused(path, role, findings):
        return
    if places.matches(places.SECRETS, path) and not _is_public_key(path):
        findings.deny(Rule.FILE_SECRET, path)
    elif whole_tree and places.matches(places.SECRETS, f"{path.rstrip('/')}/**"):
        findings.ask(Rule.FILE_SECRET, path)
    elif _is_credential(path):
        findings.affect("credential")
        findings.add(LEVELS[role.approvals.credential_access], Rule.APPROVAL_CREDENTIAL, path)
    if not _readable(path, role):
        findings.ask(Rule.FILE_READ, path)


def judge_list(path: str, role: Role, findings: Findings) -> None:
    """Names, sizes and counts become known, and no contents."""
    findings.affect("read")
    if not _refused(path, role, findings) and places.matches(places.SECRETS, path) and not _is_public_key(path):
        findings.ask(Rule.FILE_SECRET, path)


def judge_write(path: str, role: Role, findings: Findings) -> None:
    """Contents, names or modes change."""
    if places.is_device(path):
        return
    findings.affect("write")
    if _refused(path, role, findings):
        return
    if places.matches(places.STARTUP, path):
        findings.deny(Rule.FILE_STARTUP, path)
    elif _is_system(path):
        findings.deny(Rule.FILE_PROTECTED, path)
    elif places.matches(places.SECRETS, path):
        findings.deny(Rule.FILE_SECRET, path)
    elif not _writable(path, role):
        findings.ask(Rule.FILE_WRITE, path)
    elif "**" not in path and places.matches(places.RUNS_LATER, path):
        findings.ask(Rule.FILE_CODE, path)


def judge_delete(path: str, role: Role, findings: Findings, *, filtered: bool = False) -> None:
    """The path, with everything below it, ceases to be. `filtered` says that only chosen names are meant."""
    findings.affect("write", "delete")
    if _refused(path, role, findings):
        return
    folder = _emptied(path)
    if folder is not None and _holds_the_system(folder):
        findings.deny(Rule.FILE_DESTROYS, path)
    elif _is_system(path):
        findings.deny(Rule.FILE_PROTECTED, path)
    elif places.matches(places.SECRETS, path) or places.matches(places.STARTUP, path):
        findings.deny(Rule.FILE_SECRET, path)
    elif not _writable(path, role):
        findings.ask(Rule.FILE_WRITE, path)
    elif folder is not None and not filtered and _holds_a_root(folder, role):
        findings.add(max(Level.ASK, LEVELS[role.approvals.data_deletion]), Rule.APPROVAL_DELETION, path)


def _refused(path: str, role: Role, findings: Findings) -> bool:
    if may_name_parent(path):
        findings.ask(Rule.FILE_RELATIVE, path)
    if role.cli and any(pattern.touches(path) for pattern in role.cli.blocked_paths):
        findings.deny(Rule.FILE_BLOCKED, path)
        return True
    return False


def _readable(path: str, role: Role) -> bool:
    if places.matches(places.PUBLIC, path) and _covered_by_public(path):
        return not places.matches(places.PRIVATE, path)
    if _is_public_key(path):
        return True
    return _SCRATCH.covers(path) or (role.cli is not None and covered((*role.cli.read, *role.cli.write), path))


def _covered_by_public(path: str) -> bool:
    return not is_glob(path) or f"/{(static_prefix(path) or ('',))[0]}" in (
        "/usr",
        "/bin",
        "/lib",
        "/lib64",
        "/opt",
        "/etc",
    )


def _writable(path: str, role: Role) -> bool:
    return _SCRATCH.covers(path) or (role.cli is not None and covered(role.cli.write, path))


def _is_system(path: str) -> bool:
    first = segments(path)[:1]
    return path == "/" or (bool(first) and (f"/{first[0]}" in places.SYSTEM or is_glob(first[0])))


def _holds_the_system(path: str) -> bool:
    """Whether it is the root, a home, or a folder that one of them lies in."""
    return path in ("/home", SANDBOX.home) or is_within(SANDBOX.home, path) or path in places.SYSTEM or path == "/"


def _emptied(path: str) -> str | None:
    """The folder that loses everything: the path itself, or its parent if the wildcard spares nearly nothing."""
    if not is_glob(path):
        return path
    parts, fixed = segments(path), static_prefix(path)
    wide = all(_literals(part) < 2 for part in parts[len(fixed) :])
    return "/" + "/".join(fixed) if wide else None


def _holds_a_root(folder: str, role: Role) -> bool:
    roots = [SANDBOX.workspace, *(f"/{'/'.join(p.parts)}" for p in (role.cli.write if role.cli else ()))]
    return any(is_within(root, folder) for root in roots)


def _is_public_key(path: str) -> bool:
    return not is_glob(path.rsplit("/", 1)[0]) and path.endswith(".pub") and places.matches(places.PUBLIC_KEYS, path)


def _is_credential(path: str) -> bool:
    parts = segments(path)
    if "**" in parts or (not is_glob(path) and places.matches(places.HARMLESS_CREDENTIALS, path)):
        return False
    vague = any(is_glob(part) and not part.startswith(".") and _literals(part) < 2 for part in parts)
    return not vague and places.matches(places.NAMED_CREDENTIALS if is_glob(path) else places.CREDENTIALS, path)


def _literals(part: str) -> int:
    return sum(character not in "*?[]" for character in part)
