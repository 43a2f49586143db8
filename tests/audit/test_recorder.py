"""What is written down about a call: facts lie open, words are sealed, and without a record nothing happens."""

import asyncio
import hashlib
import json
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from audit.log import AuditLog
from audit.places import AuditPlaces
from audit.reading import reading, records
from audit.recorder import MOST_CHARACTERS, LogRecorder
from audit.storage import StorageUnusable
from tests.audit.logs import event
from tests.audit.logs import rows as tampered
from workers.later import recording_later
from workers.policy_changes import PolicyChanges


def seal(text: str) -> str:
    return text[::-1]


@pytest.fixture
async def log(tmp_path: Path) -> AsyncIterator[AuditLog]:
    log = await AuditLog.open(AuditPlaces.below(tmp_path))
    yield log
    await log.close()


async def test_words_are_sealed_and_facts_lie_open(log: AuditLog) -> None:
    said = event().model_copy(update={"words": {"path": "papers/private.txt"}})

    await LogRecorder(log, seal).record(said)

    (record,) = await log.of_task("task-0")
    assert (record.data, json.loads(seal(record.words))) == ({"number": 0}, {"path": "papers/private.txt"})


@pytest.mark.parametrize("length", [10, 30_000, MOST_CHARACTERS + 1])
async def test_of_words_that_are_too_long_the_digest_is_kept(log: AuditLog, length: int) -> None:
    said = event().model_copy(update={"words": {"script": "x" * length}})

    await LogRecorder(log, seal).record(said)

    (record,) = await log.of_task("task-0")
    kept = json.loads(seal(record.words))
    whole = json.dumps(said.words, separators=(",", ":"))
    digest = hashlib.sha256(whole.encode()).hexdigest()
    assert kept == said.words if length < MOST_CHARACTERS else kept["sha256"] == digest


async def test_a_change_of_the_policy_is_written_down_from_any_thread(log: AuditLog, tmp_path: Path) -> None:
    async with recording_later(LogRecorder(log, seal)) as later:
        changes = PolicyChanges(later)
        await asyncio.to_thread(changes, "policy.changed", "v2", "")
        changes("policy.refused", "v2", "line 3: what is this")

    with reading(AuditPlaces.below(tmp_path).database) as connection:
        kept = [(each.kind, each.policy_version, seal(each.words)) for each in records(connection)]
    assert kept == [("policy.changed", "v2", ""), ("policy.refused", "v2", '{"problem":"line 3: what is this"}')]


async def test_a_log_that_takes_nothing_more_ends_the_writing_and_does_not_hang(tmp_path: Path) -> None:
    places = AuditPlaces.below(tmp_path / "other")
    log = await AuditLog.open(places)
    await log.append(event())
    tampered("DELETE FROM records")(places)

    async with recording_later(LogRecorder(log, seal)) as later:
        for _ in range(3):
            later(event())

    with pytest.raises(StorageUnusable):
        await LogRecorder(log, seal).record(event())
    await log.close()


async def test_a_damaged_record_is_said_to_be_damaged(log: AuditLog, tmp_path: Path) -> None:
    places = AuditPlaces.below(tmp_path)
    await log.append(event())
    tampered("UPDATE records SET body = 'x'")(places)

    with pytest.raises(StorageUnusable, match="asos audit verify"), reading(places.database) as connection:
        list(records(connection))
