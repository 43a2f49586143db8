"""Bounded and cleaned output."""

import time

import pytest

from activities.output import cleaned, plain, shorten, show
from tests.tools.conftest import MemoryBlobs


async def test_what_fits_is_shown_whole_and_kept_nowhere(blobs: MemoryBlobs) -> None:
    shown = await show(b"short\n", "out.txt", 1_000, blobs=blobs, language="en")

    assert (shown.text, shown.file) == ("short\n", None)
    assert blobs.stored == {}


async def test_what_does_not_fit_keeps_head_and_tail_and_says_how_much_is_gone(blobs: MemoryBlobs) -> None:
    content = "".join(f"line {number}\n" for number in range(10_000)).encode()

    shown = await show(content, "out.txt", 2_000, blobs=blobs, language="en")

    assert len(shown.text.encode()) <= 2_000
    assert shown.text.startswith("line 0\n")
    assert shown.text.endswith("line 9999\n")
    assert "bytes are left out here; the whole is the file out.txt" in shown.text
    assert shown.file is not None
    assert await blobs.content(shown.file) == content


@pytest.mark.parametrize("character", ["x", "灯", "😀"])
def test_a_line_without_end_is_cut_between_characters(character: str) -> None:
    text = shorten(character * 50_000, 3_001, "zh")

    assert len(text.encode()) <= 3_001
    assert "\ufffd" not in text


@pytest.mark.parametrize(
    ("raw", "expected"),
    [
        (b"\x1b[1;31mred\x1b[0m", "red"),
        (b"\x1b]8;;http://evil.test\x1b\\link\x1b]8;;\x1b\\", "link"),
        (b"\x1b]0;never ended and the rest stays", "0;never ended and the rest stays"),
        (b"\x1bPq#0\x1b\\after", "after"),
        (b"a\x00b\x08c\x7f", "abc"),
        (b"50%\r100%\r\n", "50%\n100%\n"),
        (b"\xc3\x28", "\ufffd("),
        ("\x9b31mred".encode(), "red"),
        (b"tab\tstays", "tab\tstays"),
    ],
)
def test_nothing_can_steer_a_terminal(raw: bytes, expected: str) -> None:
    assert plain(raw) == expected


def test_a_hostile_flood_of_escapes_is_cleaned_in_time() -> None:
    started = time.monotonic()

    cleaned("\x1b]" * 200_000 + "\x1bP" * 200_000 + "\x1b[" * 200_000)

    assert time.monotonic() - started < 5
