"""`asos audit export`: one bundle of a task, sealed as it is stored, or in plain text for who may read it."""

import asyncio
import base64
import json
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import Any

from google.protobuf.json_format import MessageToDict
from google.protobuf.message import Message
from temporalio.api.common.v1 import Payload
from temporalio.client import Client
from temporalio.converter import PayloadCodec
from temporalio.service import RPCError, RPCStatusCode

from audit.bundle import Bundle, Manifest, new_bundle
from audit.chain import canonical
from audit.reading import reading, records
from audit.replay.page import page
from audit.signing import Signer
from contracts.activities import RunOutcome
from contracts.blobs import BlobMissing
from contracts.language import Language
from contracts.messages import Attachment
from contracts.queues import task_workflow_id
from contracts.sandbox import Artifact
from contracts.values import JsonObject
from gateway.archive import Archive, kept_files
from gateway.histories import events_of, run_ids
from runtime.codec import PayloadUnreadable

EVENTS_AT_ONCE = 100


class Export:
    """Of one task; `artifacts` are what its sandbox holds, or why that is not known."""

    def __init__(self, archive: Archive, client: Client, task_id: str, language: Language) -> None:
        self._archive = archive
        self._client = client
        self._task_id = task_id
        self._language = language

    async def write(self, path: Path, artifacts: list[Artifact] | str, *, plain: bool) -> Manifest:
        """Raises: OSError, RPCError, StorageUnusable, KeyUnusable, HeadBroken, PayloadUnreadable."""
        places = self._archive.places
        signer = await asyncio.to_thread(Signer.load, places.private_key)
        with new_bundle(path) as bundle:
            count = await asyncio.to_thread(bundle.add_audit, places, signer, self._task_id)
            await self._add_histories(bundle, plain)
            await self._add_results(bundle, plain)
            bundle.add("artifacts.json", [_json(self._artifacts(artifacts, plain))])
            if plain:
                await asyncio.to_thread(self._add_words, bundle)
                recording = await self._archive.recording(self._client, self._task_id)
                html = await asyncio.to_thread(page, recording, self._language)
                bundle.add("replay.html", [html.encode("utf-8", "replace")])
            return await asyncio.to_thread(bundle.seal, signer, self._task_id, plain=plain, records=count)

    async def _add_histories(self, bundle: Bundle, plain: bool) -> None:
        workflow_id = task_workflow_id(self._task_id)
        try:
            runs = await run_ids(self._client, workflow_id)
        except RPCError as error:
            if error.status is not RPCStatusCode.NOT_FOUND:
                raise
            runs = []  # older than what Temporal keeps
        for number, run_id in enumerate(runs, 1):
            with bundle.member(f"history/{number:03}.json", run_id) as write:
                await asyncio.to_thread(write, b'{"events":[\n')
                events = events_of(self._client, workflow_id, run_id)
                await _joined(events, self._archive.codec if plain else None, write)
                await asyncio.to_thread(write, b"\n]}\n")

    async def _add_results(self, bundle: Bundle, plain: bool) -> None:
        """Results and their files; in a sealed bundle as they are stored, with their digests beside them."""
        _, outcomes = await self._archive.outcomes(self._client, self._task_id)
        listed: list[JsonObject] = []
        added: set[str] = set()
        for outcome in outcomes:
            listed.append(await self._result(bundle, outcome, added, plain))
        bundle.add("results.json", [_json({"results": list(listed)})])

    async def _result(self, bundle: Bundle, outcome: RunOutcome, added: set[str], plain: bool) -> JsonObject:
        facts: JsonObject = {"call_id": outcome.turn.call_id, "tool": outcome.turn.tool, "ok": outcome.turn.ok}
        result = await self._archive.result(outcome)
        if result is None or outcome.turn.result_ref is None:
            return facts | {"lost": True}
        ref = outcome.turn.result_ref
        whole = Attachment(name=f"{outcome.turn.call_id}.json", size=ref.size, blob=ref)
        kept = [await self._file(bundle, file, added, plain) for file in (whole, *kept_files(result))]
        return facts | {"result": kept[0], "files": list(kept[1:])}

    async def _file(self, bundle: Bundle, file: Attachment, added: set[str], plain: bool) -> JsonObject:
        if file.blob is None:
            return {"size": file.size}
        facts: JsonObject = {"sha256": file.blob.sha256, "size": file.size, "media_type": file.media_type}
        name = f"files/{file.blob.sha256}" if plain else f"files/{file.blob.sha256}.sealed"
        if name not in added:
            blobs = self._archive.blobs
            try:
                content = await (blobs.get(file.blob) if plain else blobs.sealed(file.blob))
            except BlobMissing:
                return facts | {"lost": True}
            await asyncio.to_thread(bundle.add, name, [content], file.name if plain else "")
            added.add(name)
        return facts | {"member": name} | ({"name": file.name, "caption": file.caption} if plain else {})

    def _artifacts(self, artifacts: list[Artifact] | str, plain: bool) -> JsonObject:
        if isinstance(artifacts, str):
            return {"artifacts": None, "why": artifacts}
        listed: list[JsonObject] = [each.model_dump(mode="json") for each in artifacts]
        if not plain:
            listed = [{"sha256": each.sha256, "size": each.size} for each in artifacts]
        return {"artifacts": list(listed)}

    def _add_words(self, bundle: Bundle) -> None:
        with reading(self._archive.places.database) as connection, bundle.member("audit/words.jsonl") as write:
            for record in records(connection, task_id=self._task_id):
                words = self._archive.opened(record)
                write(_json({"sequence": record.sequence, "words": words}))


async def _joined(events: AsyncIterator[Message], codec: PayloadCodec | None, write: Callable[[bytes], None]) -> None:
    """A JSON list's inside, some events at a time."""
    waiting: list[bytes] = []
    first = True
    async for event in events:
        shown = MessageToDict(event)
        if codec is not None:
            shown = await _readable(shown, codec)
        waiting.append(canonical(shown).encode("utf-8", "replace"))
        if len(waiting) == EVENTS_AT_ONCE:
            await asyncio.to_thread(write, (b"" if first else b",\n") + b",\n".join(waiting))
            waiting, first = [], False
    if waiting:
        await asyncio.to_thread(write, (b"" if first else b",\n") + b",\n".join(waiting))


async def _readable(value: Any, codec: PayloadCodec) -> Any:  # JSON of a protocol that is not ours
    """With every payload decoded, and what is JSON in it as it is."""
    if isinstance(value, list):
        return [await _readable(each, codec) for each in value]
    if not isinstance(value, dict):
        return value
    if "metadata" in value and "encoding" in value["metadata"]:
        metadata = {name: base64.b64decode(content) for name, content in value["metadata"].items()}
        sealed = Payload(metadata=metadata, data=base64.b64decode(value.get("data", "")))
        return await _content(sealed, codec)
    return {name: await _readable(each, codec) for name, each in value.items()}


async def _content(sealed: Payload, codec: PayloadCodec) -> Any:  # what a workflow was given
    try:
        payload = (await codec.decode([sealed]))[0]
    except PayloadUnreadable as error:
        return {"unreadable": str(error)}
    try:
        return json.loads(payload.data) if payload.data else None
    except ValueError:
        return {"base64": base64.b64encode(payload.data).decode()}


def _json(value: JsonObject) -> bytes:
    return canonical(value).encode() + b"\n"
