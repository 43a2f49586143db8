"""Package tools: looking is harmless, installing runs code that nobody here has seen."""

from policy.commands.call import Call
from policy.commands.options import Spec
from policy.commands.program import Program, judged, table
from policy.commands.stream import OPAQUE, Stream
from policy.commands.word import Word
from policy.rules import Rule

_LOOKS = {
    "pip": "list show freeze check help debug",
    "npm": "ls list help explain root prefix bin pkg",
    "gem": "list help environment",
    "cargo": "tree metadata locate-project version help",
    "go": "version env list doc help",
    "apt": "list show search policy depends rdepends",
    "conda": "list info",
    "uv": "version help",
    "brew": "list info",
}
_BUILDS = {
    "npm": "run run-script test t start",
    "cargo": "build check test run clippy fmt bench doc b t r c",
    "go": "build test vet fmt run generate",
    "uv": "run",
    "conda": "run",
}
_REDIRECTS = frozenset(
    [
        "--script-shell",
        "--node-options",
        "--userconfig",
        "--globalconfig",
        "--prefix",
        "-C",
        "--config",
        "--manifest-path",
        "-toolexec",
        "-exec",
        "-modfile",
        "-overlay",
        "--with",
        "--from",
        "--cwd",
        "--dir",
    ]
)
_SENDS = frozenset(["publish", "login", "adduser", "token", "owner", "push", "upload", "yank", "whoami"])


def _of(family: str) -> Program:
    looks = frozenset(_LOOKS.get(family, "").split())
    builds = frozenset(_BUILDS.get(family, "").split())
    return judged(lambda call: _package_tool(call, looks, builds))


def _package_tool(call: Call, looks: frozenset[str], builds: frozenset[str]) -> Stream:
    """The first word that is no flag says what it does."""
    words = [word for word in call.arguments if not word.text.startswith("-")]
    if not words:
        harmless = all(word.text in ("-v", "-V", "--version", "-h", "--help") for word in call.arguments)
        return OPAQUE if harmless and call.arguments else call.ask(Rule.COMMAND_INSTALLS)
    verb = words[0]
    leading = call.arguments[0] == verb
    if leading and verb.is_exact and verb.text in looks:
        return _judge_looking(call)
    if leading and verb.is_exact and verb.text in builds and not any(map(_is_foreign, call.arguments)):
        call.scene.run_code(call.name, call.arguments, (), call.state)
        return OPAQUE
    if verb.text in _SENDS:
        return call.ask(Rule.COMMAND_SENDS)
    call.scene.findings.affect("execute", "egress")
    return call.ask(Rule.COMMAND_INSTALLS)


def _is_foreign(word: Word) -> bool:
    """Whether it names code from elsewhere, or another way to start it."""
    flag = word.text.split("=", 1)[0]
    return word.is_open or "://" in word.text or flag in _REDIRECTS or (not flag.startswith("-") and "@" in word.text)


def _judge_looking(call: Call) -> Stream:
    """`go env -w` and the like write after all."""
    if any(word.text in ("-w", "-u", "set", "delete", "fix") or word.is_open for word in call.arguments[1:]):
        return call.ask(Rule.COMMAND_PERSISTENCE)
    if any(map(_is_foreign, call.arguments)):
        return call.ask(Rule.COMMAND_FLAG)
    return OPAQUE


def _dpkg(call: Call) -> Stream:
    parsed = Spec(
        "-l|--list -L|--listfiles -s|--status -S|--search -p --print-architecture -W|--show", "text", strict=True
    ).parse(call.arguments)
    return call.ask(Rule.COMMAND_INSTALLS) if parsed.unknown else OPAQUE


PROGRAMS: dict[str, Program] = {
    **table("pip pip3 pipx", _of("pip")),
    **table("npm yarn pnpm", _of("npm")),
    **table("npx bunx pnpx uvx corepack", _of("none")),
    "gem": _of("gem"),
    "cargo": _of("cargo"),
    "go": _of("go"),
    **table("apt apt-get apt-cache aptitude", _of("apt")),
    **table("conda mamba micromamba", _of("conda")),
    **table("uv poetry pdm hatch pipenv rye", _of("uv")),
    **table("brew snap flatpak dnf yum apk pacman zypper emerge nix nix-env nix-shell opkg rpm", _of("brew")),
    **table(
        "composer bundle bundler mvn gradle gradlew sbt lein cabal stack opam luarocks cpan cpanm easy_install "
        "rustup nvm",
        _of("none"),
    ),
    **table("dpkg dpkg-query", judged(_dpkg)),
}
