"""awk: its program can run commands and write files, so it is read, not only the flags."""

import re

from policy.commands.call import Call
from policy.commands.options import Spec
from policy.commands.program import Program, judged, table
from policy.commands.stream import Stream
from policy.commands.word import Word
from policy.rules import Rule

_SPEC = Spec("-F|--field-separator:text -v|--assign:text -f!ask -e|--source!ask", "text", strict=True)

_REACHES_OUT = re.compile(r"\b(system|getline|ENVIRON|close|PROCINFO|SYMTAB|extension)\b|@")
_TOKEN = re.compile(
    r"""(?P<blank>[ \t\n\\]+ | \#[^\n]*)
      | (?P<string>"(?:\\.|[^"\\\n])*")
      | (?P<word>[A-Za-z_]\w* | \d+\.?\d*(?:[eE][-+]?\d+)? | \$)
      | (?P<close>[)\]])
      | (?P<operator>\|\| | && | >> | >= | <= | == | != | !~ | \+\+ | -- | .)""",
    re.VERBOSE | re.DOTALL,
)
_REGEX = re.compile(r"/(?:\\.|\[[^\]/\n]*\]|[^/\\\n\[])*/")


def _awk(call: Call) -> Stream:
    parsed = call.judge(_SPEC)
    if parsed.operands and not parsed.has("-f"):
        _judge_program(call, parsed.operands[0])
    for word in parsed.operands[1:]:
        if "=" not in word.text:
            call.apply("read", word, "")
    return Stream(fetched=bool(call.stdin and call.stdin.fetched))


def _judge_program(call: Call, program: Word) -> None:
    if program.is_open or _REACHES_OUT.search(program.text):
        call.ask(Rule.COMMAND_UNRESOLVED, program.text)
        return
    tokens = _tokens(program.text)
    if tokens is None:
        call.ask(Rule.COMMAND_UNRESOLVED, program.text)
        return
    for target in _outputs(tokens):
        if target is None:
            call.ask(Rule.COMMAND_UNRESOLVED, program.text)
        else:
            call.apply("write", Word(target), "")


def _tokens(text: str) -> list[str] | None:
    """Strings stay whole and regular expressions are left out; None where a slash could be either of two things."""
    tokens: list[str] = []
    after_value, at = False, 0
    while at < len(text):
        if text[at] == "/" and not after_value:
            found = _REGEX.match(text, at)
            if found is None:
                return None
            at, after_value = found.end(), True
            tokens.append("//")
            continue
        token = _TOKEN.match(text, at)
        if token is None:
            return None
        at = token.end()
        if token.lastgroup == "blank":
            if "\n" in token[0]:
                tokens.append("\n")
                after_value = False
            continue
        after_value = token.lastgroup in ("string", "word", "close")
        if token[0] == "/" or (token.lastgroup == "operator" and token[0] == '"'):
            return None
        tokens.append(token[0])
    return tokens


def _outputs(tokens: list[str]) -> list[str | None]:
    """Where `print` and `printf` send their text; None for a pipe or a place that is computed."""
    found: list[str | None] = []
    printing, depth = False, 0
    for index, symbol in enumerate(tokens):
        if symbol in ("print", "printf"):
            printing, depth = True, 0
        elif symbol in (";", "}", "\n", "{"):
            printing = False
        depth += {"(": 1, ")": -1}.get(symbol, 0)
        if symbol == "|":
            found.append(None)
        elif symbol in (">", ">>") and printing and depth <= 0:
            found.append(_target(tokens[index + 1 : index + 3]))
    return found


def _target(following: list[str]) -> str | None:
    """A string that stands alone."""
    name, behind = (*following, "", "")[:2]
    alone = behind in ("", ";", "}", "\n")
    return name[1:-1] if name.startswith('"') and alone and "\\" not in name else None


PROGRAMS: dict[str, Program] = {**table("awk gawk mawk nawk", judged(_awk))}
