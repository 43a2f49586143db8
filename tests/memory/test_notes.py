"""Notes: sealed at rest, one person at a time, remembered once, and gone when forgotten."""

import sqlite3
from collections.abc import Callable
from contextlib import closing
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from cryptography.exceptions import InvalidTag

from memory.notes import Notes
from tests.memory.sealed import Sealed


def clock() -> Callable[[], datetime]:
    ticks = iter(range(10_000))
    return lambda: datetime(2026, 1, 1, tzinfo=UTC) + timedelta(seconds=next(ticks))


@pytest.fixture
def notes(tmp_path: Path) -> Notes:
    return Notes(tmp_path / "private" / "notes.sqlite", Sealed(), clock())


async def test_what_is_remembered_is_found_by_what_it_is_about(notes: Notes) -> None:
    mine = notes.of("telegram:1")
    for number, text in enumerate(
        ["My dog is called Rex", "The car is in garage 7", "我的生日是五月三日", "我喜欢喝绿茶"]
    ):
        await mine.remember(text, task_id="t", call_id=str(number))

    found = {
        question: [note.text for note in await mine.recall(question)]
        for question in ["dogs?", "我的生日", "绿茶", "yacht"]
    }

    assert found["dogs?"] == ["My dog is called Rex"]
    assert found["我的生日"][0] == "我的生日是五月三日"
    assert found["绿茶"] == ["我喜欢喝绿茶"]
    assert found["yacht"] == []


async def test_an_empty_question_gives_the_newest(notes: Notes) -> None:
    mine = notes.of("u")
    for number in range(7):
        await mine.remember(f"note {number}", task_id="t", call_id=str(number))

    assert [note.text for note in await mine.recall("", limit=2)] == ["note 6", "note 5"]


async def test_the_same_call_remembers_once(notes: Notes) -> None:
    mine = notes.of("u")

    first = await mine.remember("tea", task_id="t", call_id="1.0-a")
    again = await mine.remember("tea", task_id="t", call_id="1.0-a")

    assert first == again
    assert len(await mine.recall("")) == 1


async def test_one_persons_notes_are_neither_found_nor_removed_by_another(notes: Notes) -> None:
    note = await notes.of("a").remember("the safe code is 1234", task_id="t", call_id="1")

    assert await notes.of("b").recall("safe code") == ()
    assert await notes.of("b").recall("") == ()
    assert not await notes.of("b").forget(note.note_id)
    assert len(await notes.of("a").recall("safe")) == 1


async def test_two_people_may_use_the_same_call_id(notes: Notes) -> None:
    await notes.of("a").remember("from a", task_id="t", call_id="1")
    await notes.of("b").remember("from b", task_id="t", call_id="1")

    assert [note.text for note in await notes.of("b").recall("")] == ["from b"]


async def test_what_is_forgotten_is_gone_from_the_file_and_a_late_retry_does_not_bring_it_back(
    notes: Notes, tmp_path: Path
) -> None:
    mine = notes.of("u")
    note = await mine.remember("embarrassing", task_id="t", call_id="1")
    before = (tmp_path / "private" / "notes.sqlite").read_bytes()

    assert await mine.forget(note.note_id)
    assert not await mine.forget(note.note_id)
    await mine.remember("embarrassing", task_id="t", call_id="1")

    assert await mine.recall("") == ()
    assert len(before) == len((tmp_path / "private" / "notes.sqlite").read_bytes())


async def test_neither_text_nor_person_can_be_read_from_the_file_and_only_the_owner_may_open_it(
    notes: Notes, tmp_path: Path
) -> None:
    await notes.of("telegram:4711").remember("canary text", task_id="t", call_id="1")

    file = tmp_path / "private" / "notes.sqlite"
    content = file.read_bytes()
    assert b"canary" not in content
    assert b"4711" not in content
    assert file.stat().st_mode & 0o077 == 0


async def test_a_row_that_was_moved_to_another_person_does_not_open(notes: Notes, tmp_path: Path) -> None:
    await notes.of("a").remember("secret of a", task_id="t", call_id="1")
    await notes.of("b").remember("harmless", task_id="t", call_id="2")
    with closing(sqlite3.connect(tmp_path / "private" / "notes.sqlite")) as database, database:
        one, other = [row[0] for row in database.execute("SELECT DISTINCT owner FROM notes")]
        database.executemany("UPDATE notes SET owner = ? WHERE owner = ?", [("x", one), (one, other), (other, "x")])

    for person in ("a", "b"):
        with pytest.raises(InvalidTag):
            await notes.of(person).recall("")


async def test_a_tainted_note_stays_tainted(notes: Notes) -> None:
    await notes.of("u").remember("from a page", task_id="t", call_id="1", trusted=False)

    assert [note.trusted for note in await notes.of("u").recall("page")] == [False]
