"""A small real process in the place of worker or gateway: a health page, and some ways to misbehave."""

import argparse
import os
import signal
import subprocess
import sys
import threading
import time
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path


class Page(BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        self.send_response(200)
        self.end_headers()

    def log_message(self, format: str, *args: object) -> None:
        return


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--port", type=int, required=True)
    parser.add_argument("--journal", type=Path, required=True)
    parser.add_argument("--name", required=True)
    parser.add_argument("--die-saying", default="")
    parser.add_argument("--deaf", action="store_true", help="never ends by SIGTERM")
    parser.add_argument("--child", action="store_true", help="starts a child in its own group")
    parser.add_argument("--runaway", action="store_true", help="starts a child in another session")
    parser.add_argument("--silent", action="store_true", help="never listens")
    parser.add_argument("--mortal", action="store_true", help="ends soon after it has become healthy")
    options = parser.parse_args()

    def note(word: str) -> None:
        with options.journal.open("a") as journal:
            journal.write(f"{word} {options.name}\n")
        with options.journal.with_suffix(".times").open("a") as times:
            times.write(f"{time.time()} {word} {options.name}\n")

    def stop(number: int, frame: object) -> None:
        if not options.deaf:
            note("stopped")
            sys.exit(0)

    signal.signal(signal.SIGTERM, stop)
    note("started")
    if options.die_saying:
        sys.exit(options.die_saying)
    if options.child or options.runaway:
        subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"], start_new_session=options.runaway)
    if options.silent:
        time.sleep(600)
    server = HTTPServer(("127.0.0.1", options.port), Page)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    if options.mortal:
        time.sleep(0.3)
        os._exit(9)
    while True:
        time.sleep(600)


if __name__ == "__main__":
    main()
