"""The places where snapshots are kept, as a test sees them: a folder, or a bucket of a real S3 server."""

import json
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

import obstore
from obstore.exceptions import BaseError
from obstore.store import S3Store

from sandbox.snapshots.opening import S3, open_snapshots
from sandbox.snapshots.sealing import SnapshotKeys
from sandbox.snapshots.store import Snapshots
from tests.ports import free_ports

WEED = Path(sys.executable).with_name("weed")
BUCKET = "asos-tests"
READY_SECONDS = 60.0
KEYS = SnapshotKeys.from_secret(b"a secret of these tests alone....")


class Store(Protocol):
    """What somebody who holds the store can do with it."""

    def snapshots(self, *, keys: SnapshotKeys = KEYS, grace_seconds: float = 0.0) -> Snapshots: ...

    def names(self) -> list[str]:
        """Of all objects."""
        ...

    def read(self, name: str) -> bytes: ...

    def write(self, name: str, content: bytes) -> None: ...

    def delete(self, name: str) -> None: ...


def named(store: Store, kind: str) -> list[str]:
    """The objects of one kind: manifests, listings, layers, owners."""
    return [name for name in store.names() if f"/{kind}/" in name]


@dataclass(frozen=True)
class FolderStore:
    root: Path

    def snapshots(self, *, keys: SnapshotKeys = KEYS, grace_seconds: float = 0.0) -> Snapshots:
        scratch = self.root / "scratch"
        return open_snapshots(str(self.root / "kept"), keys, scratch=scratch, grace_seconds=grace_seconds)

    def names(self) -> list[str]:
        kept = self.root / "kept"
        return sorted(path.relative_to(kept).as_posix() for path in kept.rglob("*") if path.is_file())

    def read(self, name: str) -> bytes:
        return (self.root / "kept" / name).read_bytes()

    def write(self, name: str, content: bytes) -> None:
        (self.root / "kept" / name).write_bytes(content)

    def delete(self, name: str) -> None:
        (self.root / "kept" / name).unlink()


@dataclass(frozen=True)
class BucketStore:
    server: S3
    prefix: str
    scratch: Path

    def snapshots(self, *, keys: SnapshotKeys = KEYS, grace_seconds: float = 0.0) -> Snapshots:
        location = f"s3://{BUCKET}/{self.prefix}"
        return open_snapshots(location, keys, scratch=self.scratch, s3=self.server, grace_seconds=grace_seconds)

    def names(self) -> list[str]:
        return sorted(found["path"] for several in obstore.list(self._bucket) for found in several)

    def read(self, name: str) -> bytes:
        return bytes(obstore.get(self._bucket, name).bytes())

    def write(self, name: str, content: bytes) -> None:
        obstore.put(self._bucket, name, content)

    def delete(self, name: str) -> None:
        obstore.delete(self._bucket, name)

    @property
    def _bucket(self) -> S3Store:
        return bucket_of(self.server, self.prefix)


def bucket_of(server: S3, prefix: str) -> S3Store:
    return S3Store(
        BUCKET,
        prefix=prefix,
        config={
            "endpoint": server.endpoint,
            "region": server.region,
            "access_key_id": server.access_key,
            "secret_access_key": server.secret_key,
        },
        client_options={"allow_http": True},
    )


@contextmanager
def s3_server(folder: Path) -> Iterator[S3]:
    """SeaweedFS with one bucket, on ports of its own."""
    identity = {
        "name": "tests",
        "credentials": [{"accessKey": "key-of-tests", "secretKey": "secret-of-tests"}],
        "actions": ["Admin", "Read", "Write", "List"],
    }
    (folder / "s3.json").write_text(json.dumps({"identities": [identity]}))
    (folder / "data").mkdir()
    names = ("s3", "master", "volume", "filer")
    ports = free_ports(2 * len(names))
    command = [str(WEED), f"-logdir={folder}", "server", f"-dir={folder}/data", "-filer", "-s3"]
    command += ["-ip=127.0.0.1", "-ip.bind=127.0.0.1", f"-s3.config={folder}/s3.json", "-volume.max=8"]
    command += ["-s3.port.iceberg=0", "-s3.port.lance=0"]  # their ports are fixed, and nobody asks there
    command += ["-master.electionTimeout=1s", "-master.heartbeatInterval=100ms", "-master.volumeSizeLimitMB=64"]
    for name, port, grpc in zip(names, ports[::2], ports[1::2], strict=True):
        command += [f"-{name}.port={port}", f"-{name}.port.grpc={grpc}"]
    server = S3(f"http://127.0.0.1:{ports[0]}", "us-east-1", "key-of-tests", "secret-of-tests")
    with (folder / "log").open("wb") as log, subprocess.Popen(command, stdout=log, stderr=log) as process:
        try:
            _await_bucket(server, process, folder / "log")
            yield server
        finally:
            process.kill()


def _await_bucket(server: S3, process: "subprocess.Popen[bytes]", log: Path) -> None:
    """This server makes a bucket when its administrator first writes to it."""
    until = time.monotonic() + READY_SECONDS
    while True:
        try:
            obstore.put(bucket_of(server, "ready"), f"{os.getpid()}", b"1")
        except BaseError as error:
            if process.poll() is not None or time.monotonic() > until:
                raise AssertionError(f"no S3 server: {error}\n{log.read_text()[-2_000:]}") from error
            time.sleep(0.05)
        else:
            return
