"""Puts a command into the words of the kept shell, or says why no shell could run it as it was meant."""

import re
import shlex
from dataclasses import dataclass

from contracts.sandbox import Command
from sandbox.transport import PROXY_PORT

INLINE_BYTES = 65_536
"""Longer scripts travel as a file: the kernel takes 128 KiB in one argument."""

PROXY = f"http://127.0.0.1:{PROXY_PORT}"
NO_PROXY = "localhost,127.0.0.1,::1"
ENVIRONMENT = {
    "HOME": "/home/agent",
    "LANG": "C.UTF-8",
    "PATH": "/home/agent/.local/bin:/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin",
    "http_proxy": PROXY,
    "https_proxy": PROXY,
    "HTTP_PROXY": PROXY,
    "HTTPS_PROXY": PROXY,
    "ALL_PROXY": PROXY,
    "no_proxy": NO_PROXY,
    "NO_PROXY": NO_PROXY,
}

NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")


@dataclass(frozen=True)
class Plan:
    """How a command is run: the start of its argv, and a text that must lie in a file whose name ends the argv."""

    argv: tuple[str, ...]
    text: bytes | None = None


def complaint(command: Command) -> str | None:
    """Why this cannot be run as it was meant, or None."""
    if (command.script is None) == (command.argv is None):
        return "a command is either a script or an argv"
    if command.argv == ():
        return "an argv has at least the program's name"
    for name in command.env:
        if not NAME.fullmatch(name):
            return f"not a name of an environment variable: {name!r}"
    for text in (command.script or "", command.cwd, *(command.argv or ()), *command.env.values()):
        if "\0" in text:
            return "a command cannot hold a NUL byte"
        if not _is_unicode(text):
            return "a command cannot hold half a surrogate pair"
    return None


def plan(command: Command) -> Plan:
    """Short ones go inline; long ones by a file."""
    if command.script is not None:
        text = command.script.encode()
        return Plan(("bash", "-c", command.script)) if len(text) <= INLINE_BYTES else Plan(("bash",), text)
    argv = command.argv or ()
    text = f"exec {shlex.join(argv)}\n".encode()
    return Plan(argv) if len(text) <= INLINE_BYTES else Plan(("/bin/sh",), text)


def start_line(key: str, limit: int, stdin: str, command: Command, argv: tuple[str, ...]) -> str:
    """The kept shell's words for: claim this key, and if it is new, run it in the background."""
    values = ENVIRONMENT | command.env | {"ASOS_CALL": key}
    exports = "unset ASOS_PART SSH_CLIENT SSH_CONNECTION MAIL OLDPWD; export " + " ".join(
        f"{name}={shlex.quote(value)}" for name, value in values.items()
    )
    words = shlex.join([key, str(limit), stdin, command.cwd, exports, *argv])
    return f"if claim {key}; then supervise {words} & fi\n"


def _is_unicode(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True
