"""A small site of our own, so that a demonstration has something real to browse without any network."""

from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread

PAGES = {
    "/": (
        "The lighthouse at Cape Verity",
        """
        <p>The lighthouse at Cape Verity was built in 1874 after three ships had been lost on the reef in one winter.
        Its first keeper, Maria Okonjo, kept a log for thirty-one years and missed no night.</p>
        <p>In 1931 the oil lamp gave way to an electric one, and the range of the light grew from eleven to twenty
        nautical miles. The old lamp stands in the <a href="/museum">museum</a> beside the tower.</p>
        <p>Today the light works by itself. A volunteer climbs the 212 steps once a month to clean the lens, and the
        tower is open to visitors from May to September.</p>
        """,
    ),
    "/museum": (
        "The museum beside the tower",
        """
        <p>The museum holds the first oil lamp, the log books of Maria Okonjo, and the bell that warned ships in
        fog. It is open whenever the tower is, and children enter free.</p>
        """,
    ),
}


MAX_ENTRY_BYTES = 65_536


class _Handler(BaseHTTPRequestHandler):
    server_version = "demo"

    def do_GET(self) -> None:
        page = PAGES.get(self.path.partition("?")[0])
        title, body = page or ("Not found", "<p>There is no such page.</p>")
        content = (
            f'<!doctype html><html lang="en"><head><meta charset="utf-8"><title>{title}</title></head>'
            f"<body><main><h1>{title}</h1>{body}</main></body></html>"
        ).encode()
        self.send_response(200 if page else 404)
        self.send_header("Content-Type", "text/html; charset=utf-8")
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    def do_POST(self) -> None:
        """Takes an entry for the guest book, up to 64 KiB, and says thank you."""
        length = int(self.headers.get("Content-Length") or 0)
        taken = self.path == "/guestbook" and 0 < length <= MAX_ENTRY_BYTES
        content = f"The guest book has your {len(self.rfile.read(length))} bytes. Thank you!\n" if taken else "no\n"
        self.send_response(200 if taken else 404)
        self.send_header("Content-Type", "text/plain; charset=utf-8")
        self.end_headers()
        self.wfile.write(content.encode())

    def log_message(self, format: str, *args: object) -> None:
        """The task's own steps say what was fetched."""


@contextmanager
def serve_site() -> Iterator[int]:
    """Serve on loopback while the block runs; yields the port."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), _Handler)
    thread = Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield server.server_address[1]
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
