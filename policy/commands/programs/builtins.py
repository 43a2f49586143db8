"""What the shell does by itself: folders, variables, options, traps, and reading scripts in."""

from policy.commands.call import Call
from policy.commands.options import Spec
from policy.commands.program import Program, asked, judged, specified, table
from policy.commands.stream import EMPTY, OPAQUE, Stream
from policy.commands.word import HOLE, UNKNOWN, Word, literal
from policy.rules import Rule
from policy.setting import SANDBOX

_SET_OPTIONS = frozenset(
    {"errexit", "nounset", "pipefail", "xtrace", "noglob", "noclobber", "verbose", "allexport", "errtrace", "monitor"}
)
_SHOPT_HARMLESS = frozenset(
    {
        "nullglob",
        "failglob",
        "globstar",
        "extglob",
        "checkwinsize",
        "inherit_errexit",
    }
)


def _cd(call: Call) -> Stream:
    """The folder changes, or does not if that fails."""
    words = [word for word in call.arguments if not (word.text in ("-P", "-L", "-e", "-@", "--") and word.is_exact)]
    target = words[0] if words else call.state.variables.get("HOME", UNKNOWN)
    state = call.state
    call.scene.look(target, state)
    known = target.is_exact and target.text != "-" and state.cwds is not None and "CDPATH" not in state.variables
    paths = call.scene.paths(target, state) if known or (target.is_exact and target.text.startswith("/")) else ()
    state.failed |= state.cwds or frozenset()
    state.cwds = frozenset(paths) or None
    call.scene.folders.update(paths)
    call.scene.lost = call.scene.lost or not paths
    if state.cwds is None:
        state.failed = frozenset()
    return EMPTY


def _pushd(call: Call) -> Stream:
    call.state.cwds, call.state.failed = None, frozenset()
    call.scene.lost = True
    return EMPTY


def _pwd(call: Call) -> Stream:
    cwds = call.state.cwds
    return Stream(text=next(iter(cwds))) if cwds is not None and len(cwds | call.state.failed) == 1 else OPAQUE


def _echo(call: Call) -> Stream:
    """Its text is known if its words are, and if no escapes may be meant."""
    words = list(call.arguments)
    newline = "\n"
    while words and words[0].text in ("-n", "-E", "-e", "-ne", "-en"):
        flag = words.pop(0).text
        newline = "" if "n" in flag else newline
        if "e" in flag and any("\\" in word.text for word in words):
            return OPAQUE
    return _text_of(call, words, newline)


def _text_of(call: Call, words: list[Word], newline: str) -> Stream:
    fetched = any(word.fetched for word in words)
    if all(word.is_exact and "\\" not in word.text for word in words):
        return Stream(text=" ".join(word.text for word in words) + newline, fetched=fetched)
    known = all(not word.is_open for word in words)
    return Stream(items=tuple(words) if known and words else (), fetched=fetched)


def _printf(call: Call) -> Stream:
    words = list(call.arguments)
    if words and words[0].text.startswith("-v"):
        target = words[0].after(2) if len(words[0].text) > 2 else (words[1] if len(words) > 1 else UNKNOWN)
        return _assign_name(call, target)
    format_ = words[0] if words else literal("")
    if format_.text in ("%s", "%s\\n", "%s\n") and len(words) > 1:
        newline = "\n" if "n" in format_.text[2:] or "\n" in format_.text else ""
        return _text_of(call, words[1:], newline) if len(words) == 2 else OPAQUE
    if len(words) == 1 and format_.is_exact and "%" not in format_.text:
        text = format_.text.replace("\\n", "\n")
        return Stream(text=text, fetched=format_.fetched) if "\\" not in text else OPAQUE
    return Stream(fetched=any(word.fetched for word in words))


def _assign_name(call: Call, name: Word) -> Stream:
    if not name.is_exact or "[" in name.text:
        return call.ask(Rule.COMMAND_STATE)
    call.state.assign(name.text, UNKNOWN)
    return EMPTY


def _read(call: Call) -> Stream:
    """Its words become names of variables whose values come from outside."""
    parsed = Spec("-d: -i: -n: -N: -p: -t: -u: -a:name -r -s -e", "name").parse(call.arguments)
    fetched = bool(call.stdin and call.stdin.fetched)
    for word in (*parsed.operands, *parsed.values("-a")) or (literal("REPLY"),):
        _assign_name(call, word)
        call.state.variables[word.text] = Word(HOLE, fetched=fetched, many=True)
    return EMPTY


def _mapfile(call: Call) -> Stream:
    parsed = Spec("-d: -n: -O: -s: -t -u: -C: -c:", "text").parse(call.arguments)
    if parsed.has("-C"):
        call.ask(Rule.COMMAND_STATE)
    return _assign_name(call, parsed.operands[0] if parsed.operands else literal("MAPFILE"))


