"""The person's policy file in force: read at the start, read again when it changes, never replaced by a broken one."""

import logging
import threading
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Generic, Literal, Protocol, TypeVar

from contracts.activities import Demands
from contracts.usage import Ceiling
from contracts.verdicts import Actor, Question, Verdict
from policy.roles import BrowserRules

P = TypeVar("P")

Mark = tuple[int, int, int]

OnChange = Callable[[Literal["policy.changed", "policy.refused"], str, str], None]
"""Told of each change: whether it is in force, the version in force from now on, and what is wrong if it was refused.
Called from whichever thread asks for the policy, and while others wait for it: be quick, and ask nothing back."""

_log = logging.getLogger(__name__)


class PolicySource(Protocol):
    """Answers questions by the policy in force. It may read a file, so call it off the event loop."""

    def judge(self, question: Question) -> Verdict: ...

    def demands(self, question: Question, verdict: Verdict) -> Demands:
        """What that call needs of its sandbox, with this verdict on it."""
        ...

    def ceilings(self, actor: Actor) -> tuple[Ceiling, ...]:
        """What this person may use up."""
        ...

    def browsing(self, role: str) -> BrowserRules:
        """What a role may do with addresses; a role that is not known may do nothing."""
        ...


class PolicyFile(Generic[P]):
    """One policy file, and further ones over it; `parse` and `tighten` raise `broken` or ValueError for a bad one,
    `judge` is a pure function."""

    def __init__(
        self,
        path: Path,
        parse: Callable[[str], P],
        judge: Callable[[Question, P], Verdict],
        demands: Callable[[Question, Verdict, P], Demands] = lambda _question, _verdict, _policy: Demands(),
        broken: type[Exception] = ValueError,
        ceilings: Callable[[Actor, P], tuple[Ceiling, ...]] = lambda _actor, _policy: (),
        browsing: Callable[[str, P], BrowserRules] = lambda _role, _policy: BrowserRules(),
        *,
        overlays: Sequence[Path] = (),
        tighten: Callable[[P, str, Path], P] = lambda policy, _text, _path: policy,
        version: Callable[[P], str] = lambda _policy: "",
        on_change: OnChange = lambda _kind, _version, _problem: None,
    ) -> None:
        """Raises: OSError, ValueError, `broken`: without a policy nothing may start."""
        self._path = path
        self._broken = broken
        self._parse = parse
        self._judge = judge
        self._demands = demands
        self._overlays = tuple(overlays)
        self._tighten = tighten
        self._version = version
        self._on_change = on_change
        self._ceilings = ceilings
        self._browsing = browsing
        self._lock = threading.Lock()
        self._problem = ""
        self._seen: tuple[Mark, ...] | None = self._marks()
        self._policy = self._read()

    def judge(self, question: Question) -> Verdict:
        return self._judge(question, self.current())

    def demands(self, question: Question, verdict: Verdict) -> Demands:
        return self._demands(question, verdict, self.current())

    def ceilings(self, actor: Actor) -> tuple[Ceiling, ...]:
        return self._ceilings(actor, self.current())

    def browsing(self, role: str) -> BrowserRules:
        return self._browsing(role, self.current())

    def current(self) -> P:
        """The policy in force. It may read files, so call it off the event loop."""
        with self._lock:
            try:
                self._refresh()
            except (OSError, ValueError, self._broken) as error:
                self._complain(str(error))
            return self._policy

    def problem(self) -> str:
        """Why a change is not in force; empty if all is. It may read files, too."""
        self.current()
        return self._problem

    def _refresh(self) -> None:
        try:
            marks = self._marks()
        except OSError:
            self._seen = None  # what comes back in its place is read again, even if it looks the same
            raise
        if marks == self._seen:
            return
        self._seen = marks  # before parsing: a broken file is reported once, not with every question
        self._policy = self._read()
        self._problem = ""
        _log.info("the policy file %s has changed and is in force", self._path)
        self._on_change("policy.changed", self._version(self._policy), "")

    def _complain(self, problem: str) -> None:
        if problem == self._problem:
            return
        self._problem = problem
        _log.error("the policy file %s cannot be read, the former one stays in force: %s", self._path, problem)
        self._on_change("policy.refused", self._version(self._policy), problem)

    def _read(self) -> P:
        policy = self._parse(self._path.read_text("utf-8"))
        for path in self._overlays:
            policy = self._tighten(policy, path.read_text("utf-8"), path)
        return policy

    def _marks(self) -> tuple[Mark, ...]:
        found = (path.stat() for path in (self._path, *self._overlays))
        return tuple((status.st_mtime_ns, status.st_size, status.st_ino) for status in found)
