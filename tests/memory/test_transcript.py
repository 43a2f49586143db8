"""Transcripts: equal content has equal names, and reading again costs nothing."""

from datetime import UTC, datetime

import pytest

from contracts.blobs import BlobMissing, BlobRef
from contracts.transcript import NoteTurn, UserTurn
from memory.recent import Recent
from memory.transcript import Transcript
from tests.planner.stores import MemoryBlobs

NOON = datetime(2026, 1, 1, 12, tzinfo=UTC)


def words(text: str) -> UserTurn:
    return UserTurn(text=text, at=NOON)


async def test_turns_come_back_in_the_order_in_which_they_were_added() -> None:
    transcript = Transcript(MemoryBlobs())

    first = await transcript.append(None, [words("one"), NoteTurn(code="n", text="two")])
    second = await transcript.append(first, [words("three")])

    assert [turn.text for turn in await transcript.read(second) if isinstance(turn, UserTurn | NoteTurn)] == [
        "one",
        "two",
        "three",
    ]
    assert await transcript.read(None) == ()


async def test_the_same_turns_after_the_same_page_have_the_same_name() -> None:
    one, other = Transcript(MemoryBlobs()), Transcript(MemoryBlobs())

    refs = [
        await transcript.append(await transcript.append(None, [words("a")]), [words("b")])
        for transcript in (one, other)
    ]

    assert refs[0] == refs[1]


async def test_adding_nothing_makes_no_page() -> None:
    blobs = MemoryBlobs()
    transcript = Transcript(blobs)
    ref = await transcript.append(None, [words("a")])

    assert await transcript.append(ref, []) == ref
    assert blobs.puts == 1


async def test_a_hundred_steps_read_each_page_once_and_store_only_what_is_new() -> None:
    blobs = MemoryBlobs()
    writer, reader = Transcript(blobs), Transcript(blobs)
    ref: BlobRef | None = None
    for step in range(100):
        ref = await writer.append(ref, [words("x" * 2_000 + str(step))])
        assert len(await reader.read(ref)) == step + 1

    assert blobs.gets == 100
    assert sum(map(len, blobs.content.values())) < 100 * 2_600


async def test_a_page_that_is_gone_is_an_error_and_not_a_shorter_past() -> None:
    blobs = MemoryBlobs()
    first = await Transcript(blobs).append(None, [words("a")])
    second = await Transcript(blobs).append(first, [words("b")])
    del blobs.content[first.sha256]

    with pytest.raises(BlobMissing):
        await Transcript(blobs).read(second)


def test_what_is_kept_stays_within_its_size() -> None:
    recent: Recent[str] = Recent(10)
    refs = [BlobRef(sha256=f"{number:064d}", size=4) for number in range(3)]
    for ref in refs[:2]:
        recent.keep(ref, ref.sha256)
    recent.get(refs[0])

    recent.keep(refs[2], "new")
    recent.keep(BlobRef(sha256="f" * 64, size=11), "too large")

    assert [recent.get(ref) is not None for ref in refs] == [True, False, True]
