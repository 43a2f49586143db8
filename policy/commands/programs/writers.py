"""Programs that make, change, move or remove files."""

import re

from policy.commands.call import Call
from policy.commands.options import Parsed, Spec
from policy.commands.program import Program, judged, specified, table
from policy.commands.stream import Stream
from policy.commands.word import Word, literal
from policy.rules import Rule

MAX_MEGABYTES = 1_024
"""More than this at once is asked: the disk belongs to everybody."""

_UNITS = {"": 1, "c": 1, "w": 2, "b": 512, "k": 1_024, "m": 1_024**2, "g": 1_024**3, "t": 1_024**4, "p": 1_024**5}


def _rm(call: Call) -> None:
    parsed = call.judge(Spec("--interactive: --no-preserve-root", "delete"))
    if parsed.has("--no-preserve-root"):
        call.deny(Rule.FILE_DESTROYS)
    for word in parsed.unknown:
        if word.is_open:
            call.scene.unresolved(word)


def _copy(call: Call) -> None:
    """The last operand, or the one of -t, is written; the others are read, with all that is below them."""
    spec = Spec("-t|--target-directory:write -S|--suffix: -m|--mode: -o|--owner: -g|--group: --sparse:")
    parsed = call.judge(spec)
    _judge_modes(call, parsed.values("-m", "--mode"))
    folders = parsed.has("-d") and call.name == "install"
    sources, targets = _split(parsed)
    for word in sources:
        call.apply("write" if folders else "tree", word, "")
    for word in targets:
        call.apply("write", word, "")
        _writes_into(call, word, sources)


def _move(call: Call) -> None:
    """What moves is gone from its place."""
    parsed = call.judge(Spec("-t|--target-directory:write -S|--suffix:"))
    sources, targets = _split(parsed)
    for word in sources:
        call.apply("tree", word, "")
        call.apply("delete", word, "")
    for word in targets:
        call.apply("write", word, "")
        _writes_into(call, word, sources)


def _link(call: Call) -> None:
    """A link makes another path of its target: what may not be written there may not be linked to."""
    parsed = call.judge(Spec("-t|--target-directory:write -S|--suffix:"))
    sources, targets = _split(parsed)
    for word in sources:
        call.apply("tree", word, "")
        call.apply("write", word, "")
    for word in targets:
        call.apply("write", word, "")


def _split(parsed: Parsed) -> tuple[tuple[Word, ...], tuple[Word, ...]]:
    if parsed.has("-t", "--target-directory") or len(parsed.operands) < 2:
        return parsed.operands, ()
    return parsed.operands[:-1], parsed.operands[-1:]


def _writes_into(call: Call, target: Word, sources: tuple[Word, ...]) -> None:
    """If the target is a folder, the files in it get the names of the sources."""
    for word in sources:
        name = word.text.rstrip("/").rsplit("/", 1)[-1]
        if name not in ("", ".", "..") and not word.is_open and not target.is_open:
            call.apply("write", Word(f"{target.text}/{name}", glob=word.glob or target.glob), "")


def _chmod(call: Call) -> None:
    spec = Spec("--reference:list")
    numeric = [word for word in call.arguments if not re.match(r"^-[rwxXstugo]+$", word.text)]
    parsed = Call(call.name, tuple(numeric), call.stdin, call.state, call.shell).judge(spec)
    modes = [word for word in call.arguments if word not in numeric]
    operands = parsed.operands if modes or parsed.has("--reference") else parsed.operands[1:]
    _judge_modes(call, [*modes, *([] if modes else parsed.operands[:1])])
    for word in operands:
        call.apply("write", word, "")


def _judge_modes(call: Call, modes: list[Word]) -> None:
    """A set-user-id file acts as its owner."""
    for mode in modes:
        if not mode.is_exact or "s" in mode.text or re.match(r"^0*[2-7][0-7]{3}$", mode.text):
            call.ask(Rule.COMMAND_PRIVILEGE)


def _chown(call: Call) -> None:
    parsed = call.judge(Spec("--reference:list --from:"))
    for word in parsed.operands[1:]:
        call.apply("write", word, "")
    call.ask(Rule.COMMAND_PRIVILEGE)


