"""Read the log from its file without a part in writing it, record by record."""

import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import datetime
from pathlib import Path

from pydantic import ValidationError

from audit.chain import Record
from audit.storage import DAMAGED, StorageUnusable


@contextmanager
def reading(database: Path) -> Iterator[sqlite3.Connection]:
    """One consistent view for the length of the block. Raises: StorageUnusable."""
    try:
        connection = sqlite3.connect(f"{database.absolute().as_uri()}?mode=ro", uri=True, isolation_level=None)
    except DAMAGED as error:
        raise StorageUnusable(f"cannot read {database}: {error}") from error
    try:
        connection.execute("BEGIN")
        yield connection
    except DAMAGED as error:
        raise StorageUnusable(f"cannot read {database}: {error}") from error
    finally:
        connection.close()


def records(
    connection: sqlite3.Connection,
    *,
    task_id: str | None = None,
    kinds: Sequence[str] = (),
    since: datetime | None = None,
) -> Iterator[Record]:
    """Oldest first; of a kind, or of a family of kinds such as `approval`. Raises: StorageUnusable."""
    where, values = ("WHERE task_id = ?", (task_id,)) if task_id is not None else ("", ())
    for (body,) in connection.execute(f"SELECT body FROM records {where} ORDER BY sequence", values):  # noqa: S608  one of two texts
        record = _parsed(body)
        if since is not None and record.at < since:
            continue
        if not kinds or any(record.kind == kind or record.kind.startswith(f"{kind}.") for kind in kinds):
            yield record


def tasks(connection: sqlite3.Connection, part: str) -> list[str]:
    """Ids of tasks that have records, and begin or end with this, or the last one for `last`."""
    if part.lower() == "last":
        query = "SELECT task_id FROM records WHERE task_id IS NOT NULL ORDER BY sequence DESC LIMIT 1"
        return [task_id for (task_id,) in connection.execute(query)]
    found = connection.execute("SELECT DISTINCT task_id FROM records WHERE task_id IS NOT NULL")
    lower = part.lower()
    known = [task_id for (task_id,) in found]
    return [each for each in known if each.lower().startswith(lower) or each.lower().endswith(lower)]


def _parsed(body: str) -> Record:
    try:
        return Record.model_validate_json(body)
    except ValidationError as error:
        raise StorageUnusable("a record of the audit log is damaged; `asos audit verify` names it") from error
