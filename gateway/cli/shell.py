"""`asos shell`: a terminal in a sandbox, or a program there behind plain pipes."""

import asyncio
from contextlib import ExitStack, suppress
from functools import partial
from signal import SIGPIPE
from typing import Annotated

import typer

from contracts.access import OUTPUT
from gateway.cli import local_terminal as here
from gateway.cli.office import Office, run
from gateway.cli.reaching import reached
from gateway.cli.sandboxes import PANEL, Which
from gateway.host_client import HostUnreachable, Shell
from runtime.settings import Settings

SIGNALLED = 128
"""A shell's way to say which signal ended a program: this and the signal's number."""


def register(app: typer.Typer, settings: Settings) -> None:
    """Add the command."""

    @app.command(rich_help_panel=PANEL)
    def shell(
        which: Which,
        command: Annotated[
            list[str] | None, typer.Argument(metavar="[-- CMD ARGS…]", help="Run this instead of a shell.")
        ] = None,
    ) -> None:
        """Open a terminal in a sandbox. The exit code is that of the shell or of the command.

        Without a terminal here (`asos shell ID < script`, `asos shell ID -- CMD > file`) it gets plain pipes.
        """
        run(settings, lambda office: _open(office, which, tuple(command or ())))


async def _open(office: Office, which: str, command: tuple[str, ...]) -> int:
    columns, rows = here.size() if here.is_terminal() else (0, 0)
    async with reached(office, which) as there, there.host.shell(there.lease, columns, rows, command) as far:
        here.flush()
        return await _joined(far, at_terminal=columns > 0)


async def _joined(far: Shell, *, at_terminal: bool) -> int:
    """Both ends joined until the far one ends, or a signal ends this one; gives the exit code.

    Raises: HostUnreachable, HostRefused."""
    ended: asyncio.Future[int] = asyncio.get_running_loop().create_future()
    size_changed = asyncio.Event()
    with ExitStack() as owned:
        if at_terminal:
            owned.enter_context(here.raw())
            owned.enter_context(here.watched(size_changed.set, partial(_end, ended)))
        showing = asyncio.create_task(_shown(far))
        others = [
            asyncio.create_task(_type(far, ends_input=not at_terminal)),
            asyncio.create_task(_resize(far, size_changed)),
        ]
        try:
            await asyncio.wait([showing, ended], return_when=asyncio.FIRST_COMPLETED)
            return ended.result() if ended.done() else await showing
        finally:
            for task in (showing, *others):
                task.cancel()
            await asyncio.gather(showing, *others, return_exceptions=True)


def _end(ended: "asyncio.Future[int]", number: int) -> None:
    if not ended.done():
        ended.set_result(SIGNALLED + number)


async def _shown(far: Shell) -> int:
    while not isinstance(piece := await far.read(), int):
        stream, data = piece
        try:
            await here.show(here.STDOUT if stream == OUTPUT else here.STDERR, data)
        except BrokenPipeError:
            # As with any program whose output nobody reads any more.
            return SIGNALLED + SIGPIPE
    return piece


async def _type(far: Shell, *, ends_input: bool) -> None:
    """What the connection has to say about its end, the reading side says."""
    with suppress(HostUnreachable):
        async for piece in here.typed():
            await far.write(piece)
        if ends_input:
            await far.end_input()


async def _resize(far: Shell, size_changed: asyncio.Event) -> None:
    with suppress(HostUnreachable):
        while await size_changed.wait():
            size_changed.clear()
            await far.resize(*here.size())
