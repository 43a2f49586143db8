"""git: what each subcommand reads, writes and sends, and the many places where it takes a command."""

import re

from policy.commands.call import Call
from policy.commands.options import Spec
from policy.commands.program import Program, judged
from policy.commands.programs.git_config import is_harmless_setting, judge_setting
from policy.commands.stream import OPAQUE, Stream
from policy.commands.word import Word, literal
from policy.rules import Rule

_GLOBAL = Spec(
    "-C:folder -c:setting --git-dir:ask --work-tree:ask --namespace:ask --exec-path!ask --config-env:ask "
    "--super-prefix:ask "
    "--attr-source:ask --list-cmds: -p|--paginate -P|--no-pager --no-replace-objects --bare --literal-pathspecs "
    "--no-optional-locks "
    "--version --help --html-path --man-path --info-path --no-lazy-fetch --no-advice --glob-pathspecs "
    "--icase-pathspecs",
    "text",
    strict=True,
    stops=True,
)

_COMMON = (
    "--output:write --ext-diff!ask --textconv!ask --open-files-in-pager!ask --upload-pack!ask --receive-pack!ask "
    "--exec!ask "
    "--extcmd!ask --trailer: --file:read --template:read --pathspec-from-file:read --strategy!ask --message: --author: "
    "--grep: --since: --until: --after: --before: --skip: --max-count: --gpg-sign!ask --local-user!ask --contents:read "
    "--exclude-from:read --no-index --ignore-revs-file:read"
)

_LOCAL = frozenset(
    [
        "add",
        "am",
        "apply",
        "archive",
        "bisect",
        "blame",
        "branch",
        "bundle",
        "cat-file",
        "check-attr",
        "check-ignore",
        "checkout",
        "cherry",
        "cherry-pick",
        "clean",
        "commit",
        "count-objects",
        "describe",
        "diff",
        "diff-files",
        "diff-index",
        "diff-tree",
        "for-each-ref",
        "format-patch",
        "fsck",
        "gc",
        "grep",
        "hash-object",
        "help",
        "init",
        "log",
        "ls-files",
        "ls-tree",
        "merge",
        "merge-base",
        "merge-tree",
        "mv",
        "name-rev",
        "notes",
        "pack-refs",
        "prune",
        "range-diff",
        "read-tree",
        "rebase",
        "reflog",
        "repack",
        "reset",
        "restore",
        "rev-list",
        "rev-parse",
        "revert",
        "rm",
        "shortlog",
        "show",
        "show-branch",
        "show-ref",
        "sparse-checkout",
        "stash",
        "status",
        "stripspace",
        "switch",
        "symbolic-ref",
        "tag",
        "update-index",
        "update-ref",
        "var",
        "verify-commit",
        "verify-tag",
        "version",
        "whatchanged",
        "worktree",
        "write-tree",
        "annotate",
    ]
)
_REMOTE = frozenset(["clone", "fetch", "pull", "push", "ls-remote", "submodule", "remote"])

_NO_PATHS = frozenset(
    {"help", "version", "config", "reflog", "stash", "sparse-checkout", "notes", "gc", "fsck", "commit"}
)
_SSH = re.compile(r"^(ssh|git|git\+ssh|ssh\+git)://|^[^/:@]+@[^/:]+:|^[^/:]+:(?!//)")


def _git(call: Call) -> Stream:
    parsed = _GLOBAL.parse(call.arguments)
    state = call.state.copy()
    for use in parsed.uses:
        if use.role == "ask":
            call.ask(Rule.COMMAND_FLAG, f"git {use.name}")
        elif use.role == "setting" and use.value is not None:
            judge_setting(call, use.value)
        elif use.role == "folder" and use.value is not None:
            call.apply("list", use.value, "")
            state.cwds = frozenset(call.scene.paths(use.value, state)) or None
    if parsed.unknown:
        call.ask(Rule.COMMAND_FLAG, f"git {parsed.unknown[0].text}")
    if not parsed.operands:
        return OPAQUE
    name, rest = parsed.operands[0], parsed.operands[1:]
    return _subcommand(Call("git", rest, call.stdin, state, call.shell), name)


def _subcommand(call: Call, name: Word) -> Stream:
    if not name.is_exact or (name.text not in _LOCAL | _REMOTE | {"config"}):
        return call.ask(Rule.COMMAND_FLAG, f"git {name.text}")
    if name.text == "config":
        return _config(call)
    parsed = call.judge(_spec(name.text))
    words = [word.text for word in call.arguments]
    for word in parsed.operands if name.text not in _REMOTE | _NO_PATHS else ():
        call.apply("read", word, "")
    if name.text in _REMOTE:
        return _remote(call, name.text, list(parsed.operands))
    _judge_local(call, name.text, words, list(parsed.operands))
    return Stream(items=(Word("./**", glob=True, many=True),)) if name.text == "ls-files" else OPAQUE


