"""Model servers as processes and threads of their own: fakellm, and one that answers as a provider in bad times."""

import asyncio
import subprocess
import sys
import threading
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.e2e.stack import eventually
from tests.planner.model_server import Canned, ModelServer, model_server
from tests.ports import free_port


@contextmanager
def fakellm(folder: Path, rules: str) -> Iterator[str]:
    """A mock model server written by others; gives its base URL."""
    config, port = folder / "fakellm.yaml", free_port()
    config.write_text(rules)
    command = [str(Path(sys.executable).with_name("fakellm")), "serve", "--port", str(port), "--config", str(config)]
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as process:
        try:
            eventually(lambda: _answers(f"http://127.0.0.1:{port}/_fakellm/stats"))
            yield f"http://127.0.0.1:{port}/v1"
        finally:
            process.terminate()


def _answers(url: str) -> bool | None:
    try:
        with urllib.request.urlopen(url, timeout=1):  # noqa: S310  # our own loopback server
            return True
    except OSError:
        return None


class ModelCloud:
    """One provider; each test says what it answers next."""

    def __init__(self, server: ModelServer) -> None:
        self._server = server

    @property
    def base_url(self) -> str:
        return self._server.base_url

    @property
    def asked(self) -> int:
        """How many requests it has had since the answers were set."""
        return len(self._server.requests)

    def will_answer(self, *answers: Canned) -> None:
        """In turn, the last one for ever."""
        self._server.requests.clear()
        self._server.answers[:] = answers


@contextmanager
def model_cloud() -> Iterator[ModelCloud]:
    loop = asyncio.new_event_loop()
    thread = threading.Thread(target=loop.run_forever)
    thread.start()
    serving = model_server(Canned(500))
    try:
        server = asyncio.run_coroutine_threadsafe(serving.__aenter__(), loop).result(10)
        yield ModelCloud(server)
        asyncio.run_coroutine_threadsafe(serving.__aexit__(None, None, None), loop).result(10)
    finally:
        loop.call_soon_threadsafe(loop.stop)
        thread.join()
        loop.close()
