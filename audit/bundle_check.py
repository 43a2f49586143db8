"""Check a bundle with nothing at hand but the bundle and the fingerprint of the key: every byte of every member."""

import hashlib
import json
import lzma
import struct
import zipfile
import zlib
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from pydantic import ValidationError

from audit.bundle import CHAIN, HEAD, KEY, MANIFEST, SIGNATURE, SIGNED_APART, Manifest, Start, manifest_statement
from audit.chain import Head, HeadBroken, Record, digest_of, linked
from audit.signing import KeyUnusable, PublicKey
from audit.verifying import Broken, Intact

PIECE_BYTES = 1_048_576
MOST_SMALL_BYTES = 4_096
MOST_MANIFEST_BYTES = 64 * 1_048_576
MOST_LINE_BYTES = 64 * 1_048_576

_UNREADABLE = (
    zipfile.BadZipFile,
    zlib.error,
    lzma.LZMAError,
    struct.error,
    EOFError,
    OSError,
    RuntimeError,
    ValueError,
)
"""What reading a damaged zip file raises, an encryption that is not there and an unknown method included."""


class _Found(Exception):
    """Raised at the first thing that is wrong."""

    def __init__(self, broken: Broken) -> None:
        super().__init__(broken.reason)
        self.broken = broken


def checked_bundle(path: Path, fingerprint: str = "") -> Intact | Broken:
    """Without a fingerprint whoever made the bundle may have signed it with any key. Raises: OSError if unreadable."""
    with path.open("rb") as file:
        try:
            with zipfile.ZipFile(file) as archive:
                return _checked(archive, fingerprint)
        except _Found as found:
            return found.broken
        except (*_UNREADABLE, KeyError) as error:
            return Broken(reason="bundle_unreadable", detail=f"{type(error).__name__}: {error}")


def manifest_of(path: Path) -> Manifest:
    """Of a bundle that has been checked."""
    with zipfile.ZipFile(path) as archive:
        return Manifest.model_validate_json(archive.read(MANIFEST))


def _checked(archive: zipfile.ZipFile, fingerprint: str) -> Intact | Broken:
    names = Counter(info.filename for info in archive.infolist())
    twice = next((name for name, times in names.items() if times > 1), None)
    if twice is not None:
        raise _Found(Broken(reason="member_unlisted", detail=twice))
    for name in (KEY, MANIFEST, SIGNATURE, HEAD, CHAIN):
        if name not in names:
            raise _Found(Broken(reason="member_missing", detail=name))
    key = _key(archive, fingerprint)
    manifest = _manifest(archive, key)
    listed = {member.name for member in manifest.members}
    if foreign := set(names) - listed - SIGNED_APART:
        raise _Found(Broken(reason="member_unlisted", detail=min(foreign)))
    for member in manifest.members:
        if member.name not in names:
            raise _Found(Broken(reason="member_missing", detail=member.name))
        if _digest(archive, member.name, member.size) != member.sha256:
            raise _Found(Broken(reason="member_altered", detail=member.name))
    return _chain(archive, key, manifest)


def _key(archive: zipfile.ZipFile, fingerprint: str) -> PublicKey:
    try:
        key = PublicKey.read(_small(archive, KEY, MOST_SMALL_BYTES))
    except KeyUnusable as error:
        raise _Found(Broken(reason="key_broken", detail=str(error))) from None
    if fingerprint and key.fingerprint != fingerprint:
        raise _Found(Broken(reason="key_swapped", detail=key.fingerprint))
    return key


def _manifest(archive: zipfile.ZipFile, key: PublicKey) -> Manifest:
    content = _small(archive, MANIFEST, MOST_MANIFEST_BYTES)
    signature = _small(archive, SIGNATURE, MOST_SMALL_BYTES)
    if not signature.endswith(b"\n") or not key.verifies(
        manifest_statement(content), signature[:-1].decode("ascii", "replace")
    ):
        raise _Found(Broken(reason="manifest_broken", detail="its signature does not fit"))
    try:
        return Manifest.model_validate_json(content)
    except ValidationError:
        raise _Found(Broken(reason="manifest_broken", detail="it cannot be read")) from None


def _small(archive: zipfile.ZipFile, name: str, most: int) -> bytes:
    try:
        with archive.open(name) as member:
            content = member.read(most + 1)
            member.read(1)  # to the end, where its checksum is looked at
    except _UNREADABLE as error:
        raise _Found(Broken(reason="member_altered", detail=f"{name}: {error}")) from None
    if len(content) > most:
        raise _Found(Broken(reason="member_altered", detail=f"{name}: it is too long"))
    return content


def _digest(archive: zipfile.ZipFile, name: str, size: int) -> str:
    """Reads at most one piece more than the manifest promises: what unpacks for ever is not unpacked."""
    digest, seen = hashlib.sha256(), 0
    try:
        with archive.open(name) as member:
            while piece := member.read(PIECE_BYTES):
                digest.update(piece)
                seen += len(piece)
                if seen > size:
                    return ""
    except _UNREADABLE as error:
        raise _Found(Broken(reason="member_altered", detail=f"{name}: {error}")) from None
    return digest.hexdigest()


def _chain(archive: zipfile.ZipFile, key: PublicKey, manifest: Manifest) -> Intact:
    try:
        head = Head.read(_small(archive, HEAD, MOST_SMALL_BYTES), key)
    except HeadBroken as error:
        raise _Found(Broken(reason="head_broken", detail=str(error))) from None
    lines = _lines(archive)
    start = Start.model_validate_json(next(lines, b""))
    count, digest, own = start.sequence - 1, start.previous, 0
    for line in lines:
        count += 1
        if line.startswith(b'"'):
            digest = linked(digest, json.loads(line))
            continue
        own += 1
        record = Record.model_validate_json(line)
        if (record.sequence, record.task_id) != (count, manifest.task_id):
            raise _Found(Broken(reason="moved", sequence=count))
        digest = linked(digest, digest_of(line))
    if (count, digest, own) != (head.count, head.digest, manifest.records):
        raise _Found(Broken(reason="diverged", sequence=count))
    return Intact(records=own, head=digest, fingerprint=key.fingerprint)


def _lines(archive: zipfile.ZipFile) -> Iterator[bytes]:
    with archive.open(CHAIN) as member:
        while line := member.readline(MOST_LINE_BYTES):
            yield line.removesuffix(b"\n")
