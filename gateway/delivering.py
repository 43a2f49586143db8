"""The activity `deliver`: brings a task's messages in line with its status, whatever happened before."""

import asyncio
import logging
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from datetime import UTC, datetime, timedelta
from weakref import WeakValueDictionary

from temporalio import activity
from temporalio.exceptions import ApplicationError

from contracts.activities import Delivering
from contracts.blobs import BlobDamaged, BlobMissing, Blobs
from contracts.delivery import DeliverOutcome, DeliverRequest, Notice
from contracts.messages import Attachment
from contracts.task import TaskStatus
from contracts.texts import gateway as texts
from gateway.answer import final_pages
from gateway.card import SentenceFor
from gateway.channel import ChannelBusy, ChatGone, FilePage, Page, PageRefused
from gateway.outbox import Outbox
from gateway.rich import clip, plain
from gateway.speaking import Speaker
from gateway.view import GOAL_CHARACTERS, progress_page

FIRST_FILE_SLOT = 100
ANSWER_FILE_SLOT = 99
HEARTBEAT_SECONDS = 2.0
MEGABYTE = 1_048_576
REMIND_AFTER = timedelta(seconds=30)
"""A person who answers within it was not away."""

_log = logging.getLogger(__name__)


class Deliveries(Delivering):
    """One delivery of a task at a time; an older status never follows a newer one."""

    def __init__(
        self,
        speakers: Mapping[str, Speaker],
        outbox: Outbox,
        blobs: Blobs,
        sentence_for: SentenceFor,
        clock: Callable[[], datetime] = lambda: datetime.now(UTC),
    ) -> None:
        self._speakers = speakers
        self._outbox = outbox
        self._blobs = blobs
        self._sentence_for = sentence_for
        self._clock = clock
        self._turns: WeakValueDictionary[str, asyncio.Lock] = WeakValueDictionary()

    @activity.defn(name="deliver")
    async def deliver(self, request: DeliverRequest) -> DeliverOutcome:
        async with _beating():
            return await self.bring(request, activity.info().workflow_run_id or "")

    async def bring(self, request: DeliverRequest, run_id: str) -> DeliverOutcome:
        """The activity without its surroundings."""
        speaker = self._speakers.get(request.address.channel)
        if speaker is None:
            return DeliverOutcome(delivered=False, refused=f"no channel {request.address.channel!r} is running here")
        if not speaker.channel.capabilities.pushes:
            return DeliverOutcome(delivered=True)
        turn = self._turns.setdefault(request.status.record.task_id, asyncio.Lock())
        async with turn:
            return await self._bring(speaker, request, run_id)

    async def _bring(self, speaker: Speaker, request: DeliverRequest, run_id: str) -> DeliverOutcome:
        owner = await self._outbox.admit(request, run_id)
        if owner is None:
            return DeliverOutcome(delivered=False)
        task_id = request.status.record.task_id
        try:
            if request.final:
                message_id = await self._show_end(speaker, request, owner)
                await self._outbox.finish(task_id)
            else:
                page = progress_page(
                    request.status, self._clock(), self._sentence_for, speaker.channel.capabilities.max_text
                )
                message_id = await speaker.show(request.address, owner, 0, page)
                await self._remind(speaker, request)
        except ChatGone as gone:
            _log.warning("task %s cannot be shown: %s", task_id, gone)
            await self._outbox.finish(task_id)
            return DeliverOutcome(delivered=False, refused=str(gone))
        except ChannelBusy as busy:
            raise _later(busy) from busy
        except PageRefused as refused:
            raise ApplicationError(str(refused), type="PageRefused", non_retryable=True) from refused
        return DeliverOutcome(delivered=True, message_id=message_id)

    async def _remind(self, speaker: Speaker, request: DeliverRequest) -> None:
        """Ring once for a wait that has gone on for REMIND_AFTER, and then once a day: an edit rings no bell."""
        status = request.status
        waits_for = status.approval.approval_id if status.approval else status.asked.question_id if status.asked else ""
        since = status.approval.asked_at if status.approval else status.asked.asked_at if status.asked else None
        if since is None or self._clock() - since < REMIND_AFTER:
            return
        days = (self._clock() - since).days
        sentence = texts.REMIND_APPROVAL if status.approval else texts.REMIND_QUESTION
        text = sentence.say(status.language, goal=clip(status.goal, GOAL_CHARACTERS), short=waits_for)
        key = f"remind/{status.record.task_id}/{waits_for}/{days}"
        await speaker.notify(Notice(address=request.address, text=text, key=key))

    async def _show_end(self, speaker: Speaker, request: DeliverRequest, owner: str) -> str:
        status, limit = request.status, speaker.channel.capabilities.max_text
        answer, remarks = await self._answer(status)
        files, unsent = await self._files(status, speaker.channel.capabilities.max_file_bytes)
        final = final_pages(status, answer, limit, (*remarks, *unsent))
        first = ""
        for index, page in enumerate(final.pages):
            message_id = await speaker.show(request.address, owner, index, page)
            first = first or message_id
        if final.file is not None:
            await speaker.show(request.address, owner, ANSWER_FILE_SLOT, final.file)
        for index, file in enumerate(files):
            await self._show_file(speaker, request, owner, FIRST_FILE_SLOT + index, file)
        return first

    async def _show_file(
        self, speaker: Speaker, request: DeliverRequest, owner: str, slot: int, file: FilePage
    ) -> None:
        """A picture that the platform cannot show goes as a document; a file that it refuses is named."""
        try:
            await speaker.show(request.address, owner, slot, file)
        except PageRefused as refused:
            _log.warning("%s was refused: %s", file.name, refused)
            if file.media_type.startswith("image/"):
                document = FilePage(file.name, "application/octet-stream", file.content, file.caption)
                await self._show_file(speaker, request, owner, slot, document)
            else:
                text = texts.FILE_REFUSED.say(request.status.language, name=file.name, reason=str(refused))
                await speaker.show(request.address, owner, slot, Page((plain(text),)))

    async def _answer(self, status: TaskStatus) -> tuple[str, tuple[str, ...]]:
        if status.answer_ref is None:
            return status.answer, ()
        try:
            return (await self._blobs.get(status.answer_ref)).decode("utf-8", "replace"), ()
        except (BlobMissing, BlobDamaged) as error:
            _log.error("answer of task %s: %s", status.record.task_id, error)
            return status.answer, (texts.ANSWER_INCOMPLETE.say(status.language),)

    async def _files(self, status: TaskStatus, limit: int) -> tuple[list[FilePage], list[str]]:
        files: list[FilePage] = []
        remarks: list[str] = []
        for attachment in status.files:
            if attachment.size > limit:
                remarks.append(_too_large(attachment, status, limit))
            elif attachment.blob is None or attachment.size == 0:
                remarks.append(texts.FILE_GONE.say(status.language, name=attachment.name))
            else:
                try:
                    content = await self._blobs.get(attachment.blob)
                except (BlobMissing, BlobDamaged) as error:
                    _log.error("file %s of task %s: %s", attachment.name, status.record.task_id, error)
                    remarks.append(texts.FILE_GONE.say(status.language, name=attachment.name))
                    continue
                files.append(FilePage(attachment.name, attachment.media_type, content, attachment.caption))
        return files, remarks


def _too_large(attachment: Attachment, status: TaskStatus, limit: int) -> str:
    return texts.FILE_NOT_SENT.say(
        status.language,
        name=attachment.name,
        size=f"{attachment.size / MEGABYTE:.0f}",
        limit=limit // MEGABYTE,
        task=status.record.task_id,
    )


def _later(busy: ChannelBusy) -> ApplicationError:
    delay = timedelta(seconds=busy.retry_after_seconds)
    return ApplicationError(str(busy), type="ChannelBusy", next_retry_delay=delay)


@asynccontextmanager
async def _beating() -> AsyncIterator[None]:
    """Tells Temporal that the activity lives, also while it waits for its turn to speak."""

    async def beat() -> None:
        while True:
            activity.heartbeat()
            await asyncio.sleep(HEARTBEAT_SECONDS)

    task = asyncio.create_task(beat())
    try:
        yield
    finally:
        task.cancel()
