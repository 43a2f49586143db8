"""Shells, and what reads text as a shell does: the script is judged wherever it comes from."""

from policy.commands.call import Call
from policy.commands.options import Spec
from policy.commands.program import Program, judged, table
from policy.commands.stream import OPAQUE, Stream
from policy.commands.word import Word
from policy.rules import Rule

_SPEC = Spec(
    "-c -e -u -x -v -f -n -a -h -m -k -t -b -p -r -l|--login -i -s -o:text -O:text --posix --norc --noprofile "
    "--restricted "
    "--rcfile|--init-file!ask -D --verbose --noediting --debugger!ask --dump-strings --version --help",
    "text",
    strict=True,
    stops=True,
)


def _shell(call: Call) -> Stream:
    """`-c SCRIPT`, a file, or the input."""
    parsed = _SPEC.parse(call.arguments)
    plus = any(word.text.startswith("+") for word in parsed.operands[:1])
    if plus or parsed.unknown or parsed.has("--rcfile", "--init-file", "--debugger"):
        call.ask(Rule.COMMAND_FLAG)
    if parsed.has("-i", "-l", "--login"):
        call.ask(Rule.COMMAND_STATE)
    call.scene.findings.affect("execute")
    if parsed.has("-c"):
        if not parsed.operands:
            return call.ask(Rule.COMMAND_UNRESOLVED)
        return call.run_text(parsed.operands[0], _positional(call, parsed.operands[1:]), call.stdin)
    if parsed.has("--version", "--help"):
        return OPAQUE
    if parsed.operands and not parsed.has("-s") and parsed.operands[0].text not in ("-", "/dev/stdin"):
        return _file(call, parsed.operands)
    return run_input(call)


def _positional(call: Call, words: tuple[Word, ...]) -> tuple[Word, ...]:
    return words or (Word(call.name),)


def _file(call: Call, operands: tuple[Word, ...]) -> Stream:
    file = operands[0]
    if file.fetched:
        return call.deny(Rule.COMMAND_FETCHED)
    call.scene.run_code(call.name, call.arguments, (file,), call.state)
    return OPAQUE


def run_input(call: Call) -> Stream:
    """What is piped or redirected in is a script."""
    stdin = call.stdin
    if stdin is None:
        return OPAQUE
    if stdin.fetched:
        return call.deny(Rule.COMMAND_FETCHED)
    if stdin.text is None:
        return call.ask(Rule.COMMAND_OPAQUE)
    return call.run_text(Word(stdin.text))


def _busybox(call: Call) -> Stream:
    """One program that holds many others."""
    words = call.arguments
    if not words or words[0].text.startswith("--"):
        return OPAQUE
    return call.run(words)


PROGRAMS: dict[str, Program] = {
    **table("sh bash dash ash ksh mksh rbash", judged(_shell)),
    **table("zsh fish csh tcsh xonsh nu elvish", judged(lambda call: (_shell(call), call.ask(Rule.COMMAND_OPAQUE))[1])),
    **table("busybox toybox", judged(_busybox)),
}
