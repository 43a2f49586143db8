"""From a command line to a message: the text, the attached files, the hosts that the owner opens for it."""

import asyncio
import mimetypes
import re
import secrets
import shutil
from datetime import UTC, datetime
from ipaddress import ip_address
from pathlib import Path

from contracts.conversation import Delivered
from contracts.language import language_of
from contracts.messages import (
    INLINE_TEXT_BYTES,
    MAX_TEXT_BYTES,
    Address,
    Attachment,
    Chat,
    Content,
    HostGrant,
    Message,
    Sender,
)
from contracts.task import Limits
from contracts.texts import cli as texts
from gateway.cli.office import FAILED, USAGE, Complaint, Office
from gateway.wording import clean

LEAST_FREE_BYTES = 8 * 1024 * 1024
"""With less than this, what is accepted could not be written down."""

MAX_FILE_BYTES = 20 * 1024 * 1024
"""The same as a chat takes."""

_HOST = re.compile(r"(?P<host>[A-Za-z0-9*.-]+)(:(?P<port>\d{1,5}))?(=(?P<address>[0-9A-Fa-f.:\[\]]+:\d{1,5}))?")


async def request(
    office: Office, text: str, *, files: tuple[Path, ...] = (), hosts: tuple[HostGrant, ...] = (), chat_id: str = ""
) -> Delivered:
    """One message from the owner's terminal. Raises: Complaint if it is empty or too long, or the disk is full."""
    words = clean(text).strip()
    attachments = tuple([await _attachment(office, path) for path in files])
    if not words and not attachments:
        raise Complaint(texts.EMPTY.say(office.language), USAGE)
    await _require_room(office)
    message = Message(
        message_id=f"{datetime.now(UTC):%Y%m%d%H%M%S}-{secrets.token_hex(8)}",
        platform="console",
        channel=Chat(type="dm", id=chat_id or office.user),
        sender=Sender(id=office.user, name=office.user),
        content=await _content(office, words, attachments),
        timestamp=datetime.now(UTC),
        language=language_of(words),
        grants=hosts,
    )
    return Delivered(
        message=message,
        address=Address(channel="console", chat_id=message.channel.id),
        limits=Limits(budget_usd=office.settings.task_budget_usd),
        pushes=False,
    )


async def _require_room(office: Office) -> None:
    folder = office.settings.data_dir
    free = (await asyncio.to_thread(shutil.disk_usage, folder)).free
    if free < LEAST_FREE_BYTES:
        sentence = texts.DISK_FULL.say(office.language, folder=folder, free=free // (1024 * 1024))
        raise Complaint(sentence, FAILED)


async def _content(office: Office, words: str, attachments: tuple[Attachment, ...]) -> Content:
    encoded = words.encode()
    kind = "file" if attachments else "text"
    if len(encoded) > MAX_TEXT_BYTES:
        raise Complaint(texts.TOO_LONG.say(office.language, size=len(encoded), limit=MAX_TEXT_BYTES), USAGE)
    if len(encoded) <= INLINE_TEXT_BYTES:
        return Content.model_validate({"type": kind, "text": words, "attachments": attachments})
    ref = await office.blobs.put(encoded)
    beginning = encoded[: INLINE_TEXT_BYTES // 8].decode(errors="ignore")
    return Content.model_validate({"type": kind, "text": beginning, "text_ref": ref, "attachments": attachments})


async def _attachment(office: Office, path: Path) -> Attachment:
    if not await asyncio.to_thread(path.is_file):
        raise Complaint(texts.NO_FILE.say(office.language, path=path), USAGE)
    size = (await asyncio.to_thread(path.stat)).st_size
    if size > MAX_FILE_BYTES:
        sentence = texts.FILE_TOO_LARGE.say(office.language, name=path, size=size, limit=MAX_FILE_BYTES)
        raise Complaint(sentence, USAGE)
    blob = await office.blobs.put(await asyncio.to_thread(path.read_bytes))
    media_type = mimetypes.guess_type(path.name)[0] or "application/octet-stream"
    return Attachment(name=path.name, media_type=media_type, size=size, blob=blob)


def host_grant(text: str, office: Office) -> HostGrant:
    """`NAME`, `NAME:PORT` or `NAME:PORT=ADDRESS:PORT`. Raises: Complaint."""
    match = _HOST.fullmatch(text.strip())
    if match is None:
        raise Complaint(texts.BAD_HOST.say(office.language, text=text), USAGE)
    try:
        if match["address"]:
            address, _, port = match["address"].rpartition(":")
            ip_address(address.strip("[]"))
            HostGrant(host=match["host"], port=int(port))
        return HostGrant(host=match["host"].lower(), port=int(match["port"] or 443), address=match["address"])
    except ValueError as error:
        raise Complaint(texts.BAD_HOST.say(office.language, text=text), USAGE) from error
