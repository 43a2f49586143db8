"""find, fd, xargs, parallel: programs that look for names and run others on them."""

from collections.abc import Sequence

from policy.commands.call import Call
from policy.commands.options import Spec
from policy.commands.program import Program, judged, table
from policy.commands.stream import OPAQUE, Stream
from policy.commands.word import UNKNOWN, Word, literal
from policy.rules import Rule

_TAKES_ONE = frozenset(
    [
        "-name",
        "-iname",
        "-path",
        "-ipath",
        "-wholename",
        "-iwholename",
        "-regex",
        "-iregex",
        "-lname",
        "-ilname",
        "-type",
        "-xtype",
        "-size",
        "-mtime",
        "-atime",
        "-ctime",
        "-mmin",
        "-amin",
        "-cmin",
        "-newer",
        "-anewer",
        "-cnewer",
        "-perm",
        "-user",
        "-group",
        "-uid",
        "-gid",
        "-links",
        "-inum",
        "-samefile",
        "-maxdepth",
        "-mindepth",
        "-printf",
        "-fstype",
        "-regextype",
        "-used",
        "-context",
        "-newermt",
        "-newerat",
        "-newerct",
    ]
)
_TAKES_NONE = frozenset(
    [
        "-print",
        "-print0",
        "-ls",
        "-prune",
        "-quit",
        "-depth",
        "-d",
        "-mount",
        "-xdev",
        "-noleaf",
        "-follow",
        "-empty",
        "-true",
        "-false",
        "-readable",
        "-writable",
        "-executable",
        "-nouser",
        "-nogroup",
        "-daystart",
        "-warn",
        "-nowarn",
        "-ignore_readdir_race",
        "-a",
        "-and",
        "-o",
        "-or",
        "-not",
        "!",
        "(",
        ")",
        ",",
        "-help",
        "--help",
        "-version",
        "--version",
    ]
)
_RUNS = frozenset({"-exec", "-execdir", "-ok", "-okdir"})
_WRITES = frozenset({"-fprint", "-fprint0", "-fls"})
_CHOOSES = frozenset(
    {
        "-name",
        "-iname",
        "-path",
        "-ipath",
        "-wholename",
    }
)


def _find(call: Call) -> Stream:
    words = list(call.arguments)
    while (words and words[0].text in ("-H", "-L", "-P")) or (
        words and words[0].text[:2] in ("-O", "-D") and words[0].text
    ):
        words.pop(0)
    roots: list[Word] = []
    while words and not _starts_expression(words[0]):
        roots.append(words.pop(0))
    roots = roots or [literal(".")]
    for root in roots:
        call.apply("list", root, "")
        if root.is_open:
            call.scene.unresolved(root)
    return _expression(call, roots, words)


def _starts_expression(word: Word) -> bool:
    return word.text[:1] in ("-", "(", ")", "!", ",") and not word.glob


def _expression(call: Call, roots: Sequence[Word], words: list[Word]) -> Stream:
    names: list[str] = []
    chosen = alternatives = False
    while words:
        word = words.pop(0)
        alternatives = alternatives or word.text in ("-o", "-or", "!", "-not", ",")
        if word.text in _TAKES_ONE:
            value = words.pop(0) if words else UNKNOWN
            chosen = chosen or (word.text in _CHOOSES and not value.is_open and len(value.text.strip("*?[].")) > 1)
            names += [value.text] if word.text == "-name" and not value.is_open else []
        elif word.text in _RUNS:
            _run_on(call, _items(roots, [] if alternatives else names), _command_of(words), chosen and not alternatives)
        elif word.text == "-delete":
            for item in _items(roots, [] if alternatives else names) if chosen else roots:
                call.scene.delete(item, call.state, filtered=chosen and not alternatives)
        elif word.text in _WRITES or word.text == "-fprintf":
            call.apply("write", words.pop(0) if words else None, "")
            del words[: word.text == "-fprintf"]
        elif word.text not in _TAKES_NONE or not word.is_exact:
            call.ask(Rule.COMMAND_FLAG, f"find {word.text}")
    return Stream(items=_items(roots, [] if alternatives else names))