def _set(call: Call) -> Stream:
    words = list(call.arguments)
    if not words:
        return call.ask(Rule.APPROVAL_CREDENTIAL)
    while words:
        word = words.pop(0)
        if word.text in ("--", "-"):
            call.state.positional = (literal("sh"), *words)
            break
        if word.is_open and not (word.known_start and word.known_start[0] not in "-+"):
            call.scene.unresolved(word)
        if word.text[:1] not in ("-", "+") or not word.is_exact:
            call.state.positional = (literal("sh"), word, *words)
            break
        if "o" in word.text and words and words.pop(0).text not in _SET_OPTIONS:
            return call.ask(Rule.COMMAND_STATE)
        if set(word.text[1:]) - set("euxovfCamET"):
            return call.ask(Rule.COMMAND_STATE)
    return EMPTY


def _shopt(call: Call) -> Stream:
    names = [word for word in call.arguments if not word.text.startswith("-")]
    return EMPTY if all(word.text in _SHOPT_HARMLESS for word in names) else call.ask(Rule.COMMAND_STATE)


def _trap(call: Call) -> Stream:
    words = [word for word in call.arguments if word.text not in ("--", "-p", "-l")]
    if len(words) < 2 or words[0].text in ("", "-"):
        return EMPTY
    later = call.state.copy()
    later.variables.clear()
    if words[0].is_exact:
        call.shell.run_script(words[0].text, later)
        call.scene.traps.append(words[0].text)
    else:
        call.run_text(words[0])
        call.scene.unresolved(words[0])
    return EMPTY


def _alias(call: Call) -> Stream:
    for word in call.arguments:
        if "=" in word.text:
            call.run_text(word.after(word.text.index("=") + 1))
            call.ask(Rule.COMMAND_STATE)
    return OPAQUE


def _source(call: Call) -> Stream:
    """A script that runs in this very shell, so that nothing is known of variables afterwards."""
    if not call.arguments:
        return OPAQUE
    file = call.arguments[0]
    if file.fetched:
        return call.deny(Rule.COMMAND_FETCHED)
    call.scene.run_code("source", call.arguments, (file,), call.state)
    call.state.variables.clear()
    return OPAQUE


def _test(call: Call) -> Stream:
    words = call.arguments
    if any(word.text in ("-v", "-R") and index + 1 < len(words) for index, word in enumerate(words)):
        call.ask(Rule.COMMAND_CHARGED)
    return EMPTY


def _getopts(call: Call) -> Stream:
    return _assign_name(call, call.arguments[1]) if len(call.arguments) > 1 else EMPTY


def _let(call: Call) -> Stream:
    return call.ask(Rule.COMMAND_CHARGED)


def _hash(call: Call) -> Stream:
    """With a path for a name, and with words that might say so."""
    odd = any(word.text.startswith("-") and word.text not in ("-r", "-l", "-t", "-d") for word in call.arguments)
    return call.ask(Rule.COMMAND_STATE) if odd or any(word.is_open for word in call.arguments) else EMPTY


def _shift(call: Call) -> Stream:
    call.state.positional = None
    return EMPTY


def _history(call: Call) -> None:
    """It writes and reads files of its own, by default those in the home."""
    parsed = Spec("-a -n -r -w -c -d: -s -p", "text").parse(call.arguments)
    if parsed.has("-a", "-n", "-r", "-w"):
        for word in parsed.operands or (literal(f"{SANDBOX.home}/.bash_history"),):
            call.apply("write", word, "")


def _exec_free(names: str) -> dict[str, Program]:
    return dict(table(names, specified(Spec("", "text"))))


PROGRAMS: dict[str, Program] = {
    "cd": judged(_cd),
    **table("pushd popd", judged(_pushd)),
    "pwd": judged(_pwd),
    "echo": judged(_echo),
    "printf": judged(_printf),
    "read": judged(_read),
    **table("mapfile readarray", judged(_mapfile)),
    "set": judged(_set),
    "shopt": judged(_shopt),
    "trap": judged(_trap),
    "alias": judged(_alias),
    **table("source .", judged(_source)),
    **table("test [", judged(_test)),
    "let": judged(_let),
    "getopts": judged(_getopts),
    "hash": judged(_hash),
    "shift": judged(_shift),
    **_exec_free(
        "type exit return break continue wait jobs bg fg disown times ulimit umask dirs caller help suspend unalias"
    ),
    "history": judged(_history),
    **table("enable bind complete compgen compopt fc", asked(Rule.COMMAND_STATE)),
}
