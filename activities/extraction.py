"""The readable part of a web page, taken out in a child process."""

import asyncio
import sys
from dataclasses import dataclass
from pathlib import Path

from pydantic import ValidationError

from contracts.values import Value

LONGEST_HTML_BYTES = 8 * 1024 * 1024
TIMEOUT_SECONDS = 20.0


@dataclass(frozen=True)
class Readable:
    """Title and main text of a page; either may be empty."""

    title: str
    text: str


class _Printed(Value):
    title: str
    text: str


async def readable(html: bytes, url: str) -> Readable | None:
    """None if the page is too large, too slow to parse or not HTML at all."""
    if len(html) > LONGEST_HTML_BYTES:
        return None
    printed = await _extracted(html, url)
    try:
        found = _Printed.model_validate_json(printed)
    except ValidationError:
        return None
    return Readable(title=found.title, text=found.text)


async def _extracted(html: bytes, url: str) -> bytes:
    script = str(Path(__file__).with_name("extractor.py"))
    child = await asyncio.create_subprocess_exec(
        sys.executable,
        "-I",
        script,
        url,
        env={"PYTHONUTF8": "1"},
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.DEVNULL,
    )
    try:
        async with asyncio.timeout(TIMEOUT_SECONDS):
            printed, _ = await child.communicate(html)
            return printed
    except TimeoutError:
        return b""
    finally:
        if child.returncode is None:
            child.kill()
            await child.wait()
