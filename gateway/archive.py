"""Gathers what there is of a task: its audit lines, and what its history and its stored results say."""

import asyncio
import json

from pydantic import ValidationError
from temporalio.client import Client
from temporalio.service import RPCError, RPCStatusCode

from audit.chain import Record
from audit.reading import reading, records
from audit.replay.recorded import Given, Line, Picture, Recording
from contracts.activities import RunOutcome
from contracts.blobs import BlobDamaged, BlobMissing, BlobRef
from contracts.messages import Attachment
from contracts.queues import task_workflow_id
from contracts.task import TaskInput
from contracts.tools import ToolResult
from contracts.values import JsonObject
from gateway.histories import told
from gateway.recording import audit_places
from runtime.blobs import FileBlobs
from runtime.codec import EncryptionCodec
from runtime.confidential import Confidential
from runtime.keys import Keyring, SealBroken, UnknownKey
from runtime.paths import DataPaths
from runtime.settings import Settings

MOST_LINES = 20_000
"""The page shows no more; `asos audit list` does."""

MOST_PICTURE_BYTES = 24 * 1_048_576
"""Of all pictures in one recording."""

PICTURES = frozenset({"image/png", "image/jpeg", "image/webp"})
"""What a browser shows without running anything in it."""


class Archive:
    """One installation's past. It needs Temporal only for what calls gave."""

    def __init__(self, settings: Settings, keyring: Keyring) -> None:
        self.places = audit_places(settings)
        self.blobs = FileBlobs(DataPaths(settings.data_dir).blobs, keyring)
        self.codec = EncryptionCodec(keyring)
        self._words = Confidential(keyring, lambda text: text)

    async def recording(self, client: Client, task_id: str) -> Recording:
        """Raises: StorageUnusable, RPCError."""
        lines = await asyncio.to_thread(self.lines, task_id)
        goal, outcomes = await self.outcomes(client, task_id)
        given: dict[str, Given] = {}
        room = MOST_PICTURE_BYTES
        for outcome in outcomes:
            found = await self._given(outcome, room)
            if found is not None:
                given[outcome.turn.call_id] = found
                room -= sum(len(picture.content) for picture in found.pictures)
        return Recording(task_id, goal, lines, given)

    def lines(self, task_id: str) -> tuple[Line, ...]:
        """Call it off the event loop. Raises: StorageUnusable."""
        with reading(self.places.database) as connection:
            found = records(connection, task_id=task_id)
            return tuple(self._line(record) for record, _ in zip(found, range(MOST_LINES), strict=False))

    def opened(self, record: Record) -> JsonObject | None:
        """The words of a record; None if they do not open with this keyring."""
        if not record.words:
            return {}
        try:
            words: JsonObject = json.loads(self._words.unseal(record.words))
        except (UnknownKey, SealBroken, ValueError):
            return None
        return words

    async def outcomes(self, client: Client, task_id: str) -> tuple[str, list[RunOutcome]]:
        """The goal, and what each call gave; nothing of a history that is no longer kept. Raises: RPCError."""
        goal, outcomes = "", []
        try:
            async for said in told(client, self.codec, task_workflow_id(task_id)):
                if isinstance(said, TaskInput):
                    goal = said.goal
                else:
                    outcomes.append(said)
        except RPCError as error:
            if error.status is not RPCStatusCode.NOT_FOUND:
                raise
        return goal, outcomes

    async def result(self, outcome: RunOutcome) -> ToolResult | None:
        """The whole of it; None if it is lost."""
        content = await self._content(outcome.turn.result_ref)
        try:
            return None if content is None else ToolResult.model_validate_json(content)
        except ValidationError:
            return None

    async def _given(self, outcome: RunOutcome, room: int) -> Given | None:
        result = await self.result(outcome)
        if result is None:
            return None
        wanted = [file for file in result.files if file.media_type in PICTURES]
        pictures: list[Picture] = []
        for file in wanted:
            content = await self._content(file.blob) if file.size <= room else None
            if content is not None:
                room -= len(content)
                pictures.append(Picture(file.name, file.media_type, content))
        return Given(result, tuple(pictures), len(wanted) - len(pictures))

    async def _content(self, ref: BlobRef | None) -> bytes | None:
        try:
            return None if ref is None else await self.blobs.get(ref)
        except (BlobMissing, BlobDamaged):
            return None

    def _line(self, record: Record) -> Line:
        return Line(
            record.sequence,
            record.at,
            record.kind,
            record.actor,
            record.call_id,
            record.data,
            self.opened(record),
            record.policy_version,
        )


def kept_files(result: ToolResult) -> list[Attachment]:
    """Every file of a result that is stored."""
    return [file for file in (*result.files, *result.send) if file.blob is not None]
