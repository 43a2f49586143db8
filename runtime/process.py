"""Run a main module until a signal asks it to stop, and then let it end in order."""

import asyncio
import logging
import signal
from collections.abc import Callable, Coroutine

STOP_SIGNALS = (signal.SIGTERM, signal.SIGINT)

Serve = Callable[[asyncio.Event], Coroutine[None, None, None]]
"""Works until the event is set, then closes what it opened and returns."""

_log = logging.getLogger(__name__)


class CannotStart(Exception):
    """Raised when something that the person can mend keeps a process from starting; the text says what, and how."""


def run_until_signal(serve: Serve) -> int:
    """Run `serve` in a new event loop. The exit code is 0 after an orderly end, 1 after an exception, which is logged.

    The first SIGTERM or SIGINT sets the event; the second one cancels.
    """
    try:
        asyncio.run(_run(serve))
    except asyncio.CancelledError:
        _log.warning("stopped by a second signal, before everything was closed")
        return 1
    except CannotStart as reason:
        _log.error("%s", reason)
        return 1
    except Exception:
        _log.exception("ended by an error")
        return 1
    return 0


async def _run(serve: Serve) -> None:
    loop = asyncio.get_running_loop()
    stop = asyncio.Event()
    work = loop.create_task(serve(stop))

    def asked_to_stop() -> None:
        if stop.is_set():
            work.cancel()
        stop.set()

    for number in STOP_SIGNALS:
        loop.add_signal_handler(number, asked_to_stop)
    try:
        await work
    finally:
        for number in STOP_SIGNALS:
            loop.remove_signal_handler(number)
