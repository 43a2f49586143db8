"""Objects in a bucket of an S3-compatible store."""

import asyncio
import secrets
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING

from obstore.exceptions import BaseError
from obstore.store import S3Store

from sandbox.snapshots.shelf import ObjectMissing, ShelfUnreachable
from sandbox.snapshots.threads import in_thread

if TYPE_CHECKING:  # these are there for type checkers alone
    from obstore.store import ClientConfig, RetryConfig, S3Config

CONNECT_TIMEOUT = timedelta(seconds=10)
READ_TIMEOUT = timedelta(seconds=60)
RETRIES: "RetryConfig" = {"max_retries": 3, "retry_timeout": timedelta(seconds=30)}
"""S3 asks its clients to come again when it is busy; what lasts longer is for the caller to try again."""
LIST_AT_ONCE = 1_000
ASK_AT_ONCE = 16
BRING_BYTES = 1024 * 1024


class S3Shelf:
    """Satisfies sandbox.snapshots.shelf.Shelf."""

    def __init__(
        self, bucket: str, prefix: str, *, endpoint: str, region: str, access_key: str, secret_key: str
    ) -> None:
        """Without a key those of the surroundings are taken: environment, container or instance role."""
        self._name = f"s3://{bucket}"
        plain = endpoint.startswith("http://")
        client: ClientConfig = {
            "connect_timeout": CONNECT_TIMEOUT,
            "read_timeout": READ_TIMEOUT,
            "timeout": READ_TIMEOUT * 5,
            "allow_http": plain,
        }
        config: S3Config = {"region": region}
        if endpoint:
            config["endpoint"] = endpoint
        if access_key:
            config |= {"access_key_id": access_key, "secret_access_key": secret_key}
        self._store = S3Store(bucket, prefix=prefix or None, config=config, client_options=client, retry_config=RETRIES)

    async def put(self, name: str, content: bytes) -> None:
        # In one request: what an upload in parts leaves behind when it breaks off would be paid for and never seen.
        with self._answering(name):
            await self._store.put_async(name, content, use_multipart=False)

    async def get(self, name: str) -> bytes:
        with self._answering(name):
            return bytes(await (await self._store.get_async(name)).bytes_async())

    async def local(self, name: str, scratch: Path) -> Path:
        path = scratch / secrets.token_hex(8)
        with self._answering(name), path.open("wb", buffering=0) as file:
            async for piece in (await self._store.get_async(name)).stream(BRING_BYTES):
                await in_thread(file.write, memoryview(piece))
        return path

    async def names(self, folder: str) -> list[str]:
        with self._answering(folder):
            return [
                found["path"]
                async for several in self._store.list(folder, chunk_size=LIST_AT_ONCE)
                for found in several
            ]

    async def missing(self, names: Collection[str]) -> set[str]:
        room = asyncio.Semaphore(ASK_AT_ONCE)

        async def lacks(name: str) -> bool:
            async with room:
                try:
                    with self._answering(name):
                        await self._store.head_async(name)
                except ObjectMissing:
                    return True
                return False

        asked = sorted(names)
        return {name for name, absent in zip(asked, await asyncio.gather(*map(lacks, asked)), strict=True) if absent}

    async def delete(self, names: Collection[str]) -> None:
        if names:
            with self._answering("many objects"):
                await self._store.delete_async(sorted(names))

    async def tidy(self, older_than_seconds: float) -> None:
        """Nothing is left behind: each object is written by one request."""

    @contextmanager
    def _answering(self, name: str) -> Iterator[None]:
        try:
            yield
        except FileNotFoundError as error:
            if "NoSuchBucket" in str(error):
                raise ShelfUnreachable(f"there is no bucket {self._name}") from error
            raise ObjectMissing(f"{name} is missing in {self._name}") from error
        except (BaseError, OSError) as error:
            first = str(error).partition("\n")[0]
            raise ShelfUnreachable(f"{self._name} does not answer as it should: {first}") from error