def _items(roots: Sequence[Word], names: Sequence[str]) -> tuple[Word, ...]:
    """What find may come upon: names below the roots."""
    name = names[-1] if names else ""
    tail = f"**/{name}" if name and "/" not in name else "**"
    return tuple(
        Word(f"{root.text.rstrip('/') or '/'}/{tail}".replace("//", "/"), glob=True, many=True) for root in roots
    )


def _command_of(words: list[Word]) -> list[Word]:
    """The words up to `;` or `{} +`, taken off the list."""
    command: list[Word] = []
    while words:
        word = words.pop(0)
        if word.text == ";" or (word.text == "+" and command and command[-1].text == "{}"):
            break
        command.append(word)
    return command


def _run_on(call: Call, items: tuple[Word, ...], command: list[Word], filtered: bool) -> None:
    """Run it with the found names in place of `{}`; deleting what a test has chosen is not emptying the folder."""
    for item in items:
        words = [word for part in command for word in _filled(part, item)]
        if filtered and words and words[0].text in ("rm", "unlink"):
            _remove(call, words)
        else:
            call.run(words)


def _remove(call: Call, words: list[Word]) -> None:
    parsed = Spec("").parse(words[1:])
    for word in parsed.operands:
        call.scene.delete(word, call.state, filtered=True)
    if any("no-preserve" in word.text for word in words):
        call.deny(Rule.FILE_DESTROYS)


def _filled(part: Word, item: Word, mark: str = "{}") -> list[Word]:
    if part.text == mark:
        return [item]
    if mark in part.text:
        return [Word(part.text.replace(mark, UNKNOWN.text), fetched=part.fetched or item.fetched)]
    return [part]


def _xargs(call: Call) -> Stream:
    spec = Spec(
        "-0|--null -r|--no-run-if-empty -t|--verbose -x|--exit -p -n|--max-args: -P|--max-procs: -L: -l "
        "-s|--max-chars: "
        "-d|--delimiter: -E: -e -I: --replace -i -a|--arg-file:read --show-limits --process-slot-var: -o",
        "text",
        strict=True,
        stops=True,
    )
    parsed = spec.parse(call.arguments)
    for use in parsed.uses:
        call.apply(use.role, use.value, use.name)
    if parsed.unknown:
        call.ask(Rule.COMMAND_FLAG, f"xargs {parsed.unknown[0].text}")
    named = parsed.has("-a", "--arg-file") or call.stdin is None
    items = (UNKNOWN,) if named else call.stdin.names() if call.stdin else (UNKNOWN,)
    fetched = bool(call.stdin and call.stdin.fetched)
    command = list(parsed.operands) or [literal("echo")]
    mark = next(
        (value.text for value in parsed.values("-I", "--replace")), "{}" if parsed.has("-i", "--replace") else ""
    )
    if mark:
        for item in items if named or call.stdin is None else call.stdin.lines():
            call.shell.run_words([word for part in command for word in _filled(part, item, mark)], call.state, OPAQUE)
        return Stream(fetched=fetched)
    output = call.shell.run_words([*command, *items], call.state, Stream(text=""))
    return Stream(fetched=fetched or output.fetched)


def _fd(call: Call) -> Stream:
    spec = Spec(
        "-x|--exec|-X|--exec-batch!ask -e|--extension: -t|--type: -d|--max-depth: -E|--exclude: -g|--glob "
        "-H|--hidden -I -u -a -i -s "
        "-0 -l|--list-details -p -L -c|--color: -S|--size: --changed-within: --changed-before: --no-ignore",
        "text",
        strict=True,
    )
    parsed = call.judge(spec)
    roots = parsed.operands[1:] or (literal("."),)
    for root in roots:
        call.apply("list", root, "")
    return Stream(items=_items(roots, []))


def _parallel(call: Call) -> Stream:
    """Too many ways to say what runs: only what is plain is looked at, and all of it is asked."""
    words = [word for word in call.arguments if not word.text.startswith("-")]
    if words:
        call.shell.run_words([*words, UNKNOWN], call.state, OPAQUE)
    return call.ask(Rule.COMMAND_OPAQUE)


PROGRAMS: dict[str, Program] = {
    "find": judged(_find),
    "xargs": judged(_xargs),
    **table("fd fdfind", judged(_fd)),
    **table("parallel sem rush", judged(_parallel)),
    **table("locate plocate mlocate", judged(lambda call: OPAQUE)),
}
