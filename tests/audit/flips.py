"""Flip one byte of an audit's files at a time, and compare what the check says with what a reader would see."""

import random
import sqlite3
import zipfile
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from audit.bundle_check import checked_bundle
from audit.places import AuditPlaces
from audit.signing import Signer
from audit.storage import DAMAGED
from audit.verifying import Broken, Intact, verified

Content = object
"""What a reader sees; equal if and only if nothing of it has changed."""

TASKS = ("task-0", "task-1")


@dataclass(frozen=True)
class Target:
    """One file, how it is checked, and how it is read by who checks nothing."""

    name: str
    path: Path
    check: Callable[[], Intact | Broken]
    read: Callable[[], Content]


@dataclass
class Flipped:
    """What became of the flips of one file."""

    named: int = 0
    named_harmless: int = 0
    """Noticed, although a reader would have seen the same."""
    no_change: int = 0
    """Not noticed, and a reader sees the same: bytes that nothing reads."""
    undetected: int = 0
    """Not noticed although a reader sees something else; must be none."""
    reasons: Counter[str] = field(default_factory=Counter)


def database_of(places: AuditPlaces) -> list[Target]:
    """The records' file, the head and the public key."""
    fingerprint = Signer.load(places.private_key).public.fingerprint

    def check() -> Intact | Broken:
        return verified(places, fingerprint)

    targets = [Target("records", places.database, check, lambda: rows_of(places.database))]
    targets += [Target(path.name, path, check, path.read_bytes) for path in (places.head, places.public_key)]
    wal = places.database.with_name(f"{places.database.name}-wal")
    if wal.exists() and wal.stat().st_size:
        targets.append(Target("records, not yet moved over", wal, check, lambda: rows_of(places.database)))
    return targets


def bundle_of(path: Path, fingerprint: str) -> Target:
    return Target("bundle", path, lambda: checked_bundle(path, fingerprint), lambda: members_of(path))


def flip(target: Target, flips: int, chance: random.Random) -> Flipped:
    """One byte after the other, each put back before the next."""
    whole, before, found = target.path.read_bytes(), target.read(), Flipped()
    for _ in range(flips):
        at = chance.randrange(len(whole))
        changed = bytearray(whole)
        changed[at] ^= chance.randrange(1, 256)
        target.path.write_bytes(changed)
        said = target.check()
        same = target.read() == before
        if isinstance(said, Broken):
            found.named += not same
            found.named_harmless += same
            found.reasons[said.reason] += 1
        else:
            found.no_change += same
            found.undetected += not same
    target.path.write_bytes(whole)
    return found


def rows_of(database: Path) -> Content:
    """All that a reader could be given: every row, what the index finds, and the file's layout."""
    try:
        connection = sqlite3.connect(f"{database.as_uri()}?mode=ro", uri=True)
    except DAMAGED as error:
        return repr(error)
    try:
        connection.text_factory = bytes
        rows = connection.execute("SELECT rowid, * FROM records ORDER BY rowid").fetchall()
        found = [
            connection.execute(
                "SELECT * FROM records INDEXED BY records_by_task WHERE task_id = ? ORDER BY sequence", (task_id,)
            ).fetchall()
            for task_id in TASKS
        ]
        layout = connection.execute("SELECT type, name, tbl_name, sql FROM sqlite_master").fetchall()
    except DAMAGED as error:
        return repr(error)
    finally:
        connection.close()
    return rows, found, layout


def members_of(path: Path) -> Content:
    try:
        with zipfile.ZipFile(path) as archive:
            return {name: archive.read(name) for name in archive.namelist()}
    except Exception as error:  # whatever a damaged zip file makes a reader raise: it does not see the same
        return repr(error)
