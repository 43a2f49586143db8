"""The server itself: routes calls, plays planned faults, and lets a test act as the people on the other side."""

import asyncio
import json
import time
from collections.abc import Callable
from typing import Any

import httpx

from tests.telegram_server.control import control
from tests.telegram_server.fields import read_fields
from tests.telegram_server.http import Dropped, HttpServer, Reply, Request
from tests.telegram_server.methods import METHODS, answer
from tests.telegram_server.people import People
from tests.telegram_server.refusal import Refusal
from tests.telegram_server.state import TOKEN, Call, Fault, FaultKind, State


class TelegramServer(People):
    """`async with TelegramServer() as server` serves on an ephemeral port until the block ends."""

    def __init__(self, port: int = 0) -> None:
        super().__init__(State())
        self._http = HttpServer(self._handle, port)

    async def __aenter__(self) -> "TelegramServer":
        await self._http.start()
        return self

    async def __aexit__(self, *_: object) -> None:
        await self._http.stop()

    @property
    def url(self) -> str:
        return self._http.url

    @property
    def base_url(self) -> str:
        return f"{self.url}/bot"

    @property
    def base_file_url(self) -> str:
        return f"{self.url}/file/bot"

    def fail(self, method: str, kind: FaultKind, *, times: int = 1, retry_after: int = 1, contains: str = "") -> Fault:
        """Plan a fault for the next calls of a method."""
        fault = Fault(method, kind, times, retry_after, contains)
        self.state.faults.append(fault)
        return fault

    def calls(self, method: str) -> list[Call]:
        return [call for call in self.state.calls if call.method.lower() == method.lower()]

    async def until(self, true: Callable[[], Any], seconds: float = 15.0) -> Any:
        """Waits until `true()` gives something true, and gives that. Raises: AssertionError after `seconds`."""
        deadline = time.monotonic() + seconds
        while time.monotonic() < deadline:
            if value := true():
                return value
            await asyncio.sleep(0.02)
        raise AssertionError(f"not true after {seconds} s; texts: {[m.get('text') for m in self.from_bot()]}")

    async def deliver_webhook(self, update: dict[str, Any]) -> int:
        """Calls the webhook once with this update and gives its status; it stays unacknowledged unless 200."""
        headers = {"X-Telegram-Bot-Api-Secret-Token": self.state.webhook_secret}
        async with httpx.AsyncClient() as client:
            response = await client.post(self.state.webhook_url, json=update, headers=headers, timeout=30)
        if response.status_code == 200:
            self.state.updates[:] = [u for u in self.state.updates if u["update_id"] != update["update_id"]]
        return response.status_code

    async def _handle(self, request: Request) -> Reply:
        if request.path.startswith("/control/"):
            return await control(self, request)
        if request.path.startswith(f"/file/bot{TOKEN}/"):
            return self._download(request.path.rpartition("/")[2])
        token, _, method = request.path.removeprefix("/bot").partition("/")
        if token != TOKEN:
            return _refused(Refusal(401, "Unauthorized"))
        return await self._call(method, request)

    async def _call(self, method: str, request: Request) -> Reply:
        fields = read_fields(request)
        self.state.calls.append(Call(method, dict(fields.values), time.monotonic()))
        fault = self.state.take_fault(method, fields.values)
        try:
            _refuse_by(fault)
            known = METHODS.get(method.lower())
            if known is None:
                raise Refusal(404, "Not Found")
            body = answer(await known(self.state, fields))
        except Refusal as refusal:
            return _refused(refusal)
        if fault is not None and fault.kind == "hang":
            await asyncio.Event().wait()
        if fault is not None and fault.kind == "drop":
            raise Dropped
        return Reply(200, body)

    def _download(self, file_id: str) -> Reply:
        content = self.state.files.get(file_id)
        if content is None:
            return _refused(Refusal(404, "Not Found"))
        return Reply(200, content, "application/octet-stream")


def _refuse_by(fault: Fault | None) -> None:
    if fault is None:
        return
    if fault.kind == "reset":
        raise Dropped(reset=True)
    if fault.kind == "429":
        text = f"Too Many Requests: retry after {fault.retry_after}"
        raise Refusal(429, text, fault.retry_after)
    if fault.kind == "500":
        raise Refusal(500, "Internal Server Error")


def _refused(refusal: Refusal) -> Reply:
    body: dict[str, Any] = {"ok": False, "error_code": refusal.code, "description": refusal.description}
    if refusal.retry_after is not None:
        body["parameters"] = {"retry_after": refusal.retry_after}
    return Reply(refusal.code, json.dumps(body).encode())
