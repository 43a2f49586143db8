"""Programs that run another one: taken off, so that the other one is judged."""

import shlex

from policy.commands.call import Call
from policy.commands.environment import judge_assignment
from policy.commands.options import Parsed, Spec
from policy.commands.program import Program, judged, table
from policy.commands.stream import OPAQUE, Stream
from policy.commands.word import Word, literal
from policy.rules import Rule


def _wrapper(notation: str, skipped: int = 0) -> Program:
    """The first operands belong to the wrapper itself, the rest is a command."""
    spec = Spec(notation, "text", strict=True, stops=True)

    def run(call: Call) -> Stream:
        parsed = _parse(call, spec)
        return call.run(parsed.operands[skipped:])

    return judged(run)


def _parse(call: Call, spec: Spec) -> Parsed:
    parsed = spec.parse(call.arguments)
    for use in parsed.uses:
        call.apply(use.role, use.value, use.name)
    if parsed.unknown:
        call.ask(Rule.COMMAND_FLAG, f"{call.name} {parsed.unknown[0].text}")
    return parsed


def _env(call: Call) -> Stream:
    """Options, then assignments, then a command; `-S` splits a string into all of these."""
    spec = Spec(
        "-i|--ignore-environment -u|--unset: -C|--chdir: -S|--split-string: -0|--null -v|--debug --block-signal "
        "--default-signal --ignore-signal --list-signal-handling",
        "text",
        strict=True,
        stops=True,
    )
    parsed = _parse(call, spec)
    words = list(parsed.operands)
    for value in parsed.values("-S", "--split-string"):
        words = [*_split(call, value), *words]
    state = call.state.copy()
    for folder in parsed.values("-C", "--chdir"):
        paths = call.scene.paths(folder, call.state)
        state.cwds = frozenset(paths) or None
    while words and "=" in words[0].text and not words[0].text.startswith(("=", "-", "/")):
        word = words.pop(0)
        name, _, _ = word.text.partition("=")
        judge_assignment(call.scene, name, word.after(len(name) + 1), state)
        state.assign(name, word.after(len(name) + 1))
    if not words:
        return call.ask(Rule.APPROVAL_CREDENTIAL)
    return call.shell.run_words(words, state, call.stdin)


def _split(call: Call, value: Word) -> list[Word]:
    if not value.is_exact or "$" in value.text or "\\" in value.text:
        call.scene.unresolved(value)
        return []
    try:
        return [literal(part) for part in shlex.split(value.text)]
    except ValueError:
        call.scene.unresolved(value)
        return []


def _command(call: Call) -> Stream:
    """`command -v NAME` only looks; `command NAME` runs it, past functions of that name."""
    words = list(call.arguments)
    looks = False
    while words and words[0].text.startswith("-") and words[0].text != "-":
        looks = looks or bool(set(words[0].text) & {"v", "V"})
        if words.pop(0).text == "--":
            break
    return OPAQUE if looks else call.run(words)


def _exec(call: Call) -> Stream:
    operands = _parse(call, Spec("-c -l -a:text", stops=True, strict=True)).operands
    if not operands and call.stdin is not None:
        call.state.input = call.stdin
    return call.run(operands)


def _watch(call: Call) -> Stream:
    """Its words are joined and given to a shell."""
    spec = Spec(
        "-n|--interval: -d|--differences -t|--no-title -b -e -g -c|--color -x|--exec -p", stops=True, strict=True
    )
    parsed = _parse(call, spec)
    if parsed.has("-x", "--exec"):
        return call.run(parsed.operands)
    return call.run_text(_joined(parsed.operands))


def _joined(words: tuple[Word, ...]) -> Word:
    return Word(
        " ".join(word.text for word in words),
        glob=any(word.glob for word in words),
        fetched=any(word.fetched for word in words),
    )


def _eval(call: Call) -> Stream:
    word = _joined(call.arguments)
    if word.fetched:
        return call.deny(Rule.COMMAND_FETCHED)
    if not word.is_exact:
        call.scene.unresolved(word)
        return OPAQUE
    return call.shell.run_here(word.text, call.state, call.stdin)


def _script(call: Call) -> Stream:
    parsed = _parse(
        call, Spec("-c|--command:script -q|--quiet -e -f -a -t: -O:write -B:write -I:write -T:write", strict=True)
    )
    for word in parsed.operands or (literal("typescript"),):
        call.apply("write", word, "")
    return OPAQUE if parsed.has("-c", "--command") else call.ask(Rule.COMMAND_OPAQUE)


def _flock(call: Call) -> Stream:
    parsed = _parse(call, Spec("-s -x -e -u -n -w|--timeout: -o -F -E: -c:script", stops=True, strict=True))
    for word in parsed.operands[:1]:
        call.apply("write", word, "")
    rest = parsed.operands[1:]
    if rest and rest[0].text in ("-c", "--command"):
        return call.run_text(rest[1]) if len(rest) > 1 else OPAQUE
    return call.run(rest)


def _time(call: Call) -> Stream:
    parsed = _parse(
        call, Spec("-p|--portability -v|--verbose -a|--append -f|--format: -o|--output:write", stops=True, strict=True)
    )
    return call.run(parsed.operands)


def _traced(call: Call) -> Stream:
    """What runs under it is judged, and being able to look into it is asked."""
    parsed = Spec("-o:write -e: -p!ask -f -s: -u: -E: -a: -S: -P: -x: -c -q -t -y", stops=True).parse(call.arguments)
    call.run(parsed.operands)
    return call.ask(Rule.COMMAND_FLAG)


def _coproc(call: Call) -> Stream:
    """Its input comes from wherever the script writes to."""
    return call.run(call.arguments, OPAQUE)


PROGRAMS: dict[str, Program] = {
    "env": judged(_env),
    "command": judged(_command),
    "builtin": judged(_command),
    "exec": judged(_exec),
    "coproc": judged(_coproc),
    "eval": judged(_eval),
    "watch": judged(_watch),
    "script": judged(_script),
    "flock": judged(_flock),
    "time": judged(_time),
    "nice": _wrapper("-n|--adjustment: -0 -1 -2 -3 -4 -5 -6 -7 -8 -9"),
    "timeout": _wrapper("-k|--kill-after: -s|--signal: -v|--verbose --foreground --preserve-status -p -f", skipped=1),
    "nohup": _wrapper(""),
    "setsid": _wrapper("-c|--ctty -f|--fork -w|--wait"),
    "stdbuf": _wrapper("-i|--input: -o|--output: -e|--error:"),
    "ionice": _wrapper("-c|--class: -n|--classdata: -t|--ignore -p!ask"),
    "chrt": _wrapper("-a -b -f -i -o -r -m -p!ask", skipped=1),
    "taskset": _wrapper("-a -c -p!ask", skipped=1),
    **table(
        "unbuffer chronic ts setarch linux32 linux64 i386 x86_64 catchsegv dbus-run-session xvfb-run cpulimit ifne",
        _wrapper(""),
    ),
    "prlimit": _wrapper("-p|--pid!ask --nofile: --nproc: --as: --cpu: --core: --data: --fsize: --stack: --rss:"),
    "numactl": _wrapper("--cpunodebind: --membind: --interleave: -C: -m: -N: -i:"),
    **table("strace ltrace valgrind perf gdbserver", judged(_traced)),
    **table(
        "fakeroot proot faketime eatmydata",
        judged(lambda call: (call.run(call.arguments), call.ask(Rule.COMMAND_FLAG))[1]),
    ),
}
