"""The objects of one installation in a store: sealed manifests, listings, layers, and who owns which snapshot."""

from collections.abc import Collection, Iterable
from hashlib import sha256
from pathlib import Path

import zstandard

from contracts.sandbox import SnapshotUnusable
from sandbox.snapshots.listing import Listing, Manifest
from sandbox.snapshots.sealing import Seal, SealBroken
from sandbox.snapshots.shelf import ObjectMissing, Shelf

MOST_LISTING_BYTES = 1024**3


class Shelves:
    """Names of objects, and what is checked when one is read.

    Every layer and listing is named by the SHA-256 of its sealed bytes, and every manifest by that of its content: a
    chain from the digest that a task names to the last byte.
    """

    def __init__(self, shelf: Shelf, seal: Seal) -> None:
        self.shelf = shelf
        self.seal = seal
        self._space = seal.name(b"space")[:16]
        """Installations that share a bucket do not see each other's objects."""

    @property
    def layers(self) -> str:
        return f"{self._space}/layers"

    @property
    def manifests(self) -> str:
        return f"{self._space}/manifests"

    @property
    def listings(self) -> str:
        return f"{self._space}/listings"

    @property
    def owners(self) -> str:
        return f"{self._space}/owners"

    @property
    def marks(self) -> str:
        return f"{self._space}/marks/collecting"

    def of_owner(self, owner: str) -> str:
        return f"{self.owners}/{self.seal.name(b'owner:' + owner.encode('utf-8', 'surrogatepass'))}"

    def manifest(self, digest: str) -> str:
        return f"{self.manifests}/{digest}"

    def layer(self, name: str) -> str:
        return f"{self.layers}/{name}"

    def listing(self, name: str) -> str:
        return f"{self.listings}/{name}"

    async def write_listing(self, text: bytes) -> tuple[str, int]:
        """Gives the name of the object, and how long it is."""
        box = self.seal.close(zstandard.ZstdCompressor(level=3).compress(text), "asos/snapshot/listing")
        name = sha256(box).hexdigest()
        await self.shelf.put(self.listing(name), box)
        return name, len(box)

    async def write_manifest(self, manifest: Manifest) -> None:
        """From now on the snapshot is there."""
        digest = manifest.digest
        await self.shelf.put(f"{self.of_owner(manifest.owner)}/{digest}", b"")
        await self.shelf.put(self.manifest(digest), self.seal.close(manifest.to_bytes(), _place(digest)))

    async def read_manifest(self, digest: str) -> Manifest:
        """Raises: SnapshotUnusable, ShelfUnreachable."""
        try:
            text = self.seal.open(await self.shelf.get(self.manifest(digest)), _place(digest))
            if sha256(text).hexdigest() != digest:
                raise SealBroken("its content is not what its name says")
            return Manifest.model_validate_json(text)
        except ObjectMissing:
            raise SnapshotUnusable(f"there is no snapshot {digest}") from None
        except (SealBroken, ValueError) as error:
            raise SnapshotUnusable(f"snapshot {digest}: its manifest is unusable: {error}") from None

    async def read_listing(self, manifest: Manifest) -> Listing:
        """Raises: SnapshotUnusable, ShelfUnreachable."""
        told = f"snapshot {manifest.digest}: its listing {manifest.listing}"
        try:
            box = await self.shelf.get(self.listing(manifest.listing))
            if sha256(box).hexdigest() != manifest.listing:
                raise SealBroken("it was changed")
            plain = self.seal.open(box, "asos/snapshot/listing")
            text = zstandard.ZstdDecompressor().decompress(plain, max_output_size=MOST_LISTING_BYTES)
            return Listing.from_bytes(text)
        except ObjectMissing:
            raise SnapshotUnusable(f"{told} is missing") from None
        except (SealBroken, zstandard.ZstdError, ValueError) as error:
            raise SnapshotUnusable(f"{told} is unusable: {error}") from None

    async def digests_of(self, owner: str) -> list[str]:
        """Of the snapshots that belong to an owner, or that once did."""
        return [_last(name) for name in await self.shelf.names(self.of_owner(owner))]

    async def digests_of_all(self, owners: Collection[str]) -> set[str]:
        """The same for several owners at once."""
        folders = {self.of_owner(owner) for owner in owners}
        found = [name.rpartition("/") for name in await self.shelf.names(self.owners)]
        return {digest for folder, _, digest in found if folder in folders}

    async def remove(self, manifests: Iterable[Manifest]) -> None:
        """The snapshots are no longer there; their data is collected later."""
        found = list(manifests)
        await self.shelf.delete([self.manifest(each.digest) for each in found])
        await self.shelf.delete([f"{self.of_owner(each.owner)}/{each.digest}" for each in found])

    async def missing_layers(self, layers: Collection[str]) -> set[str]:
        return {_last(name) for name in await self.shelf.missing([self.layer(name) for name in layers])}

    async def bring_layer(self, manifest: Manifest, name: str, scratch: Path) -> Path:
        """A file with the layer. Raises: SnapshotUnusable, ShelfUnreachable."""
        try:
            return await self.shelf.local(self.layer(name), scratch)
        except ObjectMissing:
            raise SnapshotUnusable(f"snapshot {manifest.digest}: its layer {name} is missing") from None


def _place(digest: str) -> str:
    return f"asos/snapshot/manifest:{digest}"


def _last(name: str) -> str:
    return name.rpartition("/")[2]
