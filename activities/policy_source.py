"""The person's policy file in force: read at the start, read again when it changes, never replaced by a broken one."""

import logging
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Generic, Protocol, TypeVar

from contracts.activities import Demands
from contracts.verdicts import Question, Verdict
from policy.roles import BrowserRules

P = TypeVar("P")

_log = logging.getLogger(__name__)


class PolicySource(Protocol):
    """Answers questions by the policy in force. It may read a file, so call it off the event loop."""

    def judge(self, question: Question) -> Verdict: ...

    def demands(self, question: Question, verdict: Verdict) -> Demands:
        """What that call needs of its sandbox, with this verdict on it."""
        ...

    def browsing(self, role: str) -> BrowserRules:
        """What a role may do with addresses; a role that is not known may do nothing."""
        ...


class PolicyFile(Generic[P]):
    """One policy file; `parse` raises `broken` or ValueError for a bad one, `judge` is a pure function."""

    def __init__(
        self,
        path: Path,
        parse: Callable[[str], P],
        judge: Callable[[Question, P], Verdict],
        demands: Callable[[Question, Verdict, P], Demands] = lambda _question, _verdict, _policy: Demands(),
        broken: type[Exception] = ValueError,
        browsing: Callable[[str, P], BrowserRules] = lambda _role, _policy: BrowserRules(),
    ) -> None:
        """Raises: OSError, ValueError, `broken`: without a policy nothing may start."""
        self._path = path
        self._broken = broken
        self._parse = parse
        self._judge = judge
        self._demands = demands
        self._browsing = browsing
        self._lock = threading.Lock()
        self._seen = self._mark()
        self._policy = parse(path.read_text("utf-8"))

    def judge(self, question: Question) -> Verdict:
        return self._judge(question, self.current())

    def demands(self, question: Question, verdict: Verdict) -> Demands:
        return self._demands(question, verdict, self.current())

    def browsing(self, role: str) -> BrowserRules:
        return self._browsing(role, self.current())

    def current(self) -> P:
        """The policy in force. It may read the file, so call it off the event loop."""
        with self._lock:
            try:
                self._refresh()
            except (OSError, ValueError, self._broken) as error:
                _log.error("the policy file %s cannot be read, the former one stays in force: %s", self._path, error)
            return self._policy

    def _refresh(self) -> None:
        mark = self._mark()
        if mark == self._seen:
            return
        self._seen = mark  # before parsing: a broken file is reported once, not with every question
        self._policy = self._parse(self._path.read_text("utf-8"))
        _log.info("the policy file %s has changed and is in force", self._path)

    def _mark(self) -> tuple[int, int, int]:
        status = self._path.stat()
        return status.st_mtime_ns, status.st_size, status.st_ino
