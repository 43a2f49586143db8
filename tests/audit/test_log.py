"""A record that was changed, removed, inserted or moved is noticed and named."""

import asyncio
import sqlite3
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from audit.log import FIRST_PREVIOUS, AuditLog, Broken, Intact
from contracts.values import JsonObject


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "audit.db"


@pytest.fixture
async def log(path: Path) -> AsyncIterator[AuditLog]:
    log = await AuditLog.open(path)
    yield log
    await log.close()


async def _fill(log: AuditLog, count: int = 5) -> None:
    for number in range(count):
        await log.append("effect.begun", f"task-{number % 2}", "telegram:1", {"number": number})


def _tamper(path: Path, *statements: str) -> None:
    with sqlite3.connect(path) as connection:
        for statement in ("DROP TRIGGER records_stay", "DROP TRIGGER records_remain", *statements):
            connection.execute(statement)
    connection.close()


async def test_an_empty_log_is_whole(log: AuditLog) -> None:
    assert await log.verify() == Intact(records=0, head=FIRST_PREVIOUS)


async def test_records_are_found_by_task_in_their_order(log: AuditLog) -> None:
    await _fill(log)

    assert [record.data["number"] for record in await log.of_task("task-0")] == [0, 2, 4]
    assert isinstance(await log.verify(), Intact)


@pytest.mark.parametrize(
    ("statement", "sequence", "reason"),
    [
        ("UPDATE records SET body = replace(body, '\"number\":2', '\"number\":9') WHERE sequence = 3", 3, "altered"),
        ("UPDATE records SET digest = '00' WHERE sequence = 2", 2, "altered"),
        ("UPDATE records SET task_id = 'another' WHERE sequence = 2", 2, "moved"),
        ("DELETE FROM records WHERE sequence = 2", 2, "missing"),
        ("DELETE FROM records WHERE sequence = 1", 1, "missing"),
        ("UPDATE records SET sequence = 9 WHERE sequence = 5", 5, "missing"),
        ("UPDATE records SET body = 'x' WHERE sequence = 4", 4, "altered"),
    ],
)
async def test_tampering_is_named(log: AuditLog, path: Path, statement: str, sequence: int, reason: str) -> None:
    await _fill(log)
    _tamper(path, statement)

    assert await log.verify() == Broken.model_validate({"sequence": sequence, "reason": reason})


async def test_a_forged_record_with_a_right_digest_breaks_the_chain_after_it(log: AuditLog, path: Path) -> None:
    await _fill(log)
    other = await AuditLog.open(path.with_name("other.db"))
    await _fill(other, 2)
    await other.append("effect.begun", "task-0", "telegram:1", {"number": 99})
    await other.close()
    _tamper(
        path,
        f"ATTACH '{path.with_name('other.db')}' AS other",
        "UPDATE records SET body = (SELECT body FROM other.records WHERE sequence = 3), "
        "digest = (SELECT digest FROM other.records WHERE sequence = 3) WHERE sequence = 3",
    )

    assert await log.verify() == Broken(sequence=3, reason="moved")


async def test_two_records_that_changed_places_are_noticed(log: AuditLog, path: Path) -> None:
    await _fill(log)
    _tamper(
        path,
        "UPDATE records SET sequence = 100 WHERE sequence = 2",
        "UPDATE records SET sequence = 2 WHERE sequence = 4",
        "UPDATE records SET sequence = 4 WHERE sequence = 100",
    )

    assert await log.verify() == Broken(sequence=2, reason="moved")


@pytest.mark.parametrize("statement", ["UPDATE records SET body = ''", "DELETE FROM records"])
async def test_the_file_itself_refuses_changes(log: AuditLog, path: Path, statement: str) -> None:
    await _fill(log)

    connection = sqlite3.connect(path)
    with pytest.raises(sqlite3.IntegrityError, match="never"):
        connection.execute(statement)
    connection.close()


async def test_many_writers_make_one_chain(path: Path) -> None:
    logs = [await AuditLog.open(path) for _ in range(4)]

    await asyncio.gather(*(log.append("k", None, "part", {"n": n}) for log in logs for n in range(10)))

    verified = await logs[0].verify()
    assert isinstance(verified, Intact)
    assert verified.records == 40
    for log in logs:
        await log.close()


async def test_the_head_tells_of_a_cut_end(log: AuditLog, path: Path) -> None:
    await _fill(log)
    before = await log.verify()
    _tamper(path, "DELETE FROM records WHERE sequence = 5")

    after = await log.verify()

    assert isinstance(before, Intact)
    assert isinstance(after, Intact)
    assert (after.records, after.head == before.head) == (4, False)


@pytest.mark.parametrize(
    "data",
    [{}, {"text": '你好\n"quoted"'}, {"deep": [{"x": None, "y": 1.5, "z": True}]}, {"half": "\ud800"}, {"n": 2**63}],
)
async def test_any_data_keeps_the_log_whole(log: AuditLog, data: JsonObject) -> None:
    await log.append("kind", "t", "actor", data)

    assert isinstance(await log.verify(), Intact)
    assert len(await log.of_task("t")) == 1
