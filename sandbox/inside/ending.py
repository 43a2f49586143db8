"""How a command ended, in the words that the host understands."""

from __future__ import annotations

import errno
import os

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from sandbox.inside.capture import Capture
    from sandbox.inside.words import Plain

SIGXFSZ = 25
FULL = (errno.ENOSPC, errno.EDQUOT)


def ending(
    status: int, captures: Sequence[Capture], seconds: float, timed_out: bool, limit: str | None
) -> tuple[dict[str, Plain], bytes]:
    """What is said of it, and the beginning and end of its streams, one after the other."""
    number = os.WTERMSIG(status) if os.WIFSIGNALED(status) else None
    meta: dict[str, Plain] = {
        "code": None if number is not None else os.WEXITSTATUS(status),
        "signal": number,
        "timed_out": timed_out,
        "seconds": round(seconds, 6),
        "limit": limit or _met(number, captures),
        "streams": [_facts(capture) for capture in captures],
    }
    return meta, b"".join(capture.head + capture.tail for capture in captures)


def _met(number: int | None, captures: Sequence[Capture]) -> str | None:
    """The limit that it ran against, as far as it can be seen from here."""
    if number == SIGXFSZ:
        return "file_size"
    return "disk" if any(one.is_long and one.trouble in FULL for one in captures) else None


def _facts(capture: Capture) -> list[Plain]:
    """Length of head and of tail, of all, of what is kept, and where."""
    path = capture.path if capture.is_long and capture.kept else None
    kept = capture.kept if capture.is_long else capture.total
    return [len(capture.head), len(capture.tail), capture.total, kept, path]
