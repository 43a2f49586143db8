"""One audit line for each change of the policy file, in force or refused; it is told from whichever thread noticed."""

from typing import Literal

from contracts.audit import Event
from workers.later import Later

Outcome = Literal["policy.changed", "policy.refused"]


class PolicyChanges:
    """What a policy file is given to tell of its changes."""

    def __init__(self, later: Later) -> None:
        self._later = later

    def __call__(self, kind: Outcome, version: str, problem: str) -> None:
        """`version` is the one in force from now on; a problem may quote the file."""
        words = {"problem": problem} if problem else {}
        self._later(Event(kind=kind, actor="policy", policy_version=version, words=dict(words)))
