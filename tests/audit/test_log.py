"""Whatever is done to the log is noticed and named, and a log that does not fit its head takes nothing more."""

import asyncio
import json
import os
import shutil
import signal
import sqlite3
import stat
import sys
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from audit.chain import FIRST_PREVIOUS, HEAD_BYTES
from audit.log import AuditLog
from audit.places import AuditPlaces
from audit.signing import Signer
from audit.storage import StorageUnusable
from audit.verifying import Broken, Intact, verified
from contracts.values import JsonObject
from tests.audit.logs import Tamper, copied, event, fill, filled, rechained, rows


@pytest.fixture
def places(tmp_path: Path) -> AuditPlaces:
    return AuditPlaces.below(tmp_path)


@pytest.fixture
async def log(places: AuditPlaces) -> AsyncIterator[AuditLog]:
    log = await AuditLog.open(places)
    yield log
    await log.close()


async def test_an_empty_log_is_whole(log: AuditLog, places: AuditPlaces) -> None:
    fingerprint = Signer.load(places.private_key).public.fingerprint

    assert await log.verify(fingerprint) == Intact(records=0, head=FIRST_PREVIOUS, fingerprint=fingerprint)


async def test_records_are_found_by_task_in_their_order(log: AuditLog) -> None:
    await fill(log)

    assert [record.data["number"] for record in await log.of_task("task-0")] == [0, 2, 4]
    assert isinstance(await log.verify(), Intact)


async def test_the_private_key_is_a_file_of_its_own_that_only_its_owner_reads(
    log: AuditLog, places: AuditPlaces
) -> None:
    assert stat.S_IMODE(places.private_key.stat().st_mode) == 0o600
    assert b"PRIVATE" not in places.database.read_bytes() + places.head.read_bytes() + places.public_key.read_bytes()


EDIT = "UPDATE records SET body = replace(body, '\"number\":2', '\"number\":9') WHERE sequence = 3"
SWAP = (
    "UPDATE records SET sequence = 100 WHERE sequence = 2",
    "UPDATE records SET sequence = 2 WHERE sequence = 4",
    "UPDATE records SET sequence = 4 WHERE sequence = 100",
)
ONE_MORE = (
    "INSERT INTO records SELECT 6, replace(body, '\"sequence\":5', '\"sequence\":6'), digest, signature, task_id "
    "FROM records WHERE sequence = 5"
)


@pytest.mark.parametrize(
    ("tamper", "sequence", "reason"),
    [
        (rows(EDIT), 3, "altered"),
        (rows("UPDATE records SET digest = '00' WHERE sequence = 2"), 2, "altered"),
        (rows("UPDATE records SET task_id = 'another' WHERE sequence = 2"), 2, "altered"),
        (rows("UPDATE records SET body = 'x' WHERE sequence = 4"), 4, "altered"),
        (rows("UPDATE records SET signature = upper(signature) WHERE sequence = 4"), 4, "forged"),
        (rechained(EDIT), 3, "forged"),
        (rows(*SWAP), 2, "moved"),
        (rechained(*SWAP), 2, "moved"),
        (rows("DELETE FROM records WHERE sequence = 2"), 2, "missing"),
        (rows("DELETE FROM records WHERE sequence = 1"), 1, "missing"),
        (rows("UPDATE records SET sequence = 9 WHERE sequence = 5"), 5, "missing"),
        (rows("DELETE FROM records WHERE sequence = 5"), 5, "cut"),
        (rows("DELETE FROM records WHERE sequence > 2"), 3, "cut"),
        (rows("DELETE FROM records"), 1, "cut"),
        (rows(ONE_MORE), 6, "altered"),
        (rechained(ONE_MORE), 6, "forged"),
        (
            rows("DROP INDEX records_by_task", "CREATE INDEX records_by_task ON records (task_id)"),
            None,
            "schema_changed",
        ),
        (lambda places: places.database.unlink(), 1, "file_missing"),
        (lambda places: places.head.unlink(), None, "head_missing"),
        (lambda places: places.head.write_bytes(b"{}"), None, "head_broken"),
        (lambda places: places.public_key.unlink(), None, "key_missing"),
        (lambda places: places.public_key.write_bytes(b"-----"), None, "key_broken"),
        (lambda places: places.public_key.write_bytes(Signer.new().public.pem()), None, "head_broken"),
    ],
)
async def test_tampering_is_named(places: AuditPlaces, tamper: Tamper, sequence: int | None, reason: str) -> None:
    await filled(places)
    tamper(places)

    found = verified(places)

    assert isinstance(found, Broken)
    assert (found.sequence, found.reason) == (sequence, reason)


@pytest.mark.parametrize(
    "tamper",
    [
        rows("DELETE FROM records WHERE sequence = 5"),
        rows("DELETE FROM records"),
        rows(ONE_MORE),
        rechained(ONE_MORE),
        lambda places: places.database.unlink(),
        lambda places: places.head.unlink(),
        lambda places: places.head.write_bytes(b"{}"),
        lambda places: places.public_key.unlink(),
        lambda places: places.private_key.unlink(),
        lambda places: places.private_key.chmod(0o644),
        lambda places: places.private_key.write_bytes(Signer.new().pem()),
    ],
)
async def test_a_log_that_does_not_fit_its_head_or_key_takes_nothing_more(places: AuditPlaces, tamper: Tamper) -> None:
    await filled(places)
    tamper(places)
    before = places.head.read_bytes() if places.head.exists() else b""

    with pytest.raises(StorageUnusable):
        await AuditLog.open(places)

    assert (places.head.read_bytes() if places.head.exists() else b"") == before