_LETTERS = {
    "add": "",
    "am": "-S!ask",
    "archive": "-o:write --remote!ask --prefix: --add-file:read --format:",
    "blame": "-L: -S:read",
    "branch": "-u: -D!ask",
    "checkout": "-b: -B:",
    "cherry-pick": "-S!ask",
    "clone": "-u:ask -c:ask --config:ask -o: -b: -j: --depth: --branch: --reference:read --separate-git-dir:write",
    "commit": "-m: -F:read -C: -c: -t:read -S!ask --fixup: --squash: --date:",
    "diff": "-U: -S: -G: -L: -O:ask",
    "fetch": "--depth: -j:",
    "format-patch": "-o|--output-directory:write",
    "grep": "-e: -f:read -O!ask -A: -B: -C: -m:",
    "init": "--separate-git-dir:write -b:",
    "log": "-n: -S: -G: -L: -U: -O:ask --diff-filter:",
    "ls-files": "-X:read -x:",
    "merge": "-m: -F:read -s:ask -S!ask -X:",
    "notes": "-m: -F:read -C: -c:",
    "push": "-o: --repo!ask",
    "rebase": "-x:ask --onto: -S!ask -s:ask",
    "revert": "-S!ask",
    "show": "-U: -S: -G: -O:ask",
    "stash": "-m:",
    "switch": "-c: -C:",
    "tag": "-m: -F:read -u:ask -s!ask --sort:",
}
"""What the letters of each subcommand take; one that is not here takes nothing, and its value counts as an operand."""


def _spec(name: str) -> Spec:
    return Spec(f"{_COMMON} {_LETTERS.get(name, '')}")


def _config(call: Call) -> Stream:
    words = [word for word in call.arguments if not word.text.startswith("-")]
    flags = {word.text for word in call.arguments if word.text.startswith("-")}
    if words and words[0].text in ("get", "list", "set", "unset"):
        flags.add("--" + words.pop(0).text)
    if flags & {"--get", "--get-all", "--list", "-l", "--get-regexp"} or (len(words) == 1 and not flags):
        return OPAQUE
    harmless = len(words) == 2 and words[0].is_exact and is_harmless_setting(words[0].text)
    if harmless and flags <= {"--local", "--set"}:
        call.apply("write", literal(".gitconfig-local"), "")
        return OPAQUE
    return call.ask(Rule.COMMAND_PERSISTENCE)


def _judge_local(call: Call, name: str, words: list[str], operands: list[Word]) -> None:
    """Asked: what cannot be undone, and what runs a command."""
    call.scene.findings.affect("read")
    parted = name in ("stash", "reflog", "bisect", "worktree", "submodule", "notes", "bundle")
    if parted and operands and operands[0].is_open:
        call.scene.unresolved(operands[0])
    forced = [word for word in words if re.match(r"^-[a-zA-Z]*[fxXd]", word) or word == "--force"]
    if name == "clean" and forced and not any(word in ("-n", "--dry-run") for word in words):
        call.ask(Rule.APPROVAL_DELETION)
    if name == "reset" and "--hard" in words:
        call.ask(Rule.APPROVAL_DELETION)
    if (
        name in ("checkout", "restore", "switch") and {"-f", "--force", "--discard-changes"} & set(words)
    ) or name == "prune":
        call.ask(Rule.APPROVAL_DELETION)
    if _discards_everything(name, words, operands):
        call.ask(Rule.APPROVAL_DELETION)
    if name == "reflog" and operands and operands[0].text in ("expire", "delete"):
        call.ask(Rule.APPROVAL_DELETION)
    if name == "stash" and operands and operands[0].text in ("drop", "clear"):
        call.ask(Rule.APPROVAL_DELETION)
    if name == "bisect" and operands and operands[0].text == "run":
        call.run(operands[1:])
    if name == "help" and call.arguments:
        call.ask(Rule.COMMAND_FLAG)
    for word in operands if name in ("worktree", "archive", "bundle", "init") else ():
        if word.text not in ("add", "list", "create", "verify", "HEAD", "prune"):
            call.apply("write", word, "")


def _discards_everything(name: str, words: list[str], operands: list[Word]) -> bool:
    """Changes to single files are given up like the files themselves; those to all files at once are a question."""
    if name not in ("checkout", "restore") or {"--staged", "-S"} & set(words):
        return False
    return any(word.text in (".", "./", "*", ":/", ":", "..") or word.text.startswith(":(") for word in operands)


def _remote(call: Call, name: str, operands: list[Word]) -> Stream:
    if name == "remote":
        if not operands or operands[0].text in ("show", "get-url", "-v"):
            return OPAQUE
        return call.ask(Rule.COMMAND_PERSISTENCE)
    if name == "submodule":
        return OPAQUE if operands and operands[0].text in ("status", "summary") else call.ask(Rule.COMMAND_NETWORK)
    call.scene.findings.affect("egress")
    if name == "push":
        call.scene.findings.affect("send")
    if operands:
        _judge_place(call, name, operands[0])
    if not operands or name == "push":
        call.ask(Rule.COMMAND_SENDS if name == "push" else Rule.COMMAND_NETWORK)
    if name == "clone":
        call.apply("write", operands[1] if len(operands) > 1 else literal("."), "")
    return Stream(fetched=True)


def _judge_place(call: Call, name: str, place: Word) -> None:
    """Where it is fetched from or sent to: an address, a folder, or a name from the configuration."""
    text = place.text
    if place.is_open or "::" in text or (_SSH.match(text) and not text.startswith(("http://", "https://"))):
        call.ask(Rule.COMMAND_UNRESOLVED if place.is_open else Rule.COMMAND_NETWORK, text)
    elif text.startswith(("http://", "https://")):
        call.scene.visit(place, write=False)
    elif "/" in text or text.startswith("."):
        call.apply("read", place, "")
    else:
        call.ask(Rule.COMMAND_NETWORK, text)


PROGRAMS: dict[str, Program] = {"git": judged(_git)}
