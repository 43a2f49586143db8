"""Judge assignments by what they change: where programs are found, what they load, and what they start."""

import re

from policy.commands.scene import Scene
from policy.commands.state import State
from policy.commands.word import Word
from policy.paths import is_within
from policy.rules import Rule
from policy.setting import SANDBOX

_CHANGES_WHAT_RUNS = re.compile(
    r"""^(?:
    PATH | CDPATH | BASH_ENV | ENV | SHELLOPTS | BASHOPTS | PROMPT_COMMAND | PS[0-4] | HISTFILE | INPUTRC | GLOBIGNORE |
    BASH_.* | POSIXLY_CORRECT | EXECIGNORE | HOME | SHELL | IFS | TMPDIR | CDROM |
    LD_.* | DYLD_.* | GLIBC_TUNABLES | GCONV_PATH | LOCPATH | NLSPATH | HOSTALIASES | RES_OPTIONS | LOCALDOMAIN |
    MALLOC_.* |
    GIT_.* | SSH_.* | EDITOR | VISUAL | PAGER | .*_PAGER | MANPAGER | BROWSER | LESS.* | .*_EDITOR | TERMINFO.* |
    TERMCAP |
    PYTHON(?!UNBUFFERED|DONTWRITEBYTECODE|IOENCODING|UTF8|HASHSEED|WARNINGS|FAULTHANDLER|PATH).* | VIRTUAL_ENV |
    NODE_OPTIONS | NODE_PATH | NODE_EXTRA_CA_CERTS | NODE_REPL_.* | NPM_CONFIG_.* | npm_config_.* | YARN_.* |
    DENO_.* | BUN_.* |
    PERL.* | RUBY.* | GEM_.* | BUNDLE_.* | LUA_.* | PHP.* | R_.* | JAVA_TOOL_OPTIONS | _JAVA_OPTIONS |
    JDK_JAVA_OPTIONS |
    CLASSPATH | MAVEN_.* | GRADLE_.* | GO(?!OS|ARCH|MAXPROCS|GC).* | CARGO_.* | RUST(?!_BACKTRACE|_LOG).* | CC |
    CXX | LD | AR | AS |
    CPP | MAKE.* | CMAKE_.* | PKG_CONFIG.* | TAR_OPTIONS | RSYNC_.* | GREP_OPTIONS | .*_PROXY | .*_proxy | CURL_.*
    | WGETRC |
    PIP_.* | UV_.* | POETRY_.* | CONDA_.* | SSL_CERT_.* | REQUESTS_CA_BUNDLE | OPENSSL_.* | KRB5.* | DOCKER_.* |
    KUBECONFIG |
    AWS_.* | GOOGLE_.* | AZURE_.* | ANSIBLE_.* | TF_.* | XDG_.* | DBUS_.* | DISPLAY | WAYLAND_DISPLAY | SUDO_.* |
    BASH_FUNC.* |
    PYTEST_(?:ADDOPTS|PLUGINS) | FPATH | ZDOTDIR | GDB.* | ASAN_.* | TCL.* | GTK_.* | QT_.* | PRINTER | MAIL.* |
    OLDPWD | PWD
    )$""",
    re.VERBOSE,
)
_SYSTEM_PATHS = frozenset({"/bin", "/usr/bin", "/sbin", "/usr/sbin", "/usr/local/bin", "/usr/local/sbin"})


def judge_assignment(scene: Scene, name: str, value: Word, state: State) -> None:
    """Ask about a variable that other programs obey, unless the value is one that changes nothing."""
    if name in ("PYTHONPATH", "NODE_PATH"):
        _judge_search_path(scene, name, value, state)
    elif _CHANGES_WHAT_RUNS.match(name) and not _is_harmless(name, value):
        scene.findings.ask(Rule.COMMAND_ENVIRONMENT, f"{name}={value.text}")


def _is_harmless(name: str, value: Word) -> bool:
    if not value.is_exact:
        return False
    if name == "PATH":
        return bool(value.text) and set(value.text.split(":")) <= _SYSTEM_PATHS
    if name.endswith("PAGER"):
        return value.text in ("", "cat", "less", "more")
    return name == "GIT_TERMINAL_PROMPT" or (name == "HOME" and value.text == SANDBOX.home)


def _judge_search_path(scene: Scene, name: str, value: Word, state: State) -> None:
    """The project's own modules are as good as its scripts; anything else is not."""
    folders = [Word(part) for part in value.text.split(":") if part]
    paths = [path for folder in folders for path in scene.paths(folder, state) or ("/",)]
    made = any(is_within(made, path) for made in scene.made for path in paths)
    if made or not all(is_within(path, SANDBOX.workspace) for path in paths):
        scene.findings.ask(Rule.COMMAND_ENVIRONMENT, f"{name}={value.text}")
