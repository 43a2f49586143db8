"""The address book: sealed at rest, one person at a time, and only what was said or approved."""

import asyncio
import sqlite3
from collections.abc import Callable
from contextlib import closing
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from cryptography.exceptions import InvalidTag

from memory import contacts as module
from memory.contacts import Contacts, ContactsFull
from tests.memory.sealed import Sealed


def clock() -> Callable[[], datetime]:
    ticks = iter(range(10_000))
    return lambda: datetime(2026, 1, 1, tzinfo=UTC) + timedelta(seconds=next(ticks))


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "private" / "contacts.db"


@pytest.fixture
def contacts(path: Path) -> Contacts:
    return Contacts(path, Sealed(), clock())


async def test_a_contact_is_listed_for_whoever_added_it_and_nobody_else(contacts: Contacts) -> None:
    await contacts.of("a").add("Zoe", "zoe@example.com", task_id="t")
    await contacts.of("a").add("Anna Berg", "anna@example.com", task_id="t")

    mine, theirs = await contacts.of("a").listed(), await contacts.of("b").listed()

    assert [(each.name, each.address) for each in mine] == [
        ("Anna Berg", "anna@example.com"),
        ("Zoe", "zoe@example.com"),
    ]
    assert theirs == ()


async def test_the_same_contact_twice_is_one(contacts: Contacts) -> None:
    first = await contacts.of("a").add("Anna", "anna@example.com", task_id="t1")

    again = await contacts.of("a").add(" anna ", "anna@example.com", task_id="t2")

    assert again == first
    assert len(await contacts.of("a").listed()) == 1


async def test_a_person_who_is_removed_takes_the_approvals_of_their_address_along(contacts: Contacts) -> None:
    mine = contacts.of("a")
    await mine.add("Anna", "anna@example.com", task_id="t")
    await mine.approve([("recipient", "anna@example.com"), ("recipient", "tom@example.com")], task_id="t")

    removed = [await mine.remove("ANNA@example.com"), await mine.remove("nobody")]

    assert removed == [2, 0]
    assert await mine.listed() == ()
    assert [each.value for each in await mine.approved()] == ["tom@example.com"]


async def test_an_approved_destination_is_kept_once_and_the_oldest_go(
    contacts: Contacts, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "MOST_APPROVED", 3)
    mine = contacts.of("a")
    for value in ("1", "2", "3", "1", "4"):
        await mine.approve([("destination", value)], task_id="t")

    assert [each.value for each in await mine.approved()] == ["3", "1", "4"]
    assert await contacts.of("b").approved() == ()


async def test_a_full_book_says_so(contacts: Contacts, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "MOST_CONTACTS", 1)
    await contacts.of("a").add("Anna", "anna@example.com", task_id="t")

    with pytest.raises(ContactsFull, match="1 contacts"):
        await contacts.of("a").add("Tom", "tom@example.com", task_id="t")


async def test_the_mark_changes_with_the_book(contacts: Contacts) -> None:
    mine = contacts.of("a")
    empty = await mine.mark()
    await mine.add("Anna", "anna@example.com", task_id="t")
    one = await mine.mark()
    await mine.listed()

    assert len({empty, one}) == 2
    assert await mine.mark() == one


async def test_nothing_stands_in_the_file_that_can_be_read_or_moved_to_somebody_else(
    contacts: Contacts, path: Path
) -> None:
    await contacts.of("a").add("Anna Berg", "anna@example.com", task_id="t")
    with closing(sqlite3.connect(path)) as database, database:
        ((owner_of_a,),) = database.execute("SELECT owner FROM contacts")
        await contacts.of("b").add("Tom", "tom@example.com", task_id="t")
        database.execute("UPDATE contacts SET owner = ? WHERE owner != ?", (owner_of_a, owner_of_a))

    content, mode = await asyncio.to_thread(lambda: (path.read_bytes(), path.stat().st_mode))

    assert b"anna" not in content.lower()
    assert mode & 0o077 == 0
    with pytest.raises(InvalidTag):
        await contacts.of("a").listed()
