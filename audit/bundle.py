"""One file with all there is of a task: every member's digest is in a manifest that the audit's key has signed.

The task's records come with a proof that they belong to the chain which the signed head ends: their bodies, and of
everybody else's records since the task's first one nothing but the SHA-256.
"""

import hashlib
import json
import secrets
import sqlite3
import zipfile
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Literal

from audit.chain import FIRST_PREVIOUS, Head, canonical, digest_of
from audit.places import AuditPlaces
from audit.reading import reading
from audit.signing import Signer
from contracts.values import JsonObject, Value

MANIFEST, SIGNATURE, KEY = "manifest.json", "manifest.sig", "public-key.pem"
HEAD, CHAIN = "audit/head.json", "audit/chain.jsonl"
_NO_TIME = (1980, 1, 1, 0, 0, 0)
SIGNED_APART = frozenset({MANIFEST, SIGNATURE})


class Member(Value):
    """One file of a bundle."""

    name: str
    size: int
    sha256: str
    about: str = ""
    """Such as the name that a person knows it by."""


class Manifest(Value):
    """What a bundle holds; whatever is in it and not named here is foreign."""

    format: Literal["asos audit bundle v1"] = "asos audit bundle v1"
    task_id: str
    made_at: datetime
    plain: bool
    """False if all words in it are sealed with the installation's keyring."""
    records: int
    """How many of the audit's records are the task's."""
    members: tuple[Member, ...]

    def content(self) -> bytes:
        return canonical(self.model_dump(mode="json")).encode() + b"\n"


def manifest_statement(content: bytes) -> bytes:
    """What the signature is of."""
    return b"asos audit bundle v1\n" + digest_of(content).encode()


class Start(Value):
    """The first line of a chain: what the records that follow are linked to."""

    sequence: int
    """Of the first record."""
    previous: str
    """Digest of the one before it."""


class Bundle:
    """Being written; members are taken in pieces, so that none has to fit into memory."""

    def __init__(self, archive: zipfile.ZipFile) -> None:
        self._archive = archive
        self._members: list[Member] = []

    @contextmanager
    def member(self, name: str, about: str = "") -> Iterator[Callable[[bytes], None]]:
        """Yields what takes its pieces."""
        digest, size = hashlib.sha256(), 0
        with self._archive.open(zipfile.ZipInfo(name, _NO_TIME), "w", force_zip64=True) as member:

            def write(piece: bytes) -> None:
                nonlocal size
                digest.update(piece)
                size += len(piece)
                member.write(piece)

            yield write
        self._members.append(Member(name=name, size=size, sha256=digest.hexdigest(), about=about))

    def add(self, name: str, pieces: Iterable[bytes], about: str = "") -> None:
        with self.member(name, about) as write:
            for piece in pieces:
                write(piece)

    def add_audit(self, places: AuditPlaces, signer: Signer, task_id: str) -> int:
        """Head, key, and the task's records with their proof; gives how many they are.

        Raises: StorageUnusable, OSError, HeadBroken.
        """
        head = Head.load(places.head, signer.public)
        with reading(places.database) as connection:
            counted: list[int] = []
            self.add(CHAIN, _chain(connection, head, task_id, counted))
        self.add(HEAD, [head.content()])
        self.add(KEY, [signer.public.pem()])
        return len(counted)

    def seal(self, signer: Signer, task_id: str, *, plain: bool, records: int) -> Manifest:
        """Nothing can be added after it."""
        manifest = Manifest(
            task_id=task_id, made_at=datetime.now(UTC), plain=plain, records=records, members=tuple(self._members)
        )
        content = manifest.content()
        self._archive.writestr(MANIFEST, content)
        self._archive.writestr(SIGNATURE, signer.sign(manifest_statement(content)) + "\n")
        return manifest


@contextmanager
def new_bundle(path: Path) -> Iterator[Bundle]:
    """Write to `path`, for its owner's eyes; there whole at the end of the block, or not at all. Raises: OSError."""
    temporary = path.with_name(f".{path.name}.{secrets.token_hex(4)}.part")
    try:
        temporary.touch(0o600, exist_ok=False)
        with zipfile.ZipFile(temporary, "w", zipfile.ZIP_DEFLATED) as archive:
            yield Bundle(archive)
        temporary.replace(path)
    finally:
        temporary.unlink(missing_ok=True)


def _chain(connection: sqlite3.Connection, head: Head, task_id: str, counted: list[int]) -> Iterator[bytes]:
    found = connection.execute("SELECT MIN(sequence) FROM records WHERE task_id = ?", (task_id,)).fetchone()
    first: int = found[0] or head.count + 1
    before = connection.execute("SELECT digest FROM records WHERE sequence = ?", (first - 1,)).fetchone()
    yield _line(Start(sequence=first, previous=before[0] if before else FIRST_PREVIOUS).model_dump())
    rows = connection.execute(
        "SELECT sequence, body, task_id FROM records WHERE sequence BETWEEN ? AND ? ORDER BY sequence",
        (first, head.count),
    )
    for sequence, body, owner in rows:
        if owner == task_id:
            counted.append(sequence)
            yield body.encode() + b"\n"
        else:
            yield json.dumps(digest_of(body.encode())).encode() + b"\n"


def _line(value: JsonObject) -> bytes:
    return canonical(value).encode() + b"\n"
