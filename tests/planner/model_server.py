"""A local server that answers as a provider would in bad times: what no ready-made stand-in can be told to do."""

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

from contracts.values import JsonObject


@dataclass(frozen=True)
class Canned:
    """One answer; `hang` sends nothing until the client gives up."""

    status: int = 200
    body: bytes = b""
    headers: tuple[tuple[str, str], ...] = ()
    hang: bool = False


@dataclass
class ModelServer:
    """Gives the answers in turn, the last one for ever, and keeps what it was asked."""

    answers: list[Canned]
    port: int = 0
    paths: list[str] = field(default_factory=list)
    keys: list[str] = field(default_factory=list)
    requests: list[JsonObject] = field(default_factory=list)
    asked: asyncio.Event = field(default_factory=asyncio.Event)
    """Set by the first request."""

    @property
    def base_url(self) -> str:
        return f"http://127.0.0.1:{self.port}/v1"

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1")
            fields = {
                name.lower(): value.strip()
                for name, _, value in (line.partition(":") for line in head.split("\r\n")[1:])
            }
            body = await reader.readexactly(int(fields.get("content-length", "0")))
            self.paths.append(head.split(" ")[1])
            self.keys.append(fields.get("authorization", ""))
            self.requests.append(json.loads(body or b"{}"))
            self.asked.set()
            answer = self.answers.pop(0) if len(self.answers) > 1 else self.answers[0]
            if answer.hang:
                await reader.read()
                return
            lines = [f"HTTP/1.1 {answer.status} X", "content-type: application/json", "connection: close"]
            lines += [f"content-length: {len(answer.body)}", *(f"{name}: {value}" for name, value in answer.headers)]
            writer.write("\r\n".join([*lines, "", ""]).encode() + answer.body)
            await writer.drain()
        except (ConnectionError, asyncio.IncompleteReadError):
            return
        finally:
            writer.close()


@asynccontextmanager
async def model_server(*answers: Canned) -> AsyncIterator[ModelServer]:
    described = ModelServer(list(answers))
    server = await asyncio.start_server(described.serve, "127.0.0.1", 0)
    described.port = server.sockets[0].getsockname()[1]
    try:
        yield described
    finally:
        server.close()


def words(text: str | None, finish_reason: str = "stop") -> Canned:
    return _completion({"role": "assistant", "content": text}, finish_reason)


def calls(*given: tuple[str, str], text: str | None = None) -> Canned:
    """Calls of (name, arguments as the raw string that the provider sends)."""
    listed = [
        {"id": f"call_{at}", "type": "function", "function": {"name": name, "arguments": arguments}}
        for at, (name, arguments) in enumerate(given)
    ]
    return _completion({"role": "assistant", "content": text, "tool_calls": listed}, "tool_calls")


def fault(status: int, message: str, code: str | None = None, **headers: str) -> Canned:
    body = json.dumps({"error": {"message": message, "type": "error", "code": code}}).encode()
    return Canned(status, body, tuple((name.replace("_", "-"), value) for name, value in headers.items()))


def _completion(message: dict[str, object], finish_reason: str) -> Canned:
    body = {
        "id": "c1",
        "object": "chat.completion",
        "created": 1,
        "model": "m",
        "choices": [{"index": 0, "message": message, "finish_reason": finish_reason}],
        "usage": {"prompt_tokens": 100, "completion_tokens": 10, "total_tokens": 110},
    }
    return Canned(200, json.dumps(body).encode())
