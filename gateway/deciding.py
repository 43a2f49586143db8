"""The one way by which a person's yes or no reaches a task, whatever they pressed, wrote or typed."""

import asyncio
import logging
import re
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Literal

from audit.storage import StorageUnusable
from contracts import errors
from contracts.approvals import StepUp, approval_purpose
from contracts.audit import Event, NoRecord, Recorder
from contracts.language import Language
from contracts.task import Approval, Decision
from contracts.texts import approvals as texts
from contracts.texts import gateway as gateway_texts
from contracts.texts.sentence import Sentence
from gateway.desk import Desk, Refused
from runtime.second_factor import FactorRefused

Always = Literal["", "task", "person"]
Confirm = Callable[[str, str, str, datetime], StepUp]
"""Uses a code up for one purpose. It blocks. Raises: FactorRefused."""

YES = frozenset({"yes", "y", "ok", "okay", "approve", "approved", "是", "好", "好的", "同意", "批准", "可以"})
NO = frozenset({"no", "n", "deny", "denied", "don't", "不", "否", "不行", "不要", "拒绝", "不同意"})

_log = logging.getLogger(__name__)

_CODE = re.compile(r"\d{6}")
_ALWAYS: dict[str, Always] = {"always": "person", "task": "task"}


class CodeNeeded(Exception):
    """Raised when a yes needs a code of the second factor, and came without one."""

    def __init__(self, approval_id: str) -> None:
        super().__init__(f"a yes to {approval_id} needs a code")
        self.approval_id = approval_id


class NothingStanding(Exception):
    """Raised when something is to be allowed for good that is asked every time."""


@dataclass(frozen=True)
class Said:
    """What a person has said to an approval."""

    approve: bool
    by: str
    """As tasks know people: `<channel>:<id>`."""
    note: str = ""
    always: Always = ""
    code: str = ""
    as_owner: bool = False


class Deciding:
    """Shared by the chat, the terminal and the pages."""

    def __init__(self, desk: Desk, confirm: Confirm, recorder: Recorder | None = None) -> None:
        self._desk = desk
        self._confirm = confirm
        self._recorder = recorder or NoRecord()

    async def decide(self, task_id: str, approval: Approval, said: Said) -> None:
        """Hand in the decision on exactly what was shown.

        Raises: CodeNeeded, NothingStanding, FactorRefused, Refused, NoSuchTask, DeskUnreachable.
        """
        if said.always and approval.shape is None:
            raise NothingStanding(approval.approval_id)
        step_up = await self._stepped_up(approval, said) if approval.step_up and said.approve else None
        decision = Decision(
            approval_id=approval.approval_id,
            call_id=approval.call_id,
            args_sha256=approval.args_sha256,
            approve=said.approve,
            by=said.by,
            note=said.note,
            digest=approval.digest,
            always=said.always if said.approve else "",
            step_up=step_up,
            as_owner=said.as_owner,
        )
        try:
            await self._desk.decide(task_id, decision)
        except Refused as refused:
            await self._note(_refusal(task_id, approval, said, refused))
            raise

    async def answer(self, task_id: str, approval: Approval, said: Said, language: Language) -> str:
        """The same, with what the person is told. Raises: NoSuchTask, DeskUnreachable, Refused for what is not about
        the decision itself."""
        try:
            await self.decide(task_id, approval, said)
        except CodeNeeded:
            return texts.CODE_NEEDED.say(language, short=approval.approval_id)
        except NothingStanding:
            return texts.NO_STANDING.say(language)
        except FactorRefused as refused:
            return refused.sentence.say(language, **refused.values)
        except Refused as refused:
            if refused.code not in _REFUSALS:
                raise
            return _REFUSALS[refused.code].say(language)
        if said.approve and said.always:
            return texts.ALLOWED_FROM_NOW.say(language)
        return (gateway_texts.APPROVED if said.approve else gateway_texts.DENIED).say(language)

    async def _note(self, refusal: Event) -> None:
        """It is refused either way, and the person is told why."""
        try:
            await self._recorder.record(refusal)
        except StorageUnusable as error:
            _log.error("a refused decision cannot be written down: %s", error)

    async def _stepped_up(self, approval: Approval, said: Said) -> StepUp:
        if not said.code.strip():
            raise CodeNeeded(approval.approval_id)
        purpose = approval_purpose(approval.approval_id, approval.digest)
        return await asyncio.to_thread(self._confirm, said.code, purpose, said.by, datetime.now(UTC))


def words_of(words: tuple[str, ...]) -> tuple[Always, str, str]:
    """What follows a yes: how long it holds, a code, and the rest as a note."""
    always: Always = ""
    code, rest = "", list(words)
    while rest:
        word = rest[0].lower()
        if word in _ALWAYS and not always:
            always = _ALWAYS[word]
        elif _CODE.fullmatch(word) and not code:
            code = word
        else:
            break
        rest.pop(0)
    return always, code, " ".join(rest)


def yes_or_no(text: str) -> tuple[bool, str] | None:
    """What a plain answer to a card says, with the code that may follow it; None if it is neither yes nor no."""
    word, _, rest = text.strip().partition(" ")
    plain = word.strip(".!,。！，").lower()
    code = rest.strip()
    if code and not _CODE.fullmatch(code):
        return None
    if plain in YES:
        return True, code
    return (False, "") if plain in NO and not code else None


def _refusal(task_id: str, approval: Approval, said: Said, refused: Refused) -> Event:
    return Event(
        kind="approval.refused",
        actor=said.by or "nobody",
        task_id=task_id,
        call_id=approval.call_id,
        digest=approval.digest,
        policy_version=approval.policy_version,
        data={"approval_id": approval.approval_id, "approve": said.approve, "why": refused.code},
    )


_REFUSALS: dict[str, Sentence] = {
    errors.NOT_ALLOWED: texts.NOT_YOURS,
    errors.NEEDS_STEP_UP: texts.NEEDS_FACTOR,
}
