"""Puts a command into the words of the agent, or says why no sandbox could run it as it was meant."""

import re

from contracts.sandbox import Command
from sandbox.inside.wire import LARGEST_REQUEST

PROXY = "http://127.0.0.1:3128"
NO_PROXY = "localhost,127.0.0.1,::1"
ENVIRONMENT = {
    "HOME": "/home/agent",
    "LANG": "C.UTF-8",
    "PATH": "/home/agent/.local/bin:/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin",
    "SHELL": "/bin/bash",
    "USER": "agent",
    "LOGNAME": "agent",
    "http_proxy": PROXY,
    "https_proxy": PROXY,
    "HTTP_PROXY": PROXY,
    "HTTPS_PROXY": PROXY,
    "ALL_PROXY": PROXY,
    "no_proxy": NO_PROXY,
    "NO_PROXY": NO_PROXY,
}

NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
LARGEST = LARGEST_REQUEST - 1_048_576
"""Room is left for what describes it."""


def complaint(command: Command) -> str | None:
    """Why this cannot be run as it was meant, or None."""
    if (command.script is None) == (command.argv is None):
        return "a command is either a script or an argv"
    if command.argv == ():
        return "an argv has at least the program's name"
    for name in command.env:
        if not NAME.fullmatch(name):
            return f"not a name of an environment variable: {name!r}"
    for text in _texts(command):
        if "\0" in text:
            return "a command cannot hold a NUL byte"
        if not _is_unicode(text):
            return "a command cannot hold half a surrogate pair"
    size = len(command.stdin) + sum(4 * len(text) for text in _texts(command))
    return f"a command of {size} bytes is too large: put the content into a file" if size > LARGEST else None


def asked(key: str, command: Command, timeout_seconds: float, output_bytes: int) -> dict[str, object]:
    """What the agent's `Asked` takes, except the standard input."""
    return {
        "key": key,
        "argv": None if command.argv is None else [word.encode() for word in command.argv],
        "script": (command.script or "").encode(),
        "env": {name.encode(): value.encode() for name, value in (ENVIRONMENT | command.env).items()},
        "cwd": command.cwd.encode(),
        "timeout": timeout_seconds,
        "output_bytes": output_bytes,
        "keep": command.call_id is not None,
    }


def _texts(command: Command) -> tuple[str, ...]:
    return (command.script or "", command.cwd, *(command.argv or ()), *command.env.values())


def _is_unicode(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True