def _tee(call: Call) -> Stream | None:
    call.judge(Spec("", "write"))
    return call.stdin


def _dd(call: Call) -> None:
    values = dict(word.text.partition("=")[::2] for word in call.arguments if not word.is_open)
    for word in call.arguments:
        key, _, _ = word.text.partition("=")
        if key in ("if", "of"):
            call.apply("read" if key == "if" else "write", word.after(3), key)
        elif word.is_open:
            call.scene.unresolved(word)
    endless = values.get("if", "") in ("/dev/zero", "/dev/urandom", "/dev/random", "/dev/full")
    size = (
        _bytes(values.get("count", "")) * _bytes(values.get("bs", values.get("ibs", "512"))) if "count" in values else 0
    )
    if (
        (endless and "count" not in values)
        or size > MAX_MEGABYTES * 1_024**2
        or _bytes(values.get("seek", "0")) > 10**9
    ):
        call.ask(Rule.COMMAND_FILLS_DISK)


def _sized(call: Call) -> None:
    parsed = call.judge(Spec("-s|--size: -l|--length: -o|--offset: -r|--reference:list", "write"))
    sizes = parsed.values("-s", "--size", "-l", "--length")
    if any(not word.is_exact or _bytes(word.text.lstrip("+-<>/%")) > MAX_MEGABYTES * 1_024**2 for word in sizes):
        call.ask(Rule.COMMAND_FILLS_DISK)


def _bytes(text: str) -> int:
    """`4k`, `1M`, `2GiB`; anything else is taken as very large."""
    found = re.match(r"^(\d+)([cwbkmgtp]?)(?:i?b)?$", text.strip(), re.IGNORECASE)
    return int(found[1]) * _UNITS[found[2].lower()] if found else 1 << 62


def _split_file(call: Call) -> None:
    parsed = call.judge(
        Spec("--filter:script -b|--bytes: -l|--lines: -n|--number: -C: -a|--suffix-length: -t: --additional-suffix:")
    )
    for index, word in enumerate(parsed.operands[:2]):
        call.apply("read" if index == 0 else "write", word, "")
    if len(parsed.operands) < 2:
        call.apply("write", Word("x*", glob=True), "")


def _patch(call: Call) -> None:
    call.judge(
        Spec(
            "-o|--output:write -i|--input:read -r|--reject-file:write -d|--directory:write -p|--strip: -B: -z:", "write"
        )
    )
    call.apply("write", Word("."), "")


def _shuf(call: Call) -> None:
    call.judge(Spec("-o|--output:write -n: -i: -e --random-source:read", "read"))


def _mktemp(call: Call) -> None:
    parsed = call.judge(Spec("-p:write --tmpdir!write --suffix:", "text"))
    for word in parsed.operands if not parsed.has("-t") else ():
        call.apply("write", word, "")


def _csplit(call: Call) -> None:
    """Only the first operand is a file; the others say where to cut."""
    parsed = call.judge(Spec("-f|--prefix:write -b|--suffix-format: -n|--digits: -k -s -z", "text", strict=True))
    for word in parsed.operands[:1]:
        call.apply("read", word, "")
    if not parsed.has("-f", "--prefix"):
        call.apply("write", literal("xx00"), "")


PROGRAMS: dict[str, Program] = {
    **table("rm unlink shred", judged(_rm)),
    "rmdir": specified(Spec("", "delete")),
    **table("cp install", judged(_copy)),
    "mv": judged(_move),
    **table("ln link", judged(_link)),
    **table("mkdir touch mkfifo", specified(Spec("-m|--mode: -d|--date: -t: -r|--reference:list", "write"))),
    "chmod": judged(_chmod),
    **table("chown chgrp", judged(_chown)),
    "tee": judged(_tee),
    "dd": judged(_dd),
    **table("truncate fallocate", judged(_sized)),
    "split": judged(_split_file),
    "csplit": judged(_csplit),
    "patch": judged(_patch),
    "shuf": judged(_shuf),
    "mktemp": judged(_mktemp),
    "rename": specified(Spec("", "write", strict=True)),
    "sponge": specified(Spec("", "write")),
    **table("dos2unix unix2dos", specified(Spec("", "write", strict=True))),
}
