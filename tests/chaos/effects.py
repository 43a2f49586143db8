"""A server that counts what reaches it, and files that grow: what an agent does to the world, with the times."""

import time
from collections import defaultdict
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Lock, Thread

NAME = "effects.test"

PAGE = b"""<!doctype html><title>polls</title><p>It polls.</p><script>
setInterval(() => fetch('/tick/' + location.pathname.split('/').pop(), {cache: 'no-store'}).catch(() => 0), 50)
</script>"""
PIECE = b"x" * 4_096


class Effects:
    """Seconds since the epoch of each effect, by the name that its path ends with."""

    def __init__(self, port: int) -> None:
        self.port = port
        self._times: dict[str, list[float]] = defaultdict(list)
        self._lock = Lock()

    @property
    def host(self) -> str:
        """The `--allow-host` that opens it to a task."""
        return f"{NAME}:80=127.0.0.1:{self.port}"

    def note(self, name: str) -> None:
        with self._lock:
            self._times[name].append(time.time())

    def of(self, name: str) -> list[float]:
        with self._lock:
            return list(self._times[name])


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    effects: Effects

    def do_GET(self) -> None:
        kind, _, name = self.path.strip("/").partition("/")
        self.effects.note(name)
        if kind in ("page", "download"):
            self._never_ends(kind, name)
        else:
            self._says(b"counted\n", "text/plain")

    def do_POST(self) -> None:
        """A model that thinks for as long as somebody waits for it."""
        self.rfile.read(int(self.headers.get("Content-Length", "0")))
        self.effects.note("model")
        self.connection.settimeout(0.05)
        while True:
            try:
                if not self.connection.recv(1):
                    break
            except TimeoutError:
                self.effects.note("model")
        self.close_connection = True

    def _says(self, body: bytes, kind: str) -> None:
        self.send_response(200)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def _never_ends(self, kind: str, name: str) -> None:
        self.send_response(200)
        self.send_header("Content-Type", "text/html" if kind == "page" else "application/octet-stream")
        self.send_header("Content-Length", "1000000000")
        self.end_headers()
        self.wfile.write(PAGE if kind == "page" else PIECE)
        self.close_connection = True
        with suppress(OSError):
            while True:
                time.sleep(0.05)
                self.wfile.write(b" " if kind == "page" else PIECE)
                self.wfile.flush()
                if kind == "download":
                    self.effects.note(name)

    def log_message(self, format: str, *args: object) -> None:
        """The times say it all."""


class _Server(ThreadingHTTPServer):
    daemon_threads = True

    def handle_error(self, request: object, client_address: object) -> None:
        """Connections that are cut are what this is about."""


@contextmanager
def counting() -> Iterator[Effects]:
    """Count while the block runs."""
    effects = Effects(0)
    server = _Server(("127.0.0.1", 0), type("Handler", (_Handler,), {"effects": effects}))
    effects.port = server.server_address[1]
    thread = Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield effects
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
