"""sed: its script can write files and run commands, so the script is read, not only the flags."""

import re

from policy.commands.call import Call
from policy.commands.options import Spec
from policy.commands.program import Program, judged, table
from policy.commands.stream import Stream
from policy.commands.word import Word
from policy.rules import Rule

_SPEC = Spec(
    "-n|--quiet|--silent -e|--expression:text -E|-r|--regexp-extended -s|--separate -u|--unbuffered "
    "-z|--null-data -l:text "
    "--line-length:text --posix --sandbox --debug --follow-symlinks -b|--binary -f|--file!ask",
    "text",
    strict=True,
)

_ADDRESS = re.compile(r"^(?:\d+(?:~\d+)?|\$|[+~]\d+|/(?:\\.|[^/\\\n])*/[IM]*)")
_PLAIN = frozenset("=dDgGhHlnNpPxz{}")
_TAKES_LABEL = frozenset(":btT")
_TAKES_TEXT = frozenset("aic")


def _sed(call: Call) -> Stream:
    in_place = [word for word in call.arguments if re.match(r"^(-[nErsuz]*i|--in-place|--in-)", word.text)]
    rest = tuple(word for word in call.arguments if word not in in_place)
    if any(re.match(r"^-[nErsuz]*i[^.~]*[ef]", word.text) for word in in_place):
        call.ask(Rule.COMMAND_FLAG)
    parsed = Call(call.name, rest, call.stdin, call.state, call.shell).judge(_SPEC)
    scripts = parsed.values("-e", "--expression") or list(parsed.operands[:1])
    files = parsed.operands if parsed.has("-e", "--expression", "-f", "--file") else parsed.operands[1:]
    for script in scripts:
        _judge_script(call, script)
    for word in files:
        call.apply("read", word, "")
        if in_place:
            call.apply("write", word, "")
    return Stream(fetched=bool(call.stdin and call.stdin.fetched))


def _judge_script(call: Call, script: Word) -> None:
    if script.is_open:
        call.scene.unresolved(script)
        return
    left = script.text
    while left := left.lstrip(" \t\n;"):
        rest = _one_command(call, left)
        if rest is None:
            call.ask(Rule.COMMAND_UNRESOLVED, script.text)
            return
        left = rest


def _one_command(call: Call, text: str) -> str | None:
    """Judge the first command of the script; what follows it, or None if it cannot be read or runs something."""
    left = text
    for _ in range(2):
        if found := _ADDRESS.match(left):
            left = left[found.end() :].lstrip(" \t").removeprefix(",").lstrip(" \t")
    left = left.lstrip("! \t")
    letter, left = left[:1], left[1:]
    if letter in _PLAIN:
        return left
    if letter == "#":
        return left.partition("\n")[2]
    if letter in _TAKES_LABEL and letter:
        return re.split(r"[;\n]", left, maxsplit=1)[1] if re.search(r"[;\n]", left) else ""
    if letter in _TAKES_TEXT and letter:
        return ""
    if letter in ("q", "Q", "l", "L") and letter:
        return left.lstrip("0123456789 ")
    if letter in ("r", "R", "w", "W") and letter:
        name, _, rest = left.lstrip(" \t").partition("\n")
        call.apply("read" if letter in "rR" else "write", Word(name), "")
        return rest
    if letter in ("s", "y") and left:
        return _substitution(call, letter, left)
    return None


def _substitution(call: Call, letter: str, left: str) -> str | None:
    mark = re.escape(left[0])
    plain = re.match(rf"{mark}(?:\\.|[^\\{mark}])*{mark}(?:\\.|[^\\{mark}])*{mark}", left, re.DOTALL)
    if plain is None or left[0] in "\\\n" or re.search(rf"\[[^\]]*{mark}", plain[0][1:]):
        return None
    rest = left[plain.end() :]
    flags = re.match(r"[gpiIm0-9]*", rest)
    rest = rest[flags.end() :] if flags and letter == "s" else rest
    if rest.startswith("w") and letter == "s":
        name, _, after = rest[1:].lstrip(" \t").partition("\n")
        call.apply("write", Word(name), "")
        return after
    return rest if rest == "" or rest[0] in ";\n} \t#" else None


PROGRAMS: dict[str, Program] = {**table("sed gsed", judged(_sed))}
