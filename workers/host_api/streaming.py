"""Sends pieces as they come, reads no faster than they are taken, and stops when nobody takes them any more."""

import asyncio
import logging
from collections.abc import AsyncIterator, Mapping
from contextlib import AbstractAsyncContextManager

from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from workers.host_api.refusal import REFUSED

_log = logging.getLogger(__name__)


class Streamed(Response):
    """The first piece is had before the answer begins, so that a refusal still has its status. An answer that breaks
    off is never ended, which the receiver notices."""

    def __init__(
        self,
        pieces: AbstractAsyncContextManager[AsyncIterator[bytes]],
        media_type: str,
        headers: Mapping[str, str] | None = None,
    ) -> None:
        super().__init__(media_type=media_type, headers=headers)
        del self.headers["content-length"]
        self._pieces = pieces

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        async with self._pieces as pieces:
            first = await anext(pieces, b"")
            leaving = asyncio.create_task(_left(receive))
            try:
                await send({"type": "http.response.start", "status": self.status_code, "headers": self.raw_headers})
                await _send(first, send)
                async for piece in pieces:
                    if leaving.done():
                        return
                    await _send(piece, send)
                await send({"type": "http.response.body", "body": b"", "more_body": False})
            except REFUSED as error:
                _log.warning("%s broke off: %s", scope["path"], error)
            finally:
                leaving.cancel()
                await asyncio.gather(leaving, return_exceptions=True)


async def _send(piece: bytes, send: Send) -> None:
    await send({"type": "http.response.body", "body": piece, "more_body": True})


async def _left(receive: Receive) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass
