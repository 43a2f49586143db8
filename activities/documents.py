"""Turn a fetched document into text, by what it says it is and by what it begins with."""

import json
from dataclasses import dataclass
from email.message import Message

from activities.extraction import readable
from activities.output import cleaned, plain, whole
from contracts.sandbox import Captured, Command, FileRefused, Sandbox

_PDF_SECONDS = 60.0
_MISSING = 127
_TEXT_TYPES = frozenset(
    {
        "application/javascript",
        "application/rss+xml",
        "application/x-ndjson",
        "application/x-yaml",
        "application/xml",
        "application/yaml",
        "application/toml",
        "image/svg+xml",
    }
)


class NotText(Exception):
    """Raised when a document holds no text that could be read."""


class PdfUnreadable(Exception):
    """Raised when a PDF document does not turn into text; `tool_missing` if the sandbox has nothing to do it with."""

    def __init__(self, detail: str, *, tool_missing: bool = False) -> None:
        super().__init__(detail)
        self.tool_missing = tool_missing


@dataclass(frozen=True)
class Document:
    """Readable words."""

    title: str
    text: str


def media_type_of(content_type: str, body: bytes) -> str:
    """The declared type; for a missing or meaningless one, what the first bytes show."""
    declared = content_type.partition(";")[0].strip().lower()
    if body.startswith(b"%PDF-"):
        return "application/pdf"
    if declared not in ("", "application/octet-stream", "binary/octet-stream"):
        return declared
    start = body[:1024].lstrip().lower()
    if start.startswith((b"<!doctype html", b"<html")):
        return "text/html"
    return "text/plain" if _is_utf8(body) else "application/octet-stream"


async def document(body: bytes, content_type: str, url: str, sandbox: Sandbox) -> Document:
    """Raises: NotText, PdfUnreadable, SandboxLost."""
    media_type = media_type_of(content_type, body)
    if media_type in ("text/html", "application/xhtml+xml"):
        return await _html(body, content_type, url)
    if media_type == "application/pdf":
        return Document("", await _pdf(body, sandbox))
    if media_type == "application/json" or media_type.endswith("+json"):
        return Document("", _json(_decoded(body, content_type)))
    if media_type.startswith("text/") or media_type in _TEXT_TYPES or media_type.endswith("+xml"):
        return Document("", cleaned(_decoded(body, content_type)))
    raise NotText(media_type)


async def _html(body: bytes, content_type: str, url: str) -> Document:
    # The header's charset comes before the page's own, as in browsers.
    charset = _charset(content_type)
    html = body.decode(charset, "replace").encode() if charset else body
    found = await readable(html, url)
    if found is None:
        raise NotText("text/html")
    return Document(cleaned(found.title), cleaned(found.text).strip())


async def _pdf(body: bytes, sandbox: Sandbox) -> str:
    command = Command(argv=("pdftotext", "-layout", "-q", "-", "-"), stdin=body, cwd="/", timeout_seconds=_PDF_SECONDS)
    outcome = await sandbox.run(command)
    if outcome.exit_code == _MISSING:
        raise PdfUnreadable("", tool_missing=True)
    text = plain(await _printed(outcome.stdout, sandbox)).strip()
    if outcome.exit_code != 0 or not text:
        raise PdfUnreadable(plain(outcome.stderr.head).strip()[:200] or "there is no text in it")
    return text


async def _printed(stdout: Captured, sandbox: Sandbox) -> bytes:
    try:
        return await whole(stdout, sandbox.files)
    except FileRefused as refused:
        raise PdfUnreadable(str(refused)) from refused


def _json(text: str) -> str:
    try:
        return cleaned(json.dumps(json.loads(text), indent=1, ensure_ascii=False))
    except (ValueError, RecursionError):
        return cleaned(text)


def _decoded(body: bytes, content_type: str) -> str:
    return body.decode(_charset(content_type) or "utf-8", "replace")


def _charset(content_type: str) -> str | None:
    header = Message()
    header["content-type"] = content_type
    charset = header.get_content_charset()
    try:
        return charset if charset and "".encode(charset) == b"" and b"".decode(charset) == "" else None
    except (LookupError, UnicodeError, TypeError):
        return None


def _is_utf8(body: bytes) -> bool:
    try:
        body.decode()
    except UnicodeDecodeError:
        return False
    return b"\x00" not in body
