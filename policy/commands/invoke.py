"""Judge one simple command: find out which program it is, and let that program's judge speak."""

import posixpath

from policy.commands.call import Call
from policy.commands.catalogue import PROGRAMS
from policy.commands.programs.code import run_file
from policy.commands.shell import Shell
from policy.commands.state import State
from policy.commands.stream import EMPTY, OPAQUE, Stream
from policy.commands.word import Word
from policy.findings import Ran
from policy.paths import resolve
from policy.rules import Rule

MAX_WORDS = 500
"""A command of more words than this is not looked at one by one."""
_FOLDERS = frozenset({"/bin", "/usr/bin", "/sbin", "/usr/sbin", "/usr/local/bin", "/usr/local/sbin"})
_ABOUT_ITSELF = frozenset({"--version", "--help"})


def invoke(shell: Shell, words: tuple[Word, ...], state: State, stdin: Stream | None) -> Stream:
    """What the command writes, as far as it is known. `stdin` is None where nothing is piped in."""
    if not words:
        return EMPTY
    stdin = stdin if stdin is not None else state.input
    if len(words) > MAX_WORDS:
        shell.scene.findings.ask(Rule.COMMAND_COMPLEX, f"{len(words)} words")
        return OPAQUE
    name, arguments = words[0], words[1:]
    if not name.is_exact or not name.text:
        shell.scene.unresolved(name)
        return OPAQUE
    if name.text in state.functions:
        return shell.run_function(name.text, words, state, stdin)
    program = _program(name.text, state)
    call = Call(program or name.text, arguments, stdin, state, shell)
    _note_run(call)
    _judge_blocked(call)
    if program is None:
        return run_file(call, name)
    return _run_program(call)


def _note_run(call: Call) -> None:
    exact = all(word.is_exact for word in call.arguments)
    words = tuple(word.text for word in call.arguments)
    call.scene.findings.ran.setdefault(Ran(call.name, words, exact, tuple(sorted(call.state.cwds or ()))))


def _run_program(call: Call) -> Stream:
    judge = PROGRAMS.get(call.name)
    if judge is None:
        return call.ask(Rule.COMMAND_UNKNOWN, call.name)
    if len(call.arguments) == 1 and call.arguments[0].text in _ABOUT_ITSELF and judge.speaks_of_itself:
        return OPAQUE
    return judge.run(call)


def _program(name: str, state: State) -> str | None:
    """The bare name if it is found where programs are kept; None for a file that is run by its path."""
    if "/" not in name:
        return name
    folders = {posixpath.dirname(resolve(name, cwd)) for cwd in state.cwds or ("/nowhere",)}
    return posixpath.basename(name) if folders <= _FOLDERS else None


def _judge_blocked(call: Call) -> None:
    rules = call.scene.role.cli.blocked if call.scene.role.cli else ()
    arguments = [word.text for word in call.arguments]
    for pattern in rules:
        if pattern.matches(call.name.rsplit("/", 1)[-1], arguments):
            call.deny(Rule.COMMAND_BLOCKED, pattern.text)