async def test_what_is_done_while_the_log_is_open_stops_it_too(log: AuditLog, places: AuditPlaces) -> None:
    await fill(log)
    rows("DELETE FROM records WHERE sequence = 5")(places)

    with pytest.raises(StorageUnusable, match="record 5 that its head"):
        await log.append(event())


async def test_an_older_copy_that_was_put_back_is_noticed(places: AuditPlaces, tmp_path: Path) -> None:
    await filled(places, 3)
    older = copied(places, tmp_path / "older")
    await filled(places, 2)
    shutil.copy2(older.database, places.database)

    found = verified(places)

    assert isinstance(found, Broken)
    assert (found.sequence, found.reason) == (4, "cut")


async def test_an_older_copy_that_went_on_elsewhere_is_noticed(places: AuditPlaces, tmp_path: Path) -> None:
    await filled(places, 3)
    older = copied(places, tmp_path / "older")
    await filled(places, 2)
    await filled(older, 2)
    shutil.copy2(older.database, places.database)

    assert verified(places) == Broken(reason="diverged", sequence=5)
    with pytest.raises(StorageUnusable, match="does not have the record 5"):
        await AuditLog.open(places)


async def test_a_whole_log_of_another_key_is_told_by_the_fingerprint(places: AuditPlaces, tmp_path: Path) -> None:
    await filled(places)
    true = Signer.load(places.private_key).public.fingerprint
    other = AuditPlaces.below(tmp_path / "other")
    await filled(other)

    assert isinstance(verified(other), Intact)
    found = verified(other, true)
    assert isinstance(found, Broken)
    assert found.reason == "key_swapped"


async def test_what_was_cut_off_between_record_and_head_is_taken_up_and_noted(places: AuditPlaces) -> None:
    await filled(places, 3)
    head = places.head.read_bytes()
    await filled(places, 2)
    places.head.write_bytes(head)
    before = verified(places)

    await filled(places, 1)

    log = await AuditLog.open(places)
    after, records = await log.verify(), await log.of_task("task-0")
    await log.close()
    assert isinstance(before, Intact)
    assert (before.records, before.after_head) == (5, 2)
    assert isinstance(after, Intact)
    assert (after.records, after.after_head) == (7, 0)
    assert len(records) == 4
    with sqlite3.connect(places.database) as connection:
        body = connection.execute("SELECT body FROM records WHERE sequence = 6").fetchone()[0]
    connection.close()
    assert (json.loads(body)["kind"], json.loads(body)["data"]) == ("recovered", {"head": 3, "records": 2})


KILLED = """
import asyncio, os, pathlib, sys
from audit import writing
from audit.log import AuditLog
from audit.places import AuditPlaces
from tests.audit.logs import event

async def main():
    log = await AuditLog.open(AuditPlaces.below(pathlib.Path(sys.argv[1])))
    await log.append(event(1))
    writing.overwrite_file = lambda *_, **__: os.kill(os.getpid(), 9)
    await log.append(event(2))

asyncio.run(main())
"""


async def test_a_process_killed_before_it_moves_the_head_loses_nothing(places: AuditPlaces, tmp_path: Path) -> None:
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    killed = await asyncio.create_subprocess_exec(sys.executable, "-c", KILLED, str(tmp_path), env=environment)
    assert await killed.wait() == -signal.SIGKILL

    log = await AuditLog.open(places)
    kept, found = [record.data["number"] for record in await log.of_task("task-0")], await log.verify()
    await log.close()

    assert kept == [1, 2]
    assert isinstance(found, Intact)
    assert found.records == 3


@pytest.mark.parametrize("statement", ["UPDATE records SET body = ''", "DELETE FROM records"])
async def test_the_file_itself_refuses_changes(log: AuditLog, places: AuditPlaces, statement: str) -> None:
    await fill(log)

    connection = sqlite3.connect(places.database)
    with pytest.raises(sqlite3.IntegrityError, match="never"):
        connection.execute(statement)
    connection.close()


async def test_many_writers_make_one_chain_and_the_head_follows(places: AuditPlaces) -> None:
    logs = [await AuditLog.open(places) for _ in range(4)]

    records = await asyncio.gather(*(log.append(event(n)) for log in logs for n in range(20)))

    found = await logs[0].verify()
    for log in logs:
        await log.close()
    assert isinstance(found, Intact)
    assert (found.records, found.after_head) == (80, 0)
    assert sorted(record.sequence for record in records) == list(range(1, 81))


async def test_the_head_is_one_sector_and_read_whole_while_it_is_written(log: AuditLog, places: AuditPlaces) -> None:
    async def write() -> None:
        for number in range(60):
            await log.append(event(number))

    writing = asyncio.create_task(write())
    while not writing.done():
        assert isinstance(await log.verify(), Intact)
    await writing

    assert places.head.stat().st_size == HEAD_BYTES


async def test_a_head_that_cannot_be_moved_fails_the_append_and_the_next_one_takes_it_up(
    log: AuditLog, places: AuditPlaces
) -> None:
    await fill(log, 1)
    moved = places.head.parent.rename(places.head.parent.with_name("away"))

    with pytest.raises(StorageUnusable, match="head"):
        await log.append(event())

    moved.rename(places.head.parent)
    await log.append(event())
    assert isinstance(await log.verify(), Intact)


@pytest.mark.parametrize(
    "data",
    [{}, {"text": '你好\n"quoted"'}, {"deep": [{"x": None, "y": 1.5, "z": True}]}, {"half": "\ud800"}, {"n": 2**63}],
)
async def test_any_data_keeps_the_log_whole(log: AuditLog, data: JsonObject) -> None:
    await log.append(event().model_copy(update={"data": data}))

    assert isinstance(await log.verify(), Intact)
    assert len(await log.of_task("task-0")) == 1
