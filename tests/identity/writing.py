"""A process that stores one version after the other, says each when it is stored, and is killed by the test."""

import asyncio
import sys
from pathlib import Path

from identity.head import HeadFile
from identity.stores.sqlite import SqliteStore
from identity.unlocking import FileKey
from identity.vault import SealedVault
from tests.identity.vaults import named


async def main(folder: Path, name: str) -> None:
    vault = SealedVault(
        await SqliteStore.open(folder / "vault.db"), HeadFile(folder / "head.json"), FileKey(folder / "key")
    )
    while True:
        version = await vault.version(named("token", name)) + 1
        await vault.put(named("token", name), bytearray(f"{name} {version}".encode()), after=version - 1)
        sys.stdout.write(f"{version}\n")
        sys.stdout.flush()


if __name__ == "__main__":
    asyncio.run(main(Path(sys.argv[1]), sys.argv[2]))
