"""Payloads are sealed, opened, and refused with a clear word when they cannot be."""

from pathlib import Path

import pytest
from temporalio.api.common.v1 import Payload

from runtime.codec import INLINE_BYTES, EncryptionCodec, PayloadUnreadable
from runtime.keys import Keyring


@pytest.mark.parametrize("size", [0, 1, 10_000, INLINE_BYTES, 1_500_000])
async def test_a_payload_comes_back_as_it_was(tmp_path: Path, size: int) -> None:
    codec = EncryptionCodec(Keyring.load(tmp_path))
    payload = Payload(metadata={"encoding": b"json/plain", "messageType": b"x"}, data=b"s" * size)

    sealed = await codec.encode([payload, payload])

    assert await codec.decode(sealed) == [payload, payload]
    assert sealed[0].data != sealed[1].data


async def test_neither_content_nor_kind_shows(tmp_path: Path) -> None:
    keyring = Keyring.load(tmp_path)
    payload = Payload(metadata={"encoding": b"json/plain", "messageType": b"Canary"}, data=b'"canary in the goal"')

    [sealed] = await EncryptionCodec(keyring).encode([payload])

    assert b"canary" not in sealed.SerializeToString().lower()
    assert sealed.metadata["encryption-key-id"] == keyring.active_key_id.encode()


async def test_what_the_temporal_ui_sends_in_clear_passes(tmp_path: Path) -> None:
    plain = Payload(metadata={"encoding": b"json/plain"}, data=b'{"approval_id":"a"}')

    assert await EncryptionCodec(Keyring.load(tmp_path)).decode([plain]) == [plain]


async def test_a_payload_of_another_installation_names_the_key(tmp_path: Path) -> None:
    there = Keyring.load(tmp_path / "there")
    [sealed] = await EncryptionCodec(there).encode([Payload(data=b"x")])

    with pytest.raises(PayloadUnreadable, match=there.active_key_id):
        await EncryptionCodec(Keyring.load(tmp_path / "here")).decode([sealed])


async def test_a_damaged_payload_is_refused(tmp_path: Path) -> None:
    codec = EncryptionCodec(Keyring.load(tmp_path))
    [sealed] = await codec.encode([Payload(data=b"x" * 100)])
    damaged = Payload(metadata=sealed.metadata, data=sealed.data[:-1])

    with pytest.raises(PayloadUnreadable, match="altered"):
        await codec.decode([damaged])


async def test_old_payloads_open_after_a_rotation(tmp_path: Path) -> None:
    keyring = Keyring.load(tmp_path)
    codec = EncryptionCodec(keyring)
    sealed = await codec.encode([Payload(data=b"old")])

    keyring.rotate()

    assert await codec.decode(sealed) == [Payload(data=b"old")]
