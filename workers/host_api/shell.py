"""A person's terminal over a web socket: bytes both ways, the size of the window, and the exit code at the end."""

import asyncio
from typing import Annotated

from fastapi import APIRouter, Header, Query, WebSocket
from pydantic import ValidationError
from starlette.websockets import WebSocketDisconnect

from contracts.access import BY_HEADER, ERRORS, FROM_PERSON, MOST_COLUMNS, OUTPUT, Broken, Exited, InputEnded
from contracts.sandbox import SandboxLost
from sandbox.terminal import Terminal
from workers.host_api.doors import Doors
from workers.host_api.refusal import REFUSED, Refusal, answer, problem_of

MOST_ARGUMENTS = 1_000
MOST_ARGUMENT_BYTES = 60_000
"""Of all together: they travel in the address, and to the sandbox in one line."""

Size = Annotated[int, Query(ge=0, le=MOST_COLUMNS)]


def shell_routes(doors: Doors) -> APIRouter:
    router = APIRouter()

    @router.websocket("/sandboxes/{sandbox_id}/shell")
    async def shell(
        socket: WebSocket,
        sandbox_id: str,
        epoch: Annotated[int, Query(ge=1)],
        columns: Size = 0,
        rows: Size = 0,
        argument: Annotated[list[str] | None, Query()] = None,
        by: Annotated[str, Header(alias=BY_HEADER)] = "",
    ) -> None:
        """Without columns there is no terminal but plain pipes."""
        command = tuple(argument or ())
        try:
            _require_short(command)
            box = await doors.open(sandbox_id, epoch, "shell_open", by, {"command": list(command)})
        except REFUSED as error:
            await socket.send_denial_response(answer(problem_of(error)))
            return
        await socket.accept()
        try:
            async with box.terminal(columns, rows, command) as terminal:
                await _relay(socket, terminal)
        except SandboxLost as error:
            await _end(socket, Broken(problem=problem_of(error)))

    return router


def _require_short(command: tuple[str, ...]) -> None:
    size = sum(len(each.encode("utf-8", "replace")) for each in command)
    if len(command) > MOST_ARGUMENTS or size > MOST_ARGUMENT_BYTES:
        raise Refusal("bad_request", f"the command has {len(command)} arguments of {size} bytes: put it into a file")
    if any("\0" in each for each in command):
        raise Refusal("bad_request", "a command cannot hold a NUL byte")


async def _relay(socket: WebSocket, terminal: Terminal) -> None:
    """Until the program has ended, or the person has left."""
    showing = asyncio.create_task(_show(socket, terminal))
    typing = asyncio.create_task(_type(socket, terminal))
    try:
        done, _ = await asyncio.wait([showing, typing], return_when=asyncio.FIRST_COMPLETED)
        for each in done:
            each.result()
    except WebSocketDisconnect:
        return
    finally:
        for task in (showing, typing):
            task.cancel()
        await asyncio.gather(showing, typing, return_exceptions=True)


async def _show(socket: WebSocket, terminal: Terminal) -> None:
    while True:
        stream, piece = await terminal.heard()
        if not piece:
            break
        await socket.send_bytes(bytes((ERRORS if stream == ERRORS else OUTPUT,)) + piece)
    await _end(socket, Exited(code=await terminal.wait()))


async def _type(socket: WebSocket, terminal: Terminal) -> None:
    while True:
        message = await socket.receive()
        if message["type"] == "websocket.disconnect":
            return
        if message.get("bytes") is not None:
            await terminal.write(message["bytes"])
            continue
        try:
            said = FROM_PERSON.validate_json(message.get("text") or "")
        except ValidationError as error:
            raise SandboxLost(f"not a message of a terminal: {error.error_count()} errors") from error
        if isinstance(said, InputEnded):
            terminal.end_input()
        else:
            terminal.resize(said.columns, said.rows)


async def _end(socket: WebSocket, said: Exited | Broken) -> None:
    try:
        await socket.send_text(said.model_dump_json())
        await socket.close()
    except WebSocketDisconnect:
        pass
