"""A server that counts what reaches it: effects of a sandbox on the world outside."""

from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread


class Hits:
    """How often somebody came; `grant` is the `--allow-host` that opens it at http://hits.test/."""

    def __init__(self, port: int) -> None:
        self.count = 0
        self.grant = f"hits.test:80=127.0.0.1:{port}"


@contextmanager
def hits() -> Iterator[Hits]:
    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            heard.count += 1
            self.send_response(204)
            self.end_headers()

        def log_message(self, format: str, *args: object) -> None:
            """The count says it."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    heard = Hits(server.server_address[1])
    thread = Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield heard
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
