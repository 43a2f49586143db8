"""The arithmetic of the chain: each record's digest covers all before it, and a signature covers count and digest.

The digest is SHA-256 of the digest before and the SHA-256 of the record's body. So a proof that some records belong to
a chain needs the bodies of these alone, and of all others nothing but the SHA-256.
"""

import hashlib
import json
from datetime import datetime
from pathlib import Path
from typing import Self

from pydantic import ValidationError

from audit.signing import PublicKey, Signer
from contracts.values import JsonObject, Value

FIRST_PREVIOUS = "0" * 64
HEAD_BYTES = 512
"""One sector of a disk, so that it is written whole or not at all."""


class Record(Value):
    """One line of the log."""

    sequence: int
    at: datetime
    kind: str
    """What happened, such as `approval.decided`, `effect.begun`, `login.refused`."""
    task_id: str | None
    actor: str
    """Who did it: `<channel>:<user id>`, or the name of a part."""
    data: JsonObject
    call_id: str | None = None
    digest: str = ""
    """Of what it is about, such as an approval's."""
    policy_version: str = ""
    position: str = ""
    """Where in the task's history: `<run id>/<activity id>/<attempt>`."""
    words: str = ""
    """A sealed box; opened only with the installation's keyring."""

    def body(self) -> str:
        """The one spelling that digests are taken of; half a surrogate pair, which no reader takes, becomes `?`."""
        return canonical(self.model_dump(mode="json"))


class HeadBroken(Exception):
    """Raised when the head is not one that this key has signed; the text says what is wrong."""


class Head(Value):
    """How long the chain is and what it ends with, signed."""

    count: int
    digest: str
    at: datetime
    key_id: str
    signature: str = ""

    @classmethod
    def signed(cls, count: int, digest: str, at: datetime, signer: Signer) -> Self:
        plain = cls(count=count, digest=digest, at=at, key_id=signer.public.key_id)
        return plain.model_copy(update={"signature": signer.sign(plain._statement())})

    @classmethod
    def read(cls, content: bytes, key: PublicKey) -> Self:
        """Raises: HeadBroken. One changed byte is enough, even if it would mean the same."""
        try:
            head = cls.model_validate_json(content[:HEAD_BYTES])
        except ValidationError:
            raise HeadBroken("it cannot be read") from None
        if head.content() != content:
            raise HeadBroken("it is not spelled as it was written")
        if head.key_id != key.key_id:
            raise HeadBroken(f"it is signed with key {head.key_id}, and the public key is {key.key_id}")
        if not key.verifies(head._statement(), head.signature):
            raise HeadBroken("its signature does not fit")
        return head

    @classmethod
    def load(cls, path: Path, key: PublicKey) -> Self:
        """Of a log that may be written meanwhile: what was read half old and half new is another when read again.

        Raises: HeadBroken, OSError.
        """
        content = path.read_bytes()
        while True:
            try:
                return cls.read(content, key)
            except HeadBroken:
                if (again := path.read_bytes()) == content:
                    raise
                content = again

    def content(self) -> bytes:
        """Always of the same length, so that it can be written where the one before was."""
        return canonical(self.model_dump(mode="json")).encode().ljust(HEAD_BYTES - 1) + b"\n"

    def _statement(self) -> bytes:
        return f"asos audit head v1\n{self.count}\n{self.digest}\n{self.at.isoformat()}\n{self.key_id}".encode()


def linked(previous: str, body_digest: str) -> str:
    """The digest of the record that comes after `previous`."""
    return hashlib.sha256(bytes.fromhex(previous) + bytes.fromhex(body_digest)).hexdigest()


def digest_of(body: bytes) -> str:
    return hashlib.sha256(body).hexdigest()


def row_statement(count: int, digest: str) -> bytes:
    """What each record's signature is of."""
    return f"asos audit record v1\n{count}\n{digest}".encode()


def canonical(value: object) -> str:
    text = json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    return text.encode("utf-8", "replace").decode()
