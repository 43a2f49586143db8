"""The person's terminal while a program elsewhere has it: raw, and given back whatever happens."""

import asyncio
import os
import sys
import termios
import tty
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import contextmanager
from signal import SIGHUP, SIGTERM, SIGWINCH

PIECE_BYTES = 65_536
STDIN, STDOUT, STDERR = 0, 1, 2
ENDING = (SIGTERM, SIGHUP)


def is_terminal() -> bool:
    """Whether somebody both types here and looks here."""
    return os.isatty(STDIN) and os.isatty(STDOUT)


def size() -> tuple[int, int]:
    """Columns and rows."""
    columns, rows = os.get_terminal_size(STDOUT)
    return max(columns, 1), max(rows, 1)


@contextmanager
def raw() -> Iterator[None]:
    """Every key goes on as it is, Ctrl-C too."""
    before = termios.tcgetattr(STDIN)
    tty.setraw(STDIN, termios.TCSADRAIN)
    try:
        yield
    finally:
        termios.tcsetattr(STDIN, termios.TCSADRAIN, before)


@contextmanager
def watched(on_resize: Callable[[], None], on_end: Callable[[int], None]) -> Iterator[None]:
    """Tells of a new size, and of the signals that would end this process before it has tidied up."""
    loop = asyncio.get_running_loop()
    loop.add_signal_handler(SIGWINCH, on_resize)
    for number in ENDING:
        loop.add_signal_handler(number, on_end, number)
    try:
        yield
    finally:
        for number in (SIGWINCH, *ENDING):
            loop.remove_signal_handler(number)


async def typed() -> AsyncIterator[bytes]:
    """What comes from standard input, until its end."""
    while True:
        try:
            await _readable(STDIN)
        except PermissionError:
            # A plain file is always readable, and cannot be waited for.
            piece = await asyncio.to_thread(os.read, STDIN, PIECE_BYTES)
        else:
            piece = os.read(STDIN, PIECE_BYTES)
        if not piece:
            return
        yield piece


async def show(stream: int, data: bytes) -> None:
    """Raises: BrokenPipeError if nobody reads it any more."""
    await asyncio.to_thread(_write, stream, data)


def flush() -> None:
    """What was printed before must come first."""
    sys.stdout.flush()
    sys.stderr.flush()


def _write(stream: int, data: bytes) -> None:
    while data:
        data = data[os.write(stream, data) :]


async def _readable(stream: int) -> None:
    loop = asyncio.get_running_loop()
    ready: asyncio.Future[None] = loop.create_future()

    def is_ready() -> None:
        if not ready.done():
            ready.set_result(None)

    loop.add_reader(stream, is_ready)
    try:
        await ready
    finally:
        loop.remove_reader(stream)
