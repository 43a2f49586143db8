"""What a button carries: an action, a task, and a token that binds it to exactly what was shown."""

from dataclasses import dataclass
from hashlib import sha256
from typing import Literal, get_args

from contracts.task import Approval, Asked

MAX_BYTES = 64
TOKEN_CHARACTERS = 12

Action = Literal["approve", "always", "always_task", "deny", "choose", "pause", "resume", "stop"]
_ACTIONS: frozenset[str] = frozenset(get_args(Action))


class NotAButton(Exception):
    """Raised when pressed data is none that this gateway made."""


@dataclass(frozen=True)
class Press:
    """One button, unpacked."""

    action: Action
    task_id: str
    token: str = ""
    choice: int = 0

    def pack(self) -> str:
        """Raises: ValueError if it does not fit into a button."""
        data = ":".join((self.action, self.task_id, self.token, str(self.choice)))
        if len(data.encode()) > MAX_BYTES:
            raise ValueError(f"{len(data.encode())} bytes do not fit into a button: {data!r}")
        return data


def unpack(data: str) -> Press:
    """Raises: NotAButton."""
    parts = data.split(":")
    if len(parts) != 4 or parts[0] not in _ACTIONS or not parts[3].isdecimal() or len(data) > MAX_BYTES:
        raise NotAButton(f"not a button of ours: {data[:MAX_BYTES]!r}")
    action, task_id, token, choice = parts
    known: Action = next(each for each in get_args(Action) if each == action)
    return Press(known, task_id, token, int(choice))


def token_of(approval: Approval) -> str:
    """Changes with the approval, its calls, and everything that they are bound to."""
    return _token(approval.approval_id, approval.call_id, approval.args_sha256, approval.digest)


def token_of_question(asked: Asked) -> str:
    """Changes with the question or its choices."""
    return _token(asked.question_id, asked.question, *asked.choices)


def _token(*parts: str) -> str:
    return sha256("\0".join(parts).encode("utf-8", "surrogatepass")).hexdigest()[:TOKEN_CHARACTERS]
