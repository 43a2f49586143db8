"""Everything that an installation keeps or has said, opened as far as its own keys open it, to search in."""

import asyncio
import json
import re
import sqlite3
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from google.protobuf.message import Message
from temporalio.api.common.v1 import Payload
from temporalio.api.history.v1 import History
from temporalio.client import WorkflowHistory

from contracts.blobs import BlobRef
from runtime.blobs import FileBlobs
from runtime.codec import EncryptionCodec
from runtime.keys import Keyring
from runtime.paths import DataPaths

_REFERENCE = re.compile(rb'\\?"sha256\\?":\s?\\?"([0-9a-f]{64})\\?",\s?\\?"size\\?":\s?(\d+)')
"""A BlobRef in JSON, which may itself stand in a string of JSON."""


@dataclass(frozen=True)
class Place:
    """Somewhere a secret could be."""

    name: str
    content: bytes


def holding(places: list[Place], wanted: str) -> set[str]:
    """Names of the places where this stands."""
    return {place.name for place in places if wanted.encode() in place.content}


def raw_files(folder: Path) -> Iterator[Place]:
    """The data folder as a thief finds it."""
    for path in sorted(path for path in folder.rglob("*") if path.is_file()):
        yield Place(f"raw {path.relative_to(folder).parts[0]}", path.read_bytes())


def databases(paths: DataPaths) -> Iterator[Place]:
    """Every row as text: in the raw file, a long value lies in pieces."""
    for path in (paths.audit_log, paths.ledger, paths.gateway_database):
        connection = sqlite3.connect(f"file:{path}?mode=ro", uri=True)
        try:
            dumped = "\n".join(connection.iterdump())
        finally:
            connection.close()
        yield Place(path.name, dumped.encode("utf-8", "replace"))


def history_payloads(paths: DataPaths, exported: Path) -> list[bytes]:
    """Every payload of an exported history, all its runs, decoded; those in failures, too."""
    runs = json.loads(exported.read_text())["runs"]
    histories = [WorkflowHistory.from_json(run["workflow_id"], run["history"]) for run in runs]
    sealed = [payload for history in histories for payload in _payloads(History(events=history.events))]
    codec = EncryptionCodec(Keyring.load(paths.root))
    return [payload.data for payload in asyncio.run(codec.decode(sealed))]


def opened_blobs(paths: DataPaths, known: list[bytes]) -> list[bytes]:
    """The content of every blob that `known` texts, or a blob that they name, refer to."""
    return asyncio.run(_opened(FileBlobs(paths.blobs, Keyring.load(paths.root)), known))


async def _opened(blobs: FileBlobs, known: list[bytes]) -> list[bytes]:
    opened: dict[BlobRef, bytes] = {}
    unread = list(known)
    while unread:
        for ref in _references(unread.pop()):
            if ref not in opened:
                opened[ref] = await blobs.get(ref)
                unread.append(opened[ref])
    return list(opened.values())


def _payloads(message: Message) -> Iterator[Payload]:
    if isinstance(message, Payload):
        yield message
        return
    for field, value in message.ListFields():
        if field.message_type is None:
            continue
        is_map = field.message_type.GetOptions().map_entry
        inner = value.values() if is_map else [value] if isinstance(value, Message) else value
        for each in inner:
            if isinstance(each, Message):
                yield from _payloads(each)


def _references(text: bytes) -> Iterator[BlobRef]:
    for found in _REFERENCE.finditer(text):
        yield BlobRef(sha256=found[1].decode(), size=int(found[2]))
