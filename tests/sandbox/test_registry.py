"""The register of a host: what it knows after a restart, and who may have it."""

import os
import sqlite3
import time
from pathlib import Path

import pytest

from contracts.sandbox import SandboxUnavailable
from sandbox.records import Record, Register


def row(sandbox_id: str, epoch: int = 1, owner: str = "task") -> Record:
    return Record(sandbox_id=sandbox_id, state="leased", changed_at=time.time(), owner=owner, epoch=epoch)


async def opened(folder: Path) -> Register:
    register = Register(folder)
    await register.open()
    return register


async def test_rows_and_epochs_are_known_to_the_next_life(tmp_path: Path) -> None:
    first = await opened(tmp_path)
    await first.write(row("a", epoch=3))
    await first.write(row("b", owner="other"))
    await first.write(row("c").become("warm", owner=""))
    await first.remove("b")
    await first.close()

    second = await opened(tmp_path)

    assert second.leased_to("task") == first.get("a")
    assert (second.last_epoch("task"), second.last_epoch("other"), second.last_epoch("nobody")) == (3, 1, 0)
    assert second.remains == ("c",)
    assert second.installation == first.installation
    await second.close()


async def test_only_one_process_serves_a_host_and_it_is_named(tmp_path: Path) -> None:
    first = await opened(tmp_path)

    with pytest.raises(SandboxUnavailable, match=f"process {os.getpid()}"):
        await Register(tmp_path).open()

    await first.close()
    await (await opened(tmp_path)).close()


async def test_a_file_that_is_no_register_is_told_with_its_path(tmp_path: Path) -> None:
    (tmp_path / "sandboxes.db").write_bytes(b"no database" * 100)

    with pytest.raises(SandboxUnavailable, match=r"sandboxes\.db"):
        await Register(tmp_path).open()


async def test_what_could_not_be_written_is_not_known(tmp_path: Path) -> None:
    register = await opened(tmp_path)
    await register.write(row("a"))
    with sqlite3.connect(tmp_path / "sandboxes.db") as foreign:
        foreign.execute("DROP TABLE sandboxes")
    foreign.close()

    with pytest.raises(SandboxUnavailable):
        await register.write(row("a").become("leaving"))
    with pytest.raises(SandboxUnavailable):
        await register.write(row("b"))

    assert [one.state for one in register.rows] == ["leased"]
    await register.close()
