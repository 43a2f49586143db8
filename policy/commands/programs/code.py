"""Programs that run code policy cannot look into: interpreters with their scripts, and files run by their path."""

from policy.commands.call import Call
from policy.commands.options import Spec
from policy.commands.program import Program, judged, table
from policy.commands.stream import OPAQUE, Stream
from policy.commands.word import Word, literal
from policy.rules import Rule

_VERSIONS = frozenset({"--version", "-V", "-v", "--help", "-h", "-version", "-VV"})

_MODULES_THAT_ONLY_READ = frozenset(
    {"json.tool", "tokenize", "ast", "tabnanny", "calendar", "this", "platform", "sysconfig", "dis"}
)

_INLINE = {
    "python": Spec(
        "-u -B -E -s -S -I -O -OO -q -v -b -d -P -c:code -m:module -W: -X: --check-hash-based-pycs: -i!code",
        "text",
        stops=True,
    ),
    "node": Spec(
        "-e|--eval|-p|--print:code -r|--require|--import|--loader|--experimental-loader:code -i!code --test --check -c",
        "text",
        stops=True,
    ),
    "perl": Spec("-e|-E:code -M|-m:code -I: -x: -n -p -i -l -a -w -s", "text", stops=True),
    "ruby": Spec("-e:code -r:code -I: -C: -n -p -i -l -a -w", "text", stops=True),
    "php": Spec("-r|-B|-R|-E|-F:code -f:file -d:code -c:file -l -S!code", "text", stops=True),
    "other": Spec("-e|-E|-c|--eval|-r|-l:code -f:file", "text", stops=True),
}


def _interpreter(call: Call, family: str) -> Stream:
    if [word.text for word in call.arguments if word.text not in _VERSIONS] == [] and call.arguments:
        return OPAQUE
    parsed = _INLINE[family].parse(call.arguments)
    for use in parsed.uses:
        if use.role == "code":
            return _inline(call, use.value)
        if use.role == "module":
            return _module(call, use.value, parsed.operands)
    if parsed.unknown:
        return _inline(call, None)
    files = [use.value for use in parsed.uses if use.role == "file" and use.value is not None]
    operands = (*files, *parsed.operands)
    if not operands or operands[0].text in ("-", "/dev/stdin"):
        return _from_input(call)
    return _script(call, operands)


def _inline(call: Call, code: Word | None) -> Stream:
    if code is not None and code.fetched:
        return call.deny(Rule.COMMAND_FETCHED)
    call.scene.findings.affect("execute")
    return call.ask(Rule.COMMAND_OPAQUE)


def _module(call: Call, module: Word | None, rest: tuple[Word, ...]) -> Stream:
    """`python -m pytest` is pytest; other modules are code of their own."""
    if module is None or not module.is_exact:
        return _inline(call, module)
    if module.text in _MODULES_THAT_ONLY_READ:
        for word in rest:
            call.apply("text" if word.text.startswith("-") else "read" if word is rest[0] else "write", word, "")
        return OPAQUE
    at = next(i for i, word in enumerate(call.arguments) if word.text.endswith(module.text)) + 1
    name = {"pip": "pip", "pytest": "pytest", "unittest": "unittest", "venv": "venv"}.get(module.text, module.text)
    return call.run((literal(name), *call.arguments[at:]))


def _from_input(call: Call) -> Stream:
    if call.stdin is not None and call.stdin.fetched:
        return call.deny(Rule.COMMAND_FETCHED)
    call.scene.findings.affect("execute")
    return call.ask(Rule.COMMAND_OPAQUE)


def _script(call: Call, operands: tuple[Word, ...]) -> Stream:
    file = operands[0]
    if file.fetched:
        return call.deny(Rule.COMMAND_FETCHED)
    call.scene.run_code(call.name, call.arguments, (file,), call.state)
    return OPAQUE


def run_file(call: Call, file: Word) -> Stream:
    """A program that is named by its path outside of the system's folders."""
    if file.fetched:
        return call.deny(Rule.COMMAND_FETCHED)
    call.scene.run_code(file.text, call.arguments, (file,), call.state)
    return OPAQUE


def _of(family: str) -> Program:
    return judged(lambda call: _interpreter(call, family))


PROGRAMS: dict[str, Program] = {
    **table(
        "python python3 python2 pypy pypy3 ipython " + " ".join(f"python3.{minor}" for minor in range(6, 16)),
        _of("python"),
    ),
    **table("node nodejs bun deno tsx ts-node", _of("node")),
    "perl": _of("perl"),
    **table("ruby irb", _of("ruby")),
    "php": _of("php"),
    **table(
        "lua luajit Rscript R julia tclsh expect guile racket scala kotlin groovy swift ghc runghc ghci ocaml "
        "elixir erl iex "
        "osascript pwsh powershell java jshell mono octave clojure sbcl clisp",
        _of("other"),
    ),
}
