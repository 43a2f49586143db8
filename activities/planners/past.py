"""Fill a transcript with what it only refers to: long texts, long arguments, and the results of calls."""

import json
from collections.abc import Sequence

from contracts.blobs import BlobRef, Blobs
from contracts.tools import ToolCall, ToolResult
from contracts.transcript import PlannerTurn, ToolTurn, Turn, UserTurn
from memory.recent import Recent

RESULT_BYTES = 16 * 1024 * 1024
"""Of a very long task only so much of the newest results is read; older ones keep their headline."""

CACHE_BYTES = 48 * 1024 * 1024


class Past:
    """Reads blobs that turns name; what was read lately is not read again."""

    def __init__(self, blobs: Blobs, *, cache_bytes: int = CACHE_BYTES) -> None:
        self._blobs = blobs
        self._texts: Recent[bytes] = Recent(cache_bytes // 2)
        self._results: Recent[ToolResult] = Recent(cache_bytes // 2)

    async def filled(self, turns: Sequence[Turn]) -> tuple[Turn, ...]:
        """The turns with texts and arguments in them. Raises: BlobMissing, BlobDamaged."""
        return tuple([await self._filled(turn) for turn in turns])

    async def results(self, turns: Sequence[Turn]) -> dict[str, ToolResult]:
        """Results by call id, newest first up to RESULT_BYTES. Raises: BlobMissing, BlobDamaged."""
        found: dict[str, ToolResult] = {}
        left = RESULT_BYTES
        for turn in reversed(turns):
            if isinstance(turn, ToolTurn) and turn.result_ref is not None:
                left -= turn.result_ref.size
                if left < 0:
                    break
                found[turn.call_id] = await self._result(turn.result_ref)
        return found

    async def _filled(self, turn: Turn) -> Turn:
        if isinstance(turn, UserTurn) and turn.text_ref is not None:
            return turn.model_copy(update={"text": (await self._bytes(turn.text_ref)).decode(errors="replace")})
        if isinstance(turn, PlannerTurn) and any(call.args_ref for call in turn.calls):
            return turn.model_copy(update={"calls": tuple([await self._with_args(call) for call in turn.calls])})
        return turn

    async def _with_args(self, call: ToolCall) -> ToolCall:
        if call.args_ref is None:
            return call
        return call.model_copy(update={"args": json.loads(await self._bytes(call.args_ref))})

    async def _bytes(self, ref: BlobRef) -> bytes:
        known = self._texts.get(ref)
        if known is None:
            known = await self._blobs.get(ref)
            self._texts.keep(ref, known)
        return known

    async def _result(self, ref: BlobRef) -> ToolResult:
        known = self._results.get(ref)
        if known is None:
            known = ToolResult.model_validate_json(await self._blobs.get(ref))
            self._results.keep(ref, known)
        return known
