"""Processes that live for one command put what they do on record, or it does not count; only a stop holds anyway."""

import asyncio
import json
import sqlite3
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pyotp
import pytest

from audit.standing import standing_in
from audit.storage import Database, StorageUnusable
from contracts.approvals import Shape, StandingRule
from contracts.kill import LiftOrder
from gateway.recording import AtHand, audit_places, factor_of
from gateway.standing_rules import StandingDesk
from runtime.keys import Keyring
from runtime.killing.desk import KillDesk
from runtime.paths import DataPaths
from runtime.second_factor import FactorRefused, SecondFactor, new_secret
from runtime.settings import Settings

ANNA = "console:anna"
STEP = 30


class Installation:
    """A data folder, with the parts that a command makes for itself."""

    def __init__(self, root: Path) -> None:
        self.settings, self.paths, self.keyring = Settings(data_dir=root), DataPaths(root), Keyring.load(root)
        self.factor: SecondFactor = factor_of(self.settings, self.keyring)
        self.at_hand = AtHand(self.settings, self.keyring)
        self.kills = KillDesk.of(self.paths, self.keyring, self.factor, self.at_hand, self._elsewhere)
        self.secret = new_secret()

    def code(self, steps: int) -> str:
        return pyotp.TOTP(self.secret).at(datetime.now(UTC) + timedelta(seconds=STEP * steps))

    async def enrolled(self) -> None:
        code = self.code(-1)
        await asyncio.to_thread(self.factor.enrol, self.secret, code, ANNA, datetime.now(UTC))

    async def kinds(self) -> list[str]:
        database = await Database.open(audit_places(self.settings).database, "")
        try:
            return await database.read(_kinds)
        finally:
            await database.close()

    def break_audit(self) -> None:
        head = audit_places(self.settings).head
        head.parent.mkdir(parents=True, exist_ok=True)
        head.write_bytes(b"no head of any log")

    async def _elsewhere(self, _order: LiftOrder) -> None:
        """There is no other machine."""


@pytest.fixture
def here(tmp_path: Path) -> Installation:
    return Installation(tmp_path / "installation")


async def test_what_a_command_does_to_factor_and_switch_is_on_record(here: Installation) -> None:
    await here.enrolled()
    kill = await here.kills.pull("all", None, ANNA)
    with pytest.raises(FactorRefused):
        await here.kills.lift(kill.kill_id, "000000", ANNA)
    await here.kills.lift(kill.kill_id, here.code(0), ANNA)

    assert await here.kinds() == [
        "factor.enrolled",
        "kill.pulled",
        "factor.refused",
        "kill.refused",
        "factor.used",
        "kill.lifted",
    ]


async def test_a_broken_audit_stops_no_stop_and_the_command_says_so(here: Installation) -> None:
    await here.enrolled()
    here.break_audit()

    kill = await here.kills.write("all", None, ANNA)
    problem = await here.kills.pulled(kill)

    assert kill in await here.kills.in_force()
    assert "audit" in problem


async def test_with_a_broken_audit_no_code_counts_and_nothing_is_lifted(here: Installation) -> None:
    await here.enrolled()
    here.break_audit()
    kill = await here.kills.write("all", None, ANNA)

    with pytest.raises((FactorRefused, StorageUnusable)):
        await here.kills.lift(kill.kill_id, here.code(0), ANNA)

    assert kill in await here.kills.in_force()


async def test_with_a_broken_audit_a_factor_is_neither_added_nor_removed(here: Installation) -> None:
    await here.enrolled()
    here.break_audit()

    with pytest.raises(FactorRefused, match="audit"):
        await asyncio.to_thread(here.factor.remove, here.code(0), ANNA, datetime.now(UTC))

    assert here.factor.status() is not None


async def test_a_rule_that_is_taken_back_is_on_record(here: Installation) -> None:
    here.paths.prepare()
    rule = StandingRule(rule_id="abcd1234", user_id=ANNA, shape=Shape(tool="x"), by=ANNA, at=datetime.now(UTC))
    async with standing_in(here.paths.standing, here.keyring) as standing:
        await standing.add(rule)
    desk = StandingDesk(lambda: standing_in(here.paths.standing, here.keyring), here.at_hand)

    assert await desk.revoke("abcd1234", None, ANNA)

    assert await here.kinds() == ["standing.revoked"]


def _kinds(connection: sqlite3.Connection) -> list[str]:
    bodies = connection.execute("SELECT body FROM records ORDER BY sequence")
    return [json.loads(body)["kind"] for (body,) in bodies]
