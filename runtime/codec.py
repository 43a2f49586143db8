"""Encrypt every payload before Temporal sees it.

The associated data names the purpose and not the workflow: a result sealed by a child is opened by its parent, a carry
by the next run, and all of them by the codec endpoint, which is not told whose payload it shows.
"""

import asyncio
from collections.abc import Callable, Sequence

from google.protobuf.message import DecodeError
from temporalio.api.common.v1 import Payload
from temporalio.converter import PayloadCodec

from runtime.keys import Keyring, SealBroken, UnknownKey

ENCODING = b"binary/encrypted"
ASSOCIATED = b"asos/temporal-payload"

INLINE_BYTES = 262_144
"""Larger payloads are sealed in a thread: AES runs at about 1 GB/s, so this is a quarter of a millisecond."""


class PayloadUnreadable(Exception):
    """Raised when a payload does not open: another installation's key, or altered bytes; the text says which."""


class EncryptionCodec(PayloadCodec):
    """AES-256-GCM with the keyring's active key; what was never encrypted passes, as the Temporal UI sends it."""

    def __init__(self, keyring: Keyring) -> None:
        self._keyring = keyring

    async def encode(self, payloads: Sequence[Payload]) -> list[Payload]:
        return [await _ran(self._seal, payload) for payload in payloads]

    async def decode(self, payloads: Sequence[Payload]) -> list[Payload]:
        """Raises: PayloadUnreadable."""
        return [
            await _ran(self._open, payload) if payload.metadata.get("encoding") == ENCODING else payload
            for payload in payloads
        ]

    def _seal(self, payload: Payload) -> Payload:
        return Payload(
            metadata={
                "encoding": ENCODING,
                "encryption-cipher": b"AES-256-GCM",
                "encryption-key-id": self._keyring.active_key_id.encode(),
            },
            data=self._keyring.seal(payload.SerializeToString(), ASSOCIATED),
        )

    def _open(self, payload: Payload) -> Payload:
        try:
            return Payload.FromString(self._keyring.unseal(payload.data, ASSOCIATED))
        except (UnknownKey, SealBroken, DecodeError) as error:
            raise PayloadUnreadable(f"a payload cannot be read: {error}") from error


async def _ran(step: Callable[[Payload], Payload], payload: Payload) -> Payload:
    if len(payload.data) < INLINE_BYTES:
        return step(payload)
    return await asyncio.to_thread(step, payload)
