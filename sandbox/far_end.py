"""The texts that run inside a sandbox, as the host sends them."""

from functools import cache
from importlib.resources import files

from sandbox.inside.wire import MAGIC, NONCE_BYTES

BEGIN, END = b"\xff[", b"\xff]"
"""Around a program on a stream; neither is UTF-8."""

LOADER = """import os
b = b""
while b"\\xff]" not in b:
    p = os.read(0, 65536)
    p or os._exit(0)
    b += p
b, _, early = b.partition(b"\\xff]")
exec(b.rpartition(b"\\xff[")[2])
"""
"""Takes the agent from its standard input: as an argument it would fill every list of processes."""


@cache
def far_end(name: str) -> str:
    """The text of `inside/<name>`."""
    return files("sandbox.inside").joinpath(name).read_text(encoding="utf-8")


@cache
def agent_on_stdio() -> bytes:
    """What LOADER waits for. An agent that runs already takes it for the remains of an earlier conversation."""
    # The mark first: it keeps what an earlier host left half said from being completed by what follows.
    mark = MAGIC + b"0" * NONCE_BYTES
    return mark + BEGIN + _program("from sandbox.inside.agent import over_stdio\nover_stdio(early)\n") + END


@cache
def agent_in_a_bubble() -> bytes:
    return _program("from sandbox.inside.bubble import main\nmain()\n")


def _program(start: str) -> bytes:
    texts = {"sandbox": "", "sandbox.inside": ""}
    for part in files("sandbox.inside").iterdir():
        name, _, ending = part.name.partition(".")
        if ending == "py" and name not in ("__init__", "joined"):
            texts[f"sandbox.inside.{name}"] = part.read_text(encoding="utf-8")
    return f"{far_end('joined.py')}\njoin({texts!r})\n{start}".encode()
