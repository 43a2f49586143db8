"""At the terminal the second factor is set up with a code, and what is allowed for good is listed and taken back."""

import asyncio
import json
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pyotp
import pytest
from typer import Typer
from typer.testing import CliRunner

from audit.standing import standing_in
from contracts.approvals import Shape, StandingRule
from runtime.keys import Keyring
from runtime.paths import DataPaths
from runtime.second_factor import SecondFactor, new_secret
from runtime.settings import Settings
from workers.asos import command_line
from workers.commands import factor as commands

BY = "console:1"


@pytest.fixture
def app(tmp_path: Path) -> Typer:
    return command_line(Settings(data_dir=tmp_path))


def says(app: Typer, *words: str, typed: str = "") -> tuple[int, str]:
    done = CliRunner().invoke(app, list(words), input=typed)
    return done.exit_code, done.output


def test_a_factor_is_shown_once_and_set_up_by_a_code_of_it(
    app: Typer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    secret = new_secret()
    monkeypatch.setattr(commands, "new_secret", lambda: secret)

    wrong = says(app, "factor", "add", typed="nonsense\n")
    before = says(app, "factor", "status", "--json")
    added = says(app, "factor", "add", typed=f"{pyotp.TOTP(secret).now()}\n")
    after = says(app, "factor", "status", "--json")

    assert wrong[0] == 1
    assert (before[0], before[1].strip()) == (1, "null")
    assert added[0] == 0
    assert secret in added[1]
    assert "█" in added[1] or "▀" in added[1] or "▄" in added[1]
    assert after[0] == 0
    assert secret not in after[1]


def test_removing_and_replacing_it_need_one_of_its_codes(app: Typer, tmp_path: Path) -> None:
    secret, now = new_secret(), datetime.now(UTC)
    factor = SecondFactor(DataPaths(tmp_path), Keyring.load(tmp_path))
    earlier = now - timedelta(seconds=90)
    factor.enrol(secret, pyotp.TOTP(secret).at(earlier), BY, earlier)

    refused = [
        says(app, "factor", "remove", "--code", "nonsense"),
        says(app, "factor", "add", "--code", "x", typed="y\n"),
    ]
    removed = says(app, "factor", "remove", "--code", pyotp.TOTP(secret).now())

    assert [code for code, _ in refused] == [1, 1]
    assert removed[0] == 0
    assert factor.status() is None


async def allow(folder: Path) -> None:
    async with standing_in(DataPaths(folder).standing, Keyring.load(folder)) as standing:
        shape = Shape(tool="shell", parts={"command": "git push"})
        await standing.add(
            StandingRule(rule_id="aa11", user_id="telegram:7", shape=shape, by="telegram:7", at=datetime.now(UTC))
        )


def test_a_rule_is_listed_and_taken_back_while_nothing_runs(app: Typer, tmp_path: Path) -> None:
    asyncio.run(allow(tmp_path))

    listed = says(app, "policy", "rules")
    as_json = json.loads(says(app, "policy", "rules", "--json")[1])
    revoked, again = says(app, "policy", "revoke", "AA11"), says(app, "policy", "revoke", "aa11")

    assert "git push" in listed[1]
    assert as_json[0]["rule_id"] == "aa11"
    assert (revoked[0], again[0]) == (0, 1)
    assert says(app, "policy", "rules", "--json")[1].strip() == "[]"
