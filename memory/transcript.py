"""The turns of a task as linked, content-addressed pages: adding to a transcript never rewrites it."""

from collections.abc import Sequence

from contracts.blobs import BlobRef, Blobs
from contracts.transcript import TranscriptPage, Turn
from memory.recent import Recent

CACHE_BYTES = 32 * 1024 * 1024


class Transcript:
    """Reads and extends transcripts. A page is one stored blob, and its reference names the whole past as well."""

    def __init__(self, blobs: Blobs, *, cache_bytes: int = CACHE_BYTES) -> None:
        self._blobs = blobs
        self._pages: Recent[TranscriptPage] = Recent(cache_bytes)

    async def append(self, ref: BlobRef | None, turns: Sequence[Turn]) -> BlobRef:
        """Store `turns` as the page after `ref`. The same turns after the same page give the same reference."""
        if ref is not None and not turns:
            return ref
        page = TranscriptPage(previous=ref, turns=tuple(turns))
        stored = await self._blobs.put(page.model_dump_json().encode())
        self._pages.keep(stored, page)
        return stored

    async def read(self, ref: BlobRef | None) -> tuple[Turn, ...]:
        """All turns, oldest first. Raises: BlobMissing, BlobDamaged."""
        pages: list[TranscriptPage] = []
        while ref is not None:
            page = await self._page(ref)
            pages.append(page)
            ref = page.previous
        return tuple(turn for page in reversed(pages) for turn in page.turns)

    async def _page(self, ref: BlobRef) -> TranscriptPage:
        known = self._pages.get(ref)
        if known is not None:
            return known
        page = TranscriptPage.model_validate_json(await self._blobs.get(ref))
        self._pages.keep(ref, page)
        return page
