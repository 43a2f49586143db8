"""A byte that changes by chance or by a hand is noticed, wherever it lies; the long form flips 10,000."""

import random
import shutil
from pathlib import Path

import pytest

from audit.log import AuditLog
from audit.places import AuditPlaces
from tests.audit.flips import Target, bundle_of, database_of, flip
from tests.audit.logs import copied, fill, filled
from tests.audit.test_bundle import exported

SEED = 20_261
SHORT, LONG = 80, 2_000
"""Flips of each of the five files; keys and heads are short, so that many of their flips repeat."""


@pytest.fixture
async def targets(tmp_path: Path) -> list[Target]:
    """A log at rest, one whose last records are still in the write-ahead file, and a bundle."""
    places = AuditPlaces.below(tmp_path / "rest")
    await filled(places, 30)
    path = tmp_path / "task.zip"
    fingerprint = await exported(places, path)
    moving = AuditPlaces.below(tmp_path / "moving")
    log = await AuditLog.open(moving)
    await fill(log, 8)
    busy = copied(moving, tmp_path / "busy")
    wal = moving.database.with_name(f"{moving.database.name}-wal")
    shutil.copy2(wal, busy.database.with_name(wal.name))
    await log.close()
    return [*database_of(places), database_of(busy)[-1], bundle_of(path, fingerprint)]


def flipped(targets: list[Target], flips: int) -> None:
    chance = random.Random(SEED)  # noqa: S311  a sample is no secret
    for target in targets:
        found = flip(target, flips, chance)
        print(f"{target.name}: {found}")  # noqa: T201  the long form is run for its figures
        assert found.undetected == 0, (target.name, found)
        assert found.named > 0, (target.name, found)


def test_no_flipped_byte_changes_what_is_read_unnoticed(targets: list[Target]) -> None:
    flipped(targets, SHORT)


@pytest.mark.slow
@pytest.mark.timeout(1_800)
def test_none_of_ten_thousand_flipped_bytes_changes_what_is_read_unnoticed(targets: list[Target]) -> None:
    flipped(targets, LONG)
