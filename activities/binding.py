"""What an approval of a call is bound to, as far as the call itself says; its files are looked at where they are."""

import hashlib
from collections.abc import Iterable, Iterator

from contracts.approvals import Bound
from contracts.language import Language
from contracts.texts import approvals as texts
from contracts.tools import canonical_json
from contracts.values import JsonObject
from contracts.verdicts import Action, CommandAction, FileAction, SendAction
from policy.commands.touched import touched_paths


def bound_of(
    tool: str, args_sha256: str, actions: Iterable[Action], policy_version: str, *, tainted: bool, leads: dict[str, str]
) -> Bound:
    """Without the content of files."""
    commands = [action for action in actions if isinstance(action, CommandAction)]
    env: JsonObject = {str(number): dict(command.env) for number, command in enumerate(commands) if command.env}
    return Bound(
        tool=tool,
        args_sha256=args_sha256,
        cwd="\n".join(command.cwd for command in commands),
        env_sha256=hashlib.sha256(canonical_json(env).encode("utf-8", "surrogatepass")).hexdigest() if env else "",
        policy_version=policy_version,
        tainted=tainted,
        leads=leads,
    )


def operands_of(actions: tuple[Action, ...]) -> tuple[str, ...]:
    """Files whose content a yes depends on: what commands would run or send, and what is sent to somebody."""
    sends = any(isinstance(action, SendAction) for action in actions)
    found: dict[str, None] = {}
    for action in actions:
        touched = touched_paths(action)
        found.update(dict.fromkeys(touched.operands))
        if sends and isinstance(action, FileAction):
            found.update(dict.fromkeys(touched.reads))
    return tuple(found)


def differences(then: Bound, now: Bound, language: Language) -> str:
    """What is different, in words; empty if nothing is."""
    return ", ".join(_differences(then, now, language))


def _differences(then: Bound, now: Bound, language: Language) -> Iterator[str]:
    if then.tool != now.tool:
        yield texts.TOOL_DIFFERS.say(language)
    if then.args_sha256 != now.args_sha256:
        yield texts.ARGS_DIFFER.say(language)
    if then.cwd != now.cwd:
        yield texts.CWD_DIFFERS.say(language, now=now.cwd)
    if then.env_sha256 != now.env_sha256:
        yield texts.ENV_DIFFERS.say(language)
    if then.policy_version != now.policy_version:
        yield texts.POLICY_DIFFERS.say(language)
    if then.tainted != now.tainted:
        yield (texts.TAINTED if now.tainted else texts.UNTAINTED).say(language)
    for path in sorted({*then.leads, *now.leads}):
        if then.leads.get(path) != now.leads.get(path):
            yield texts.LINK_DIFFERS.say(language, path=path, target=now.leads.get(path, path))
    for path in sorted({*then.operands, *now.operands}):
        before, after = then.operands.get(path, "absent"), now.operands.get(path, "absent")
        if before != after:
            gone, new = after == "absent", before == "absent"
            sentence = texts.FILE_GONE if gone else texts.FILE_NEW if new else texts.FILE_DIFFERS
            yield sentence.say(language, path=path)
