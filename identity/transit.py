"""The master key that never leaves OpenBao: its transit engine wraps and unwraps the data keys."""

import base64
import re

import hvac

from contracts.identity import VaultLocked, VaultUnusable
from identity.bao import Absent, Bao, Refused
from identity.document import Lock
from identity.unlocking import WrongKey

_NAME = re.compile(r"[a-z0-9][a-z0-9._-]{0,62}")


class TransitKey:
    """One key of the transit engine."""

    def __init__(self, bao: Bao, mount: str, key_name: str) -> None:
        self._bao = bao
        self._mount = mount
        self._key_name = key_name

    async def wrap(self, key: bytearray, bound_to: bytes) -> bytes:
        plain, about = base64.b64encode(key).decode(), base64.b64encode(bound_to).decode()

        def step(client: hvac.Client) -> bytes:
            answer = client.secrets.transit.encrypt_data(
                self._key_name, plain, mount_point=self._mount, associated_data=about
            )
            return str(answer["data"]["ciphertext"]).encode()

        try:
            return await self._bao.call(step)
        except (Absent, Refused) as error:
            raise VaultUnusable(
                f"the transit key {self._key_name!r} of {self._bao.address} cannot wrap: {error}"
            ) from None

    async def unwrap(self, wrapped: bytes, bound_to: bytes) -> bytearray:
        about = base64.b64encode(bound_to).decode()

        def step(client: hvac.Client) -> bytearray:
            answer = client.secrets.transit.decrypt_data(
                self._key_name, wrapped.decode("ascii", "replace"), mount_point=self._mount, associated_data=about
            )
            return bytearray(base64.b64decode(answer["data"]["plaintext"]))

        try:
            return await self._bao.call(step)
        except (Absent, Refused) as error:
            raise WrongKey(f"the transit key {self._key_name!r} of {self._bao.address} refuses: {error}") from None

    def forget(self) -> None:
        """It was never here."""


class Transit:
    """Gives the master key as long as the server lets us use it."""

    def __init__(self, bao: Bao, mount: str) -> None:
        self._bao = bao
        self._mount = mount

    async def master_key(self, vault_id: str, lock: Lock) -> TransitKey:
        if not _NAME.fullmatch(lock.key_name):
            raise VaultLocked(f"{lock.key_name!r} is no name of a transit key")
        return TransitKey(self._bao, self._mount, lock.key_name)

    def still_open(self, vault_id: str, lock: Lock) -> bool:
        return True

    async def make(self, key_name: str) -> TransitKey:
        """A key of that name, unless there is one. Raises: VaultUnusable."""
        try:
            await self._bao.call(
                lambda client: client.write_data(f"{self._mount}/keys/{key_name}", data={"type": "aes256-gcm96"})
            )
        except (Absent, Refused) as error:
            raise VaultUnusable(
                f"{self._bao.address} has no transit engine at {self._mount!r}: {error}; "
                f"enable it: `bao secrets enable -path={self._mount} transit`"
            ) from None
        return TransitKey(self._bao, self._mount, key_name)
