"""Processes that write the vault may be killed at any moment: what they said to have stored is there."""

import asyncio
import sys
from pathlib import Path

from identity.document import Lock
from identity.head import HeadFile
from identity.stores.sqlite import SqliteStore
from identity.unlocking import FileKey
from identity.vault import SealedVault, new_vault_id
from tests.identity.vaults import named, plain
from tests.project.files import ROOT

STORED_BEFORE = 15


async def started(folder: Path, name: str) -> asyncio.subprocess.Process:
    return await asyncio.create_subprocess_exec(
        sys.executable, "-m", "tests.identity.writing", str(folder), name, cwd=ROOT, stdout=asyncio.subprocess.PIPE
    )


async def last_said(process: asyncio.subprocess.Process, at_least: int) -> int:
    """Kill it after so many, in the midst of the next; give the last that it said."""
    assert process.stdout is not None
    for _ in range(at_least):
        await process.stdout.readline()
    process.kill()
    rest = await process.stdout.read()
    await process.wait()
    said = [int(line) for line in rest.split(b"\n")[:-1]]
    return said[-1] if said else at_least


async def test_what_killed_writers_had_stored_is_there_and_the_vault_goes_on(tmp_path: Path) -> None:
    file = FileKey(tmp_path / "key")
    vault = SealedVault(await SqliteStore.open(tmp_path / "vault.db"), HeadFile(tmp_path / "head.json"), file)
    await vault.make(new_vault_id(), Lock(kind="file"), await file.make())
    writers = {name: await started(tmp_path, name) for name in ("a", "b")}

    said = dict(
        zip(writers, await asyncio.gather(*(last_said(each, STORED_BEFORE) for each in writers.values())), strict=True)
    )

    for name, version in said.items():
        newest = await vault.version(named("token", name))
        assert version <= newest <= version + 1
        assert await plain(vault, named("token", name)) == f"{name} {newest}".encode()
    assert (await vault.put(named("token", "a"), bytearray(b"after it"))).version > said["a"]
    await vault.close()
