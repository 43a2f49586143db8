"""What is allowed for good is kept sealed, seen by its person alone, and gone at once when it is revoked."""

from collections.abc import AsyncIterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from audit.standing import Standing, standing_in
from contracts.approvals import Shape, StandingRule
from runtime.keys import Keyring

NOW = datetime(2026, 5, 4, 12, 0, tzinfo=UTC)


def rule(rule_id: str, user_id: str = "telegram:7", **changes: object) -> StandingRule:
    shape = Shape(tool="shell", parts={"command": "curl secret-host/*"})
    given = StandingRule(rule_id=rule_id, user_id=user_id, shape=shape, by=user_id, at=NOW, role="owner")
    return given.model_copy(update=changes)


@pytest.fixture
async def standing(tmp_path: Path) -> AsyncIterator[Standing]:
    async with standing_in(tmp_path / "standing.db", Keyring.load(tmp_path)) as opened:
        yield opened


async def test_a_person_has_their_own_rules_and_those_of_the_task(standing: Standing) -> None:
    for each in (rule("a"), rule("b", task_id="t1"), rule("c", task_id="t2"), rule("d", "telegram:8")):
        await standing.add(each)

    assert {each.rule_id for each in await standing.of("telegram:7", "t1", NOW)} == {"a", "b"}
    assert {each.rule_id for each in await standing.all(None, NOW)} == {"a", "b", "c", "d"}


async def test_a_rule_ends_at_its_time(standing: Standing) -> None:
    await standing.add(rule("a", expires_at=NOW + timedelta(hours=1)))

    assert len(await standing.of("telegram:7", "t1", NOW)) == 1
    assert await standing.of("telegram:7", "t1", NOW + timedelta(hours=1)) == ()


async def test_a_revoked_rule_is_gone_for_every_process_and_no_retry_brings_it_back(
    standing: Standing, tmp_path: Path
) -> None:
    await standing.add(rule("a"))
    async with standing_in(tmp_path / "standing.db", Keyring.load(tmp_path)) as other:
        assert await other.revoke("a", "telegram:7", "telegram:7", NOW)
        assert not await other.revoke("a", "telegram:7", "telegram:7", NOW)

    assert await standing.of("telegram:7", "t1", NOW) == ()
    await standing.add(rule("a"))
    assert await standing.of("telegram:7", "t1", NOW) == ()


async def test_nobody_revokes_the_rule_of_another_but_the_owner(standing: Standing) -> None:
    await standing.add(rule("a"))

    assert not await standing.revoke("a", "telegram:8", "telegram:8", NOW)
    assert await standing.revoke("a", None, "console:anna", NOW)


async def test_the_file_says_nothing_of_what_is_allowed(standing: Standing, tmp_path: Path) -> None:
    await standing.add(rule("a"))

    assert all(b"secret-host" not in path.read_bytes() for path in files_of(tmp_path))


def files_of(folder: Path) -> list[Path]:
    return sorted(folder.glob("standing.db*"))
