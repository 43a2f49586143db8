"""The vault in the KV engine (version 2) of OpenBao or HashiCorp Vault, which sees sealed boxes only.

Boxes are written first, then the document by compare-and-set, which puts them in force; then what it left behind goes.
"""

import base64
import binascii
from collections.abc import Callable, Collection, Mapping
from typing import Any

import hvac

from contracts.identity import VaultDamaged, VaultUnusable
from identity.bao import Absent, Bao, Refused
from identity.stores.store import Document, Overtaken

_STALE = "check-and-set"
"""Part of the server's words for a compare-and-set that came too late."""


class OpenBaoStore:
    """One vault below one path."""

    def __init__(self, bao: Bao, mount: str, path: str) -> None:
        """Takes `bao` over, and closes it."""
        self._bao = bao
        self._mount = mount
        self._path = path

    @property
    def place(self) -> str:
        return f"{self._bao.address} {self._mount}/{self._path}"

    async def stamp(self) -> int:
        try:
            answer = await self._kv(lambda kv: kv.read_secret_metadata(self._document, mount_point=self._mount))
        except Absent:
            return 0
        return _number(_inside(answer, "data", "current_version"), self.place)

    async def document(self) -> Document | None:
        try:
            data = await self._read(self._document)
        except Absent:
            return None
        stamp = _number(_inside(data, "metadata", "version"), self.place)
        return Document(_blob(_inside(data, "data", "content"), self.place), stamp)

    async def commit(self, content: bytes, after: int, boxes: Mapping[str, bytes], gone: Collection[str]) -> int:
        for box_id, box in boxes.items():
            await self._write(self._box(box_id), box, 0)
        try:
            if after == 0:
                await self._keep_one_version()
            stamp = await self._write(self._document, content, after)
        except Overtaken:
            await self._delete(boxes)
            raise
        await self._delete(gone)
        return stamp

    async def box(self, box_id: str) -> bytes | None:
        try:
            data = await self._read(self._box(box_id))
        except Absent:
            return None
        return _blob(_inside(data, "data", "content"), self.place)

    async def box_ids(self) -> set[str]:
        try:
            answer = await self._kv(lambda kv: kv.list_secrets(f"{self._path}/boxes", mount_point=self._mount))
        except Absent:
            return set()
        keys = _inside(answer, "data", "keys")
        return {str(key) for key in keys} if isinstance(keys, list) else set()

    async def erase_traces(self) -> None:
        """One version of the document is kept, and boxes are removed with all of theirs; the rest is the server's."""

    async def close(self) -> None:
        await self._bao.close()

    @property
    def _document(self) -> str:
        return f"{self._path}/document"

    def _box(self, box_id: str) -> str:
        return f"{self._path}/boxes/{box_id}"

    async def _read(self, path: str) -> object:
        answer = await self._kv(
            lambda kv: kv.read_secret_version(path, mount_point=self._mount, raise_on_deleted_version=True)
        )
        return _inside(answer, "data")

    async def _write(self, path: str, content: bytes, after: int) -> int:
        value = {"content": base64.b64encode(content).decode()}
        try:
            answer = await self._kv(
                lambda kv: kv.create_or_update_secret(path, value, cas=after, mount_point=self._mount)
            )
        except Absent as error:
            raise VaultUnusable(
                f"{self._bao.address} has no KV engine at {self._mount!r}; "
                f"enable it: `bao secrets enable -path={self._mount} -version=2 kv`"
            ) from error
        version = _inside(answer, "data", "version")
        if version is None:
            raise VaultUnusable(
                f"{self._mount!r} of {self._bao.address} is no KV engine of version 2; name one that is"
            )
        return _number(version, self.place)

    async def _keep_one_version(self) -> None:
        """Former documents are sealed with former keys; none of them shall stay readable."""
        try:
            await self._kv(
                lambda kv: kv.update_metadata(
                    self._document, max_versions=1, cas_required=True, mount_point=self._mount
                )
            )
        except Absent:
            return  # the write that follows says what is missing

    async def _delete(self, box_ids: Collection[str]) -> None:
        for box_id in box_ids:
            await self._delete_one(self._box(box_id))

    async def _delete_one(self, path: str) -> None:
        await self._kv(lambda kv: kv.delete_metadata_and_all_versions(path, mount_point=self._mount))

    async def _kv(self, step: Callable[[Any], Any]) -> Any:
        """`Any` is what hvac gives: its engine, and parsed JSON or an empty answer. Raises: Absent, Overtaken."""

        def call(client: hvac.Client) -> Any:
            return step(client.secrets.kv.v2)

        try:
            return await self._bao.call(call)
        except Refused as error:
            if _STALE in str(error):
                raise Overtaken from None
            raise VaultUnusable(f"{self.place} does not take it: {error}") from None


def _inside(answer: object, *names: str) -> object:
    """What lies there in an answer, or None: another engine at the same path answers otherwise."""
    for name in names:
        answer = answer.get(name) if isinstance(answer, dict) else None
    return answer


def _blob(content: object, place: str) -> bytes:
    try:
        return base64.b64decode(content if isinstance(content, str) else "?", validate=True)
    except binascii.Error:
        raise VaultDamaged(f"{place} holds something else than what was written; import your newest backup") from None


def _number(found: object, place: str) -> int:
    if not isinstance(found, int):
        raise VaultDamaged(f"{place} gives no number for a version")
    return found
